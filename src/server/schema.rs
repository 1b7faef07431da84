//! Shapes of bodies, made from the types that read and write them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Makes the schema of a body; named types go to the definitions of the document.
pub type Shape = fn(&mut SchemaGenerator) -> Schema;

/// The shape of a type.
pub fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// Text that is no JSON.
pub fn text(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string"})
}
