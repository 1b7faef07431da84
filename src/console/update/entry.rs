//! The entry: one message, one change of the model.

use super::super::effect::Effect;
use super::super::layer::Layer;
use super::super::model::{Model, NOTICES_KEPT};
use super::super::msg::{Level, Msg, Notice};
use super::super::order::{Status, Tone};
use super::super::saying;
use super::{answers, fields, keys, picture};

/// Takes one message in. Pure: the same model and message give the same model and effects.
pub fn update(model: &mut Model, msg: Msg) -> Vec<Effect> {
    let mut effects = match msg {
        Msg::Key(chord) => keys::press(model, chord),
        Msg::Clock(now) => {
            model.now = model.now.max(now);
            picture::time_passed(model);
            Vec::new()
        }
        Msg::Picture(newer) => {
            picture::taken(model, newer);
            Vec::new()
        }
        Msg::Paste(text) => {
            fields::paste(model, &text);
            Vec::new()
        }
        Msg::Resize { width, height } => {
            model.setup.size = (width, height);
            picture::settle_lists(model);
            if let Some(Layer::Dialog(dialog)) = model.layers.last_mut() {
                dialog.drawn = false;
            }
            Vec::new()
        }
        Msg::Drawn => {
            if let Some(Layer::Dialog(dialog)) = model.layers.last_mut() {
                dialog.drawn = true;
            }
            Vec::new()
        }
        Msg::Answer { key, answer } => answers::answered(model, &key, answer),
        Msg::Results { rollout, machine, results } => {
            answers::results(model, rollout, machine, results);
            Vec::new()
        }
        Msg::Past { before, links } => {
            answers::past(model, before, links);
            Vec::new()
        }
        Msg::Notice(notice) => {
            noticed(model, notice);
            Vec::new()
        }
        Msg::Keymap(keymap) => {
            model.setup.keymap = *keymap;
            model.pending.clear();
            Vec::new()
        }
    };
    saying::refresh(model);
    effects.extend(answers::wanted(model));
    effects.extend(answers::wanted_past(model));
    effects
}

/// Keeps a notice for the log; what matters is shown as well.
pub(super) fn noticed(model: &mut Model, notice: Notice) {
    let tone = match notice.level {
        Level::Note => None,
        Level::Warning => Some(Tone::Note),
        Level::Error => Some(Tone::Bad),
    };
    if let Some(tone) = tone {
        model.status = Some(Status { tone, text: notice.text.clone(), at: model.now });
    }
    let number = model.notices.last().map_or(0, |(number, _)| number + 1);
    model.notices.push_back((number, notice));
    while model.notices.len() > NOTICES_KEPT {
        model.notices.pop_front();
    }
    picture::relist_log(model);
}

/// Says something in the status line and keeps it for the log.
pub(super) fn say(model: &mut Model, tone: Tone, text: impl Into<String>) {
    let text = text.into();
    model.status = Some(Status { tone, text: text.clone(), at: model.now });
    let level = if tone == Tone::Bad { Level::Warning } else { Level::Note };
    let number = model.notices.last().map_or(0, |(number, _)| number + 1);
    model.notices.push_back((number, Notice { at: model.now, level, text }));
    if model.notices.len() > NOTICES_KEPT {
        model.notices.pop_front();
    }
    picture::relist_log(model);
}

/// Says something that is not worth keeping.
pub(super) fn hint(model: &mut Model, text: impl Into<String>) {
    model.status = Some(Status { tone: Tone::Note, text: text.into(), at: model.now });
}
