//! `decide`: the table of contents of everything the control plane ever decides.

use jiff::Timestamp;

use super::super::change::Change;
use super::super::input::{Input, Order, Verb};
use super::super::observed::Observed;
use super::super::verdict::{Reply, Verdict};
use super::super::world::World;
use super::draft::Draft;
use super::{
    environment, kura, machine, pause, poll, release, report, ring, roll, secret, start, stop, text, tick, unattended,
};

/// Decides one input. Pure, total, and the same in every process: time is an argument, new identities come with it.
pub fn decide(world: &World, observed: &Observed, input: &Input, now: Timestamp) -> Verdict {
    let mut draft = Draft::new(world, input, now);
    let reply = match input {
        Input::Tick { fresh } => {
            let reply = tick::tick(&mut draft, observed, *fresh);
            kura::settle(&mut draft, observed);
            kura::ticked(&mut draft, observed);
            roll::ticked(&mut draft, observed);
            reply
        }
        Input::Seen { ran, tried } => {
            kura::settle(&mut draft, observed);
            kura::seen(&mut draft, observed, ran, tried);
            roll::seen(&mut draft, observed, ran, tried);
            Reply::Done
        }
        Input::Poll(asked) => poll::poll(&mut draft, observed, asked),
        Input::Report(told) => report::report(&mut draft, told),
        Input::Rebuilt { machine, version } => report::rebuilt(&mut draft, *machine, version.clone()),
        Input::CommitArrived { id, release } => unattended::commit(&mut draft, *id, *release),
        Input::CommitFound { git_ref, commit } => unattended::found(&mut draft, git_ref, commit),
        Input::TagArrived { release, made_at } => unattended::tag(&mut draft, *release, *made_at),
        Input::Verb(order) => verb(&mut draft, observed, order),
        Input::TakeSeat { holder, agents } => take_seat(&mut draft, holder, *agents),
    };
    draft.verdict(reply)
}

fn verb(draft: &mut Draft<'_>, observed: &Observed, order: &Order) -> Reply {
    match &order.verb {
        Verb::PatchAccount { auto_deploy, track_config_tags } => patch_account(draft, *auto_deploy, *track_config_tags),
        Verb::ConfigureAccount { config_tag_pattern } => configure_account(draft, config_tag_pattern.as_ref()),
        Verb::CreateEnvironment { .. } => environment::create(draft, &order.verb),
        Verb::PatchEnvironment { .. } => environment::patch(draft, &order.verb),
        Verb::CreateRing { id, slug, settings } => ring::create(draft, *id, slug, settings),
        Verb::PatchRing { ring, patch } => ring::patch(draft, *ring, patch),
        Verb::Pause(level) => pause::pause(draft, *level, order),
        Verb::Unpause(level) => pause::unpause(draft, *level),
        Verb::AddMachine { .. } => machine::add(draft, &order.verb),
        Verb::AssignMachine { .. } => machine::assign(draft, &order.verb),
        Verb::RemoveMachine { machine } => machine::remove(draft, *machine),
        Verb::PublishRelease { .. } => release::publish(draft, &order.verb),
        Verb::SetSecret { name, version } => secret::set(draft, name, *version),
        Verb::Yank { release } => stop::yank(draft, *release, order),
        Verb::Start { .. } => start::start(draft, &order.verb),
        Verb::AcceptClock => accept_clock(draft),
        Verb::Halt { rollout } => stop::halt(draft, *rollout, order),
        Verb::Kura(verb) => kura::verb(draft, observed, order, verb),
        Verb::Roll(verb) => roll::verb(draft, observed, order, verb),
    }
}

/// Two switches and nothing else are writable (R119).
fn patch_account(draft: &mut Draft<'_>, auto_deploy: Option<bool>, track_config_tags: Option<bool>) -> Reply {
    let mut account = draft.world().account.clone();
    account.auto_deploy = auto_deploy.unwrap_or(account.auto_deploy);
    account.track_config_tags = track_config_tags.unwrap_or(account.track_config_tags);
    if account != draft.world().account {
        draft.push(Change::AccountChanged { account });
    }
    Reply::Done
}

/// What the two switches stand on; an owner's business.
fn configure_account(draft: &mut Draft<'_>, config_tag_pattern: Option<&Option<String>>) -> Reply {
    if let Some(Some(pattern)) = config_tag_pattern
        && let Err(refusal) = text::check_label("config_tag_pattern", pattern)
    {
        return Reply::Refused(refusal);
    }
    let mut account = draft.world().account.clone();
    account.config_tag_pattern = config_tag_pattern.unwrap_or(&account.config_tag_pattern).clone();
    if account != draft.world().account {
        draft.push(Change::AccountChanged { account });
    }
    Reply::Done
}

/// Each process goes on from its own wall clock once it reads this (R168).
fn accept_clock(draft: &mut Draft<'_>) -> Reply {
    draft.push(Change::ClockAccepted);
    Reply::Done
}

/// Whoever asks gets the seat: when to ask is judged by the process that wants it, by its own clock.
fn take_seat(draft: &mut Draft<'_>, holder: &str, agents: bool) -> Reply {
    let epoch = draft.world().seat.epoch + 1;
    draft.push(Change::SeatTaken { holder: holder.to_owned(), epoch, agents });
    Reply::Seated(epoch)
}
