//! The ladder of a console in virtual time: who is never pushed out, who takes the seat by himself, who gets it back.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::bed::{Bed, account, pause};
use super::beneath::{Beneath, Told};
use super::driver::Driver;
use super::store::TestHost;
use crate::control::afar::{Afar, Answering, afar};
use crate::control::known::Known;
use crate::control::ladder::{Ladder, Resolve, ladder};
use crate::control::link::{Answer, Link, SeatOrder, SeatWish};
use crate::control::local::{Introduction, LocalLink};
use crate::control::picture::{Picture, Role};
use crate::control::ports::Clock;
use crate::control::render::rendering::Rendering;
use crate::control::service::{Service, Settings};
use crate::domain::change::{Cause, Change};
use crate::domain::fallback::{Fallback, Rung};
use crate::domain::input::{Input, Order};

type Far = Afar<TestHost, Rendering<TestHost>>;

/// A control plane that runs.
struct Plane {
    service: Service<TestHost>,
    driver: Driver,
}

impl Plane {
    fn start(bed: &Bed, name: &str) -> Self {
        let (service, loops) = Service::new(bed.host(name), account(), Settings::default());
        let mut driver = Driver::new(&bed.clock);
        loops.into_iter().for_each(|l| driver.add(l.future));
        Self { service, driver }
    }

    fn epoch(&self) -> Option<u64> {
        *self.service.held.epochs().borrow()
    }
}

/// A control plane with the seat, and a console on the same journal that is attached to it.
struct Night {
    bed: Bed,
    plane: Option<Plane>,
    answering: Answering<TestHost, Rendering<TestHost>>,
    beneath: Beneath,
    console: Driver,
    link: Option<Ladder<Far, LocalLink<TestHost>>>,
}

fn introduction() -> Introduction {
    Introduction { endpoint: "kura.example".to_owned(), account: "test".to_owned(), role: Role::Operator }
}

impl Night {
    fn falls(resolve: Resolve) -> Self {
        Self::over(Told::default(), resolve)
    }

    /// With a journal that says this of itself.
    fn over(told: Told, resolve: Resolve) -> Self {
        let bed = Bed::running();
        let plane = Plane::start(&bed, "serve");
        let mut console = Driver::new(&bed.clock);
        let settings = Settings { stands: false, ..Settings::default() };
        let (service, loops) = Service::new(bed.host("console"), account(), settings);
        loops.into_iter().for_each(|l| console.add(l.future));
        let (near, painter) = service.link(introduction());
        console.add(painter.future);
        let beneath = Beneath { service, link: near, told: Arc::new(Mutex::new(told)) };
        let answering = Answering::default();
        answering.set(Some(plane.service.clone()));
        let first = plane.service.picture(&introduction());
        let (far, hearing) = afar(&answering, introduction(), first, bed.clock.clone());
        console.add(hearing);
        let (link, climbing) = ladder(far, beneath.clone(), bed.clock.clone(), resolve);
        console.add(climbing);
        let mut night = Self { bed, plane: Some(plane), answering, beneath, console, link: Some(link) };
        night.pass(10);
        assert_eq!(night.rung(), Rung::Attached);
        night
    }

    /// Everybody lives for so many seconds of the same time.
    fn pass(&mut self, seconds: i64) {
        for _ in 0..seconds {
            let before = self.bed.clock.steady();
            if let Some(plane) = &mut self.plane {
                plane.driver.run(1);
                self.bed.clock.set(before);
            }
            self.console.run(1);
        }
    }

    /// The line from the console to the control plane is cut; that one lives.
    fn is_cut_off(&mut self) {
        self.answering.set(None);
    }

    /// The control plane is killed.
    fn is_killed(&mut self) {
        self.answering.set(None);
        self.plane = None;
    }

    /// One is started on the same journal, and answers.
    fn is_started(&mut self) {
        let plane = Plane::start(&self.bed, "serve again");
        self.answering.set(Some(plane.service.clone()));
        self.plane = Some(plane);
    }

    /// The one that runs answers again.
    fn answers(&mut self) {
        let service = self.plane.as_ref().map(|plane| plane.service.clone());
        self.answering.set(service);
    }

    fn link(&self) -> &Ladder<Far, LocalLink<TestHost>> {
        self.link.as_ref().unwrap()
    }

    fn picture(&self) -> Picture {
        self.link().pictures().borrow().clone()
    }

    fn fallback(&self) -> Arc<Fallback> {
        self.picture().fallback.unwrap()
    }

    fn rung(&self) -> Rung {
        self.fallback().rung.clone()
    }

    /// A person wants the seat, or wants it no more; where the answer will be.
    fn asks(&mut self, wish: SeatWish) -> Arc<Mutex<Option<Answer>>> {
        let order = SeatOrder { wish, by: "op-a".to_owned(), reason: None, key: "k".to_owned() };
        let asked = self.link().clone();
        let answer = Arc::new(Mutex::new(None));
        let told = Arc::clone(&answer);
        self.console.add(async move {
            let said = asked.seat(order).await;
            *told.lock().unwrap() = Some(said);
        });
        answer
    }

    /// The same; what came of it.
    fn wishes(&mut self, wish: SeatWish) -> Answer {
        let answer = self.asks(wish);
        for _ in 0..30 {
            self.pass(1);
            if let Some(said) = answer.lock().unwrap().take() {
                return said;
            }
        }
        panic!("nobody answers");
    }

    /// The epoch that the console has the seat in.
    fn epoch(&self) -> Option<u64> {
        *self.beneath.service.held.epochs().borrow()
    }

    /// Who took the seat, one after the other.
    fn seats(&self) -> Vec<String> {
        let entries = self.bed.store.lock().entries.clone();
        let taken = entries.into_iter().filter_map(|entry| match entry.change {
            Change::SeatTaken { holder, .. } => Some(holder),
            _ => None,
        });
        taken.collect()
    }

    /// The console has the seat of a control plane that was killed.
    fn seated(resolve: Resolve) -> Self {
        let mut night = Self::falls(resolve);
        night.is_killed();
        night.pass(30);
        let said = night.wishes(SeatWish::Take);
        assert!(
            matches!(&said, Answer::Done { sentence } if sentence.contains("the seat is here, epoch 2")),
            "{said:?}"
        );
        assert_eq!((night.rung(), night.epoch()), (Rung::Seated(2), Some(2)));
        night
    }
}

fn says(answer: &Answer) -> &str {
    match answer {
        Answer::Done { sentence } | Answer::Refused { sentence, .. } => sentence,
        _ => "",
    }
}

const AUTO: Resolve = Resolve::Auto(Duration::from_secs(60));

#[test]
fn the_journal_is_read_once_the_control_plane_is_silent_for_five_seconds_and_closed_once_it_is_back() {
    let mut night = Night::falls(Resolve::Manual);
    let known = Known::of(&night.picture());
    assert!(known.as_ref().is_some_and(|known| known.last.is_some()), "with the entry nobody else has: {known:?}");
    night.is_cut_off();
    night.pass(4);
    assert_eq!(night.rung(), Rung::Lost);
    night.pass(3);
    assert!(
        matches!(night.rung(), Rung::StandingBy(seen) if seen.holder.as_deref() == Some("serve")),
        "{:?}",
        night.rung()
    );
    assert_eq!(night.beneath.told.lock().unwrap().opened, [known], "what was seen tells a copy from the journal");
    night.answers();
    night.pass(4);
    assert!(matches!(night.rung(), Rung::StandingBy(_)), "one that comes and goes: {:?}", night.rung());
    night.pass(4);
    assert_eq!((night.rung(), night.beneath.told.lock().unwrap().closed), (Rung::Attached, 1));
    assert_eq!(night.seats(), ["serve"], "nobody touched the seat");
}

#[test]
fn a_ladder_that_is_turned_off_or_has_no_journal_is_never_climbed() {
    for (resolve, is_unnamed) in [(Resolve::Off, false), (AUTO, true), (Resolve::Manual, true)] {
        let mut night = Night::falls(resolve);
        night.beneath.told.lock().unwrap().is_unnamed = is_unnamed;
        night.is_killed();
        night.pass(300);
        assert_eq!((night.rung(), night.epoch()), (Rung::Lost, None), "{resolve:?}");
        assert!(night.fallback().trouble.is_some());
        assert_eq!(night.beneath.told.lock().unwrap().opened, []);
        let said = night.wishes(SeatWish::Take);
        assert!(says(&said).contains("not read from here"), "{said:?}");
    }
}

#[test]
fn a_console_that_nobody_told_to_takes_no_seat_however_long_it_is_free() {
    let mut night = Night::falls(Resolve::Manual);
    night.is_killed();
    night.pass(3_600);
    assert!(matches!(night.rung(), Rung::StandingBy(seen) if seen.is_free), "{:?}", night.rung());
    assert_eq!((night.epoch(), night.fallback().auto_at, night.seats()), (None, None, vec!["serve".to_owned()]));
}

#[test]
fn whoever_lives_in_the_seat_is_not_pushed_out_by_a_person_behind_a_cut_line() {
    // R28
    let mut night = Night::falls(Resolve::Manual);
    night.is_cut_off();
    night.pass(30);
    let said = night.wishes(SeatWish::Take);
    assert!(says(&said).contains("waits for the seat: serve has the seat, epoch 1"), "{said:?}");
    night.pass(600);
    assert!(matches!(night.rung(), Rung::Waiting(seen) if !seen.is_free), "{:?}", night.rung());
    assert_eq!(night.plane.as_ref().unwrap().epoch(), Some(1), "it has the seat, and ticks");
    night.plane = None;
    night.pass(9);
    assert_eq!(night.epoch(), None, "dead for less than the expiry");
    night.pass(12);
    assert_eq!((night.rung(), night.seats()), (Rung::Seated(2), vec!["serve".to_owned(), "console".to_owned()]));
}

#[test]
fn whoever_leaves_before_the_seat_came_is_told_that_it_is_not_waited_for_any_more() {
    let mut night = Night::falls(Resolve::Manual);
    night.is_cut_off();
    night.pass(30);
    let taking = night.asks(SeatWish::Take);
    night.pass(2);
    assert_eq!(*taking.lock().unwrap(), None, "it is waited for");
    let said = night.wishes(SeatWish::Leave);
    assert!(says(&said).contains("the seat is left"), "{said:?}");
    let told = taking.lock().unwrap().take().expect("an answer");
    assert!(says(&told).contains("does not wait for it any more"), "{told:?}");
    assert!(matches!(night.rung(), Rung::StandingBy(_)), "{:?}", night.rung());
}

#[test]
fn a_console_that_takes_the_seat_by_itself_waits_out_its_grace() {
    let mut night = Night::falls(AUTO);
    night.is_killed();
    night.pass(58);
    assert!(matches!(night.rung(), Rung::StandingBy(seen) if seen.is_free), "free for long: {:?}", night.rung());
    assert!(night.fallback().auto_at.is_some());
    night.pass(5);
    assert_eq!((night.rung(), night.epoch()), (Rung::Seated(2), Some(2)));
}

#[test]
fn a_console_that_takes_the_seat_by_itself_takes_none_of_somebody_whose_beats_are_read() {
    // R28
    let mut night = Night::falls(AUTO);
    night.is_cut_off();
    night.pass(900);
    assert!(matches!(night.rung(), Rung::Waiting(_)), "{:?}", night.rung());
    assert_eq!((night.epoch(), night.plane.as_ref().unwrap().epoch()), (None, Some(1)));
    night.plane = None;
    night.pass(20);
    assert_eq!(night.rung(), Rung::Seated(2), "the beats stopped, and the grace is over");
}

#[test]
fn a_control_plane_that_comes_and_goes_begins_the_grace_anew() {
    let mut night = Night::falls(AUTO);
    night.is_cut_off();
    night.pass(40);
    night.answers();
    night.pass(2);
    night.is_killed();
    night.pass(55);
    assert!(matches!(night.rung(), Rung::StandingBy(seen) if seen.is_free), "{:?}", night.rung());
    night.pass(10);
    assert_eq!(night.rung(), Rung::Seated(2));
}

#[test]
fn a_seat_that_a_person_left_is_not_taken_again_by_itself_until_the_control_plane_was_back() {
    let mut night = Night::seated(AUTO);
    let said = night.wishes(SeatWish::Leave);
    assert!(says(&said).contains("the seat is left"), "{said:?}");
    night.pass(600);
    assert!(matches!(night.rung(), Rung::StandingBy(seen) if seen.is_free), "{:?}", night.rung());
    assert_eq!((night.epoch(), night.fallback().auto_at), (None, None));
    night.is_started();
    night.pass(30);
    assert_eq!(night.rung(), Rung::Attached);
    night.is_killed();
    night.pass(90);
    assert_eq!(night.rung(), Rung::Seated(4), "another night");
}

#[test]
fn the_seat_is_handed_to_a_control_plane_that_is_back_for_good() {
    // R28
    let mut night = Night::seated(Resolve::Manual);
    night.is_started();
    night.pass(3);
    assert_eq!(night.rung(), Rung::Seated(2), "not before it answered for a while");
    night.is_killed();
    night.pass(60);
    assert_eq!(night.rung(), Rung::Seated(2), "it was gone again");
    night.is_started();
    night.pass(20);
    assert_eq!((night.rung(), night.epoch()), (Rung::Attached, None));
    assert_eq!(night.plane.as_ref().unwrap().epoch(), Some(3), "at once, without the expiry of a seat");
    assert_eq!(night.seats(), ["serve", "console", "serve again"]);
    assert_eq!(night.beneath.told.lock().unwrap().closed, 1);
}

#[test]
fn a_control_plane_of_another_journal_gets_no_seat_and_it_is_said() {
    // R28
    let mut night = Night::seated(Resolve::Manual);
    let other = Bed::running();
    other.clock.set(night.bed.clock.steady());
    let mut stranger = Plane::start(&other, "serve");
    for epoch in 1..=3 {
        stranger.driver.run(120);
        assert_eq!(stranger.epoch(), Some(epoch));
        night.answering.set(Some(stranger.service.clone()));
        night.pass(120);
        assert_eq!((night.rung(), night.epoch()), (Rung::Seated(2), Some(2)), "however often a seat was taken there");
        let trouble = night.fallback().trouble.clone().unwrap_or_default();
        assert!(trouble.contains("does not read this journal"), "{trouble}");
        if epoch < 3 {
            drop(stranger);
            stranger = Plane::start(&other, "serve");
        }
    }
    let said = night.wishes(SeatWish::Take);
    assert!(says(&said).contains("the control plane answers"), "{said:?}");
    let said = night.wishes(SeatWish::Leave);
    assert!(matches!(said, Answer::Done { .. }), "a person may leave it: {said:?}");
    night.pass(40);
    assert_eq!(night.rung(), Rung::Attached);
}

#[test]
fn a_console_that_ends_gives_the_seat_back_before_it_is_gone() {
    // A24
    let mut night = Night::seated(Resolve::Manual);
    let beat = night.bed.store.lock().beat.clone().unwrap();
    assert_eq!((beat.holder.as_str(), beat.epoch), ("console", 2));
    night.link = None;
    night.console.run(1);
    let beat = night.bed.store.lock().beat.clone().unwrap();
    assert_eq!((beat.holder.as_str(), beat.epoch), ("", 2), "nobody has to wait for it to expire");
    assert_eq!((night.epoch(), night.beneath.told.lock().unwrap().closed), (None, 1));
    let mut next = Plane::start(&night.bed, "serve again");
    next.driver.run(3);
    assert_eq!(next.epoch(), Some(3));
}

#[test]
fn verbs_go_through_the_door_of_the_journal_by_whom_it_names_while_it_is_read() {
    let mut night = Night::falls(Resolve::Manual);
    let order = |input: Input, key: &str| match input {
        Input::Verb(order) => Order { key: Some(key.to_owned()), ..order },
        other => panic!("no verb: {other:?}"),
    };
    let give = |night: &mut Night, order: Order| {
        let link = night.link().clone();
        night.console.until(async move { link.order(order, None).await })
    };
    night.is_killed();
    night.pass(2);
    let said = give(&mut night, order(pause("ash"), "k1"));
    assert!(matches!(said, Answer::Unsent { .. }), "{said:?}");
    night.pass(10);
    let said = give(&mut night, order(pause("ash"), "k2"));
    assert!(matches!(said, Answer::Done { .. }), "no seat is needed for that: {said:?}");
    night.pass(1);
    let entries = night.bed.store.lock().entries.clone();
    let by: Vec<String> = entries
        .into_iter()
        .filter(|e| matches!(&e.cause, Cause::Verb { key: Some(key), .. } if key == "k2"))
        .map(|e| e.by)
        .collect();
    assert!(!by.is_empty() && by.iter().all(|by| by == "ann"), "{by:?}");
    assert!(
        night.picture().world.machines.values().any(|machine| machine.hostname == "ash" && machine.paused.is_some())
    );
}

#[test]
fn a_journal_that_cannot_be_read_is_tried_again_and_waits_for_no_seat() {
    let mut night = Night::falls(AUTO);
    night.beneath.told.lock().unwrap().trouble = Some("it is an old copy".to_owned());
    night.is_killed();
    night.pass(100);
    let fallback = night.fallback();
    assert_eq!((&fallback.rung, fallback.trouble.as_deref()), (&Rung::Lost, Some("it is an old copy")));
    assert_eq!(fallback.auto_at, None, "nobody is told of a moment that does not come");
    let opened = night.beneath.told.lock().unwrap().opened.len();
    assert!((9..=11).contains(&opened), "every ten seconds: {opened} times");
    night.beneath.told.lock().unwrap().trouble = None;
    night.pass(15);
    assert_eq!(night.rung(), Rung::Seated(2));
}

#[test]
fn nobody_calls_a_fallback_ready_that_was_not_looked_at() {
    let fallback = Night::falls(Resolve::Manual).fallback();
    assert!(fallback.is_looked_at && fallback.trouble.is_none(), "{fallback:?}");
    let mut night = Night::over(Told { is_slow: true, ..Told::default() }, Resolve::Manual);
    let fallback = night.fallback();
    assert!(!fallback.is_looked_at && fallback.trouble.is_none(), "nobody knows yet: {fallback:?}");
    night.pass(30);
    assert!(!night.fallback().is_looked_at);
}
