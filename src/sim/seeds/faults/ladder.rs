//! A console between its control plane and the seat: attached while a server answers, alone once none does, and in the
//! seat after a grace time or by a person's hand; it hands the seat back as soon as a server answers again.

use jiff::Timestamp;

use super::super::plot::Grace;
use crate::control::seat::Bid;

/// Where one console stands.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ladder {
    /// Since when no server has answered.
    alone_since: Option<Timestamp>,
    /// It stands for the seat, or has it.
    stands: bool,
}

impl Ladder {
    /// It finds no server.
    pub fn is_alone(&self) -> bool {
        self.alone_since.is_some()
    }

    /// Whether it stands for the seat, or has it.
    pub fn stands(&self) -> bool {
        self.stands
    }

    /// A person takes the seat at it. None where it is attached, for there a server has to be asked.
    pub fn take(&mut self) -> Option<Bid> {
        self.stands |= self.is_alone();
        self.stands.then_some(Bid::Take)
    }

    /// It looks for its control plane. What it does about the seat from now on, where that is something else.
    pub fn look(&mut self, answers: bool, grace: Grace, now: Timestamp) -> Option<Bid> {
        if answers {
            self.alone_since = None;
            return std::mem::take(&mut self.stands).then_some(Bid::Abstain);
        }
        let since = *self.alone_since.get_or_insert(now);
        let waited = grace.is_some_and(|grace| grace.after(since) <= now);
        if self.stands || !waited {
            return None;
        }
        self.stands = true;
        Some(Bid::Stand)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::span::Seconds;

    #[test]
    fn a_console_stands_once_it_is_alone_for_long_enough_and_hands_back_at_once() {
        let at = |second| Timestamp::from_second(second).unwrap();
        let (mut ladder, grace) = (Ladder::default(), Some(Seconds(10)));
        assert_eq!((ladder.look(true, grace, at(0)), ladder.take()), (None, None));
        assert_eq!((ladder.look(false, grace, at(1)), ladder.is_alone()), (None, true));
        assert_eq!(ladder.look(false, grace, at(10)), None);
        assert_eq!((ladder.look(false, grace, at(11)), ladder.look(false, grace, at(12))), (Some(Bid::Stand), None));
        assert_eq!((ladder.look(true, grace, at(13)), ladder.stands()), (Some(Bid::Abstain), false));
        assert_eq!(ladder.look(false, None, at(14)), None);
        assert_eq!(ladder.look(false, None, at(900)), None, "without a grace time a person decides");
        assert_eq!((ladder.take(), ladder.stands()), (Some(Bid::Take), true));
    }
}
