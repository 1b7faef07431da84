//! The shortest beginning of a script that still fails, and of that the entries it takes.

use super::super::journal::Defect;
use super::check::Breach;
use super::play::play;
use super::plot::{Happening, Plot};

/// Worlds that are played at the most to make one failure smaller.
pub const REPLAYS_MAX: usize = 120;

/// A smaller script, and what fails with it.
#[derive(Debug, Clone)]
pub struct Shrunk {
    /// What is left of the script.
    pub script: Vec<Happening>,
    /// The breach it leads to.
    pub breach: Breach,
}

/// Makes a failing plot smaller: half the script as long as that fails, then without single entries.
pub fn shrink(plot: &Plot, breach: &Breach, defect: Option<Defect>) -> Shrunk {
    let found = Shrunk { script: plot.script.clone(), breach: breach.clone() };
    let mut search = Search { plot, defect, left: REPLAYS_MAX, best: found };
    search.shorten();
    search.drop_single();
    search.best
}

struct Search<'a> {
    plot: &'a Plot,
    defect: Option<Defect>,
    left: usize,
    best: Shrunk,
}

impl Search<'_> {
    /// The shortest failing prefix, by bisection.
    fn shorten(&mut self) {
        let (mut passing, mut failing) = (0, self.best.script.len());
        let whole = self.best.script.clone();
        if self.fails(Vec::new()) {
            return;
        }
        while passing + 1 < failing {
            let middle = passing.midpoint(failing);
            if self.fails(whole[..middle].to_vec()) { failing = middle } else { passing = middle }
        }
    }

    /// Without each entry in turn, the last one first.
    fn drop_single(&mut self) {
        for place in (0..self.best.script.len()).rev() {
            let mut fewer = self.best.script.clone();
            fewer.remove(place);
            self.fails(fewer);
        }
    }

    /// Plays a smaller script, and keeps it if it breaks a rule of the same kind.
    fn fails(&mut self, script: Vec<Happening>) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let plot = Plot { script: script.clone(), ..self.plot.clone() };
        match play(&plot, self.defect).breach {
            Some(breach) if kind(&breach) == kind(&self.best.breach) => {
                self.best = Shrunk { script, breach };
                true
            }
            _ => false,
        }
    }
}

/// The rule, without who broke it.
fn kind(breach: &Breach) -> &str {
    breach.what.split(':').next().unwrap_or_default()
}
