//! The OpenAPI 3.1 document, made from the table of endpoints and the types of their bodies.

use std::sync::OnceLock;

use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::caller::Need;
use super::endpoints::{Access, Content, ENDPOINTS, Endpoint};
use super::schema;
use crate::wire::call::{KEY_HEADER, KEY_MAX, PLANNED_HEADER, REASON_HEADER, REPLAYED_HEADER, REVISION_HEADER};
use crate::wire::kura::{gateway, request, tag};
use crate::wire::plan::PlanBody;
use crate::wire::problem::ProblemBody;
use crate::wire::secret;
use crate::wire::world::TAIL_MAX;

/// A revision in quotes.
const REVISION_PATTERN: &str = "^\"[0-9]{1,18}\"$";

/// What stops something, or leaves the seat, relies on no revision: it is never too late for it.
const STOPS: [&str; 4] = [
    "/api/config/environments/{uuid}/pause",
    "/api/config/rings/{uuid}/pause",
    "/api/config/rollouts/{uuid}/halt",
    "/api/seat/leave",
];

/// Lists whose pages are told apart by a name.
const PAGED_BY_NAME: [&str; 5] = [secret::PATH, tag::PATH, gateway::PATH, request::ORPHANS_PATH, "/api/nodes/"];

/// `GET /api/openapi.json`.
pub(super) async fn show() -> Response {
    static TEXT: OnceLock<String> = OnceLock::new();
    let text = TEXT.get_or_init(|| document().to_string()).as_str();
    (StatusCode::OK, [(CONTENT_TYPE, "application/json")], text).into_response()
}

/// The document.
pub fn document() -> Value {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for endpoint in ENDPOINTS {
        let operations = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        operations[endpoint.method.to_ascii_lowercase()] = operation(endpoint, &mut generator);
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "kura-console control plane",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Gated rollouts: who may converge now, who holds a slot, and why the line does not move. \
                            Fields may be added to any answer: clients pass over what they do not know.",
        },
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas,
        },
        "paths": paths,
    })
}

fn operation(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let mut operation = json!({
        "operationId": operation_id(endpoint),
        "summary": endpoint.summary,
        "description": who(endpoint.access),
        "parameters": parameters(endpoint),
        "responses": responses(endpoint, generator),
        "security": if endpoint.access == Access::Open { json!([]) } else { json!([{"token": []}]) },
    });
    if let Some((shape, required)) = endpoint.body {
        let schema = Value::from(shape(generator));
        operation["requestBody"] = json!({"required": required, "content": {"application/json": {"schema": schema}}});
    }
    operation
}

/// Method and path in one word.
fn operation_id(endpoint: &Endpoint) -> String {
    let path = endpoint.path.trim_start_matches("/api").trim_matches('/');
    let words = path.replace(['/', '-', '.', '{', '}'], "_");
    let list = if endpoint.path.ends_with('/') { "_list" } else { "" };
    format!("{}_{words}{list}", endpoint.method.to_ascii_lowercase())
}

/// Who is let in, in words.
pub fn who(access: Access) -> &'static str {
    match access {
        Access::Open => "needs no token",
        Access::Known => "any token",
        Access::Reader(Need::Look) => "viewer, operator or owner",
        Access::Reader(Need::Act) => "operator or owner",
        Access::Reader(Need::Own) => "owner",
        Access::Agent => "agent, for the machine its token is bound to or X-Machine names",
    }
}

fn parameters(endpoint: &Endpoint) -> Vec<Value> {
    let parameter = |place: &str, name: &str, what: &str, schema: Value| json!({"in": place, "name": name, "description": what, "required": place == "path", "schema": schema});
    let mut parameters = Vec::new();
    if endpoint.path.contains("{uuid}") {
        parameters.push(parameter("path", "uuid", "which", json!({"type": "string", "format": "uuid"})));
    }
    if endpoint.path.contains("{id}") {
        parameters.push(parameter("path", "id", "which", json!({"type": "string", "format": "uuid"})));
    }
    if endpoint.path.contains("{name}") {
        parameters.push(parameter("path", "name", "which", json!({"type": "string"})));
    }
    if endpoint.path.contains("{gate}") {
        parameters.push(parameter("path", "gate", "which gate of it", json!({"type": "string"})));
    }
    for (name, what) in endpoint.query {
        let schema = match *name {
            "limit" => json!({"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}),
            "whole" => json!({"type": "boolean", "default": false}),
            "wait" => json!({"type": "integer", "minimum": 0, "maximum": 25}),
            "have" => json!({"type": "string", "pattern": "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}:[0-9]{1,18}$"}),
            "tail" => json!({"type": "integer", "minimum": 0, "maximum": TAIL_MAX}),
            "before" => json!({"type": "integer", "minimum": 0}),
            "after" if [crate::wire::stream::PATH, crate::wire::audit::PATH].contains(&endpoint.path) => {
                json!({"type": "integer", "minimum": 0})
            }
            "after" if PAGED_BY_NAME.contains(&endpoint.path) => json!({"type": "string"}),
            "after" | "machine_uuid" => json!({"type": "string", "format": "uuid"}),
            _ => json!({"type": "string"}),
        };
        parameters.push(parameter("query", name, what, schema));
    }
    if endpoint.access == Access::Agent {
        let what = "the machine, where the token is not bound to one";
        parameters.push(parameter("header", "X-Machine", what, json!({"type": "string", "format": "uuid"})));
    }
    if endpoint.is_verb {
        let key = "done once under it within 24 hours";
        let (planned, revision) = if STOPS.contains(&endpoint.path) {
            ("passed over: this relies on no revision", json!({"type": "string"}))
        } else {
            ("revision of the plan it relies on, in quotes", json!({"type": "string", "pattern": REVISION_PATTERN}))
        };
        let text = json!({"type": "string"});
        let bounded = json!({"type": "string", "minLength": 1, "maxLength": KEY_MAX, "pattern": "^[!-~]+$"});
        parameters.push(parameter(
            "query",
            "dry_run",
            "true tells the plan and changes nothing",
            json!({"type": "boolean"}),
        ));
        parameters.push(parameter("header", KEY_HEADER, key, bounded));
        parameters.push(parameter("header", PLANNED_HEADER, planned, revision));
        parameters.push(parameter("header", REASON_HEADER, "why, kept with the change", text));
    }
    parameters
}

fn responses(endpoint: &Endpoint, generator: &mut SchemaGenerator) -> Map<String, Value> {
    let mut responses = Map::new();
    for (status, content) in endpoint.answers {
        responses.insert(status.to_string(), answer(*content, endpoint.is_verb, generator));
    }
    if endpoint.is_verb {
        let plan = Value::from(schema::of::<PlanBody>(generator));
        let done = responses.remove("200").map(|answer| answer["content"]["application/json"]["schema"].clone());
        let shapes: Vec<Value> = done.into_iter().chain([plan]).collect();
        let described = "Done, or the plan where a dry run was asked for";
        let mut headers = headers(true);
        headers["etag"] = header(
            "of a plan: its revision in quotes, for If-Match",
            json!({"type": "string", "pattern": REVISION_PATTERN}),
        );
        let either = json!({"description": described, "headers": headers, "content": {"application/json": {"schema": {"anyOf": shapes}}}});
        responses.insert("200".to_owned(), either);
    }
    let problem = Value::from(schema::of::<ProblemBody>(generator));
    for status in endpoint.problems() {
        let content = json!({"application/problem+json": {"schema": problem}});
        let mut headers = headers(false);
        if matches!(status, 429 | 503) {
            headers["retry-after"] =
                header("seconds after which it may help to come again", json!({"type": "integer", "minimum": 1}));
        }
        responses.insert(
            status.to_string(),
            json!({"description": meaning(status), "headers": headers, "content": content}),
        );
    }
    responses
}

fn answer(content: Content, is_verb: bool, generator: &mut SchemaGenerator) -> Value {
    let headers = headers(is_verb);
    let (kind, schema) = match content {
        Content::Nothing => return json!({"description": "Done, and there is nothing to show", "headers": headers}),
        Content::Json(shape) => ("application/json", Value::from(shape(generator))),
        Content::Text(kind) => (kind, Value::from(schema::text(generator))),
    };
    json!({"description": "Done", "headers": headers, "content": {kind: {"schema": schema}}})
}

/// What comes along where the token is known, and with the answer to a verb.
fn headers(is_verb: bool) -> Value {
    let mut headers = json!({REVISION_HEADER: header("revision of the journal", json!({"type": "integer"}))});
    if is_verb {
        let what = "there where this answer was given before, under the same key";
        headers[REPLAYED_HEADER] = header(what, json!({"type": "string", "const": "true"}));
    }
    headers
}

fn header(what: &str, schema: Value) -> Value {
    json!({"description": what, "schema": schema})
}

fn meaning(status: u16) -> &'static str {
    match status {
        400 => "The state it would leave behind breaks a rule, or a field cannot be changed",
        401 => "No token, or one that is not known",
        403 => "The token may not do this",
        404 => "There is no such thing",
        409 => "Not in this state: protected, yanked, in use, not running, no cluster connected",
        410 => "No longer kept: load the world again; a roll or deployment went with a compaction",
        412 => "What its plan names has changed since",
        413 => "The body is too large",
        422 => "Malformed: `field` names what is to blame",
        429 => "Too many requests: come again after Retry-After",
        503 => "Something behind it does not answer: come again after Retry-After",
        _ => "A fault of the control plane",
    }
}

/// The page docs/api.md.
pub fn page() -> String {
    let mut page = String::from(
        "# HTTP API\n\nGenerated from the table of endpoints; the whole of it, with every body, is at \
         `GET /api/openapi.json`.\n\n| | path | who | what |\n| --- | --- | --- | --- |\n",
    );
    for Endpoint { method, path, access, summary, .. } in ENDPOINTS {
        page += &format!("| {method} | `{path}` | {} | {summary} |\n", who(*access));
    }
    page += "\nEvery verb takes `?dry_run=true`, `Idempotency-Key`, `If-Match: \"REVISION\"` and `X-Reason`. \
             Problems are `application/problem+json` with `code`, `detail`, `field` and `hints`. What is no HTTP, or \
             too long for a head, never comes to a route: it is answered with an empty body, 400 (no request), 414 \
             (path) or 431 (headers), and the connection ends.\n\n\
             `/api/changes?after=REVISION&cluster=EDITION` tells what is seen of the cluster as well, in records named \
             `cluster` that have no id: all of it where EDITION is not the one of now (leave it empty to begin with), \
             then rows that differ, names that are gone, and how far each kind can be relied on. Each record leads to \
             the edition it names; `/api/world` names the one its picture is of.\n\n\
             Rolls and deployments that the control plane has not at hand are read from the journal. Follow the `Link` \
             header (`rel=\"next\"`) to its end: a page may be short, or empty, where much was read for it. What a \
             compaction took answers 410 with the code `archived`; `journal export` keeps it, before.\n";
    page
}
