//! The entry: one message, one change of the model.

use super::super::effect::Effect;
use super::super::model::Model;
use super::super::msg::Msg;

/// Takes one message in. Pure: the same model and message give the same model and effects.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Clock(now) => model.now = model.now.max(now),
        Msg::Picture(picture) => model.picture = Some(picture),
        _ => {}
    }
    Vec::new()
}
