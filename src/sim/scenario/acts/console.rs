//! What a person does at the keys of a console.

use super::super::call::by;
use super::super::file::act::Act;
use super::super::file::console::ConsoleAct;
use super::super::file::view::size_of;
use super::super::records::{Answer, Ended};
use super::super::run::{Run, Stuck};
use super::super::screens::{Consoles, Touch};

impl<C: Consoles> Run<C> {
    pub(super) fn act_at_console(&mut self, act: &Act, doing: &ConsoleAct) -> Result<Answer, Stuck> {
        let touches = match doing {
            ConsoleAct::Key { chords } => {
                let chords = chords.iter().flat_map(|chords| chords.split_whitespace());
                chords.map(|chord| Touch::Chord(chord.to_owned())).collect()
            }
            ConsoleAct::Type { text } => vec![Touch::Type(text.clone())],
            ConsoleAct::Paste { text } => vec![Touch::Paste(text.clone())],
            ConsoleAct::Resize { to } => {
                size_of(to).map(|(width, height)| Touch::Resize(width, height)).into_iter().collect()
            }
        };
        let process = self.process_of(act).to_owned();
        let mut ended = if touches.is_empty() { Ended::Refused } else { Ended::Done };
        for touch in &touches {
            if self.touch(&process, by(act), touch)?.is_err() {
                ended = Ended::Refused;
            }
        }
        Ok(Answer::none(ended))
    }
}
