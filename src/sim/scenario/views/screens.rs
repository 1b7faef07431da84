//! Views of screens: any by name, or what a console shows now.

use super::super::call::SOMEBODY;
use super::super::file::given::ProcessKind;
use super::super::run::Run;
use super::super::screens::{Console, Consoles, Told};
use super::super::seats::SIZE;

impl<C: Consoles> Run<C> {
    /// A screen by name, as a console of this size would show it.
    pub(super) fn screen(&self, name: &str, size: (u16, u16)) -> Vec<String> {
        match self.picture(None) {
            Some(picture) => self.consoles.screen(name, self.ground.now(), picture, size),
            None => Vec::new(),
        }
    }

    /// What the console shows that was touched last; without one, what a new one would show.
    pub(super) fn current_screen(&self) -> Vec<String> {
        let now = self.ground.now();
        let (mut console, process) = match self.seats.last() {
            Some((process, console)) => (console.clone(), Some(process)),
            None => (self.consoles.open(now, SOMEBODY, SIZE), self.console_process()),
        };
        if let Some(picture) = self.picture(process) {
            console.tell(now, Told::Picture(Box::new(picture)));
        }
        console.rows(now)
    }

    /// The first process with a console, if there is one.
    fn console_process(&self) -> Option<&str> {
        let console = self.processes.iter().find(|process| process.kind == ProcessKind::Console);
        console.map(|process| process.name.as_str())
    }
}
