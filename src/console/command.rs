//! The one table of commands: help, palette, hints, keymaps and docs/keys.md are all made from it.

/// Everything a key or the palette can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Command {
    /// Move the selection.
    Up,
    /// Move the selection.
    Down,
    /// Move the selection by a page.
    PageUp,
    /// Move the selection by a page.
    PageDown,
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// Fold the row, or go to its parent.
    Left,
    /// Unfold the row, or go to its first child.
    Right,
    /// Fold or unfold the row.
    Fold,
    /// Drill into the row.
    Open,
    /// Out of whatever is on top.
    Back,
    /// To the next pane or field.
    NextPane,
    /// The screen of things that need a human.
    ScreenNow,
    /// The screen of the rollout.
    ScreenRollout,
    /// The screen of Kura servers.
    ScreenKura,
    /// The screen of fleet rolls.
    ScreenRolls,
    /// The screen of nodes.
    ScreenNodes,
    /// The screen of what can be started.
    ScreenReleases,
    /// The screen of what was started and done.
    ScreenHistory,
    /// The screen of changes and own notices.
    ScreenLog,
    /// Keys of this screen.
    Help,
    /// Every command by name.
    Palette,
    /// Narrow the list.
    Filter,
    /// Explain the row.
    Why,
    /// Copy the identity of the row.
    Copy,
    /// Copy a command that helps with the row.
    CopyCommand,
    /// How this console would carry on without the control plane.
    Fallback,
    /// Take the reconciler's seat for this console.
    TakeSeat,
    /// Leave it.
    LeaveSeat,
    /// Draw everything again.
    Redraw,
    /// Stop the process until it is continued.
    Suspend,
    /// Leave.
    Quit,
    /// Let verbs through for a while.
    Arm,
    /// Back to read-only.
    Disarm,
    /// Stop the rollout.
    HaltRollout,
    /// Hold the environment of the row.
    PauseEnvironment,
    /// Hold the ring of the row.
    PauseRing,
    /// Skip the machine.
    PauseMachine,
    /// End the hold of the environment.
    UnpauseEnvironment,
    /// End the hold of the ring.
    UnpauseRing,
    /// Let the machine join again.
    UnpauseMachine,
    /// Begin the running release again.
    Reset,
    /// Start the release of the row, protected.
    Start,
    /// Start the release of the row in the place of a protected rollout.
    StartForce,
    /// Say that a clock that jumped is right.
    AcceptClock,
    /// Skip everybody who waits in the ring of the row.
    HoldLine,
    /// Withdraw the release of the row.
    Yank,
    /// Set the cap of the ring of the row.
    SetCap,
    /// Set its settle window.
    SetSettle,
    /// Set its stall timeout.
    SetStall,
    /// Set how many failures halt it.
    SetThreshold,
    /// Set its wave ladder.
    SetLadder,
    /// Set the place of the environment in the path.
    SetOrder,
    /// Let a new machine join.
    AddMachine,
    /// Give the machine another place.
    AssignMachine,
    /// Take the machine out of scope.
    UnassignMachine,
    /// Take the machine away for good.
    RemoveMachine,
    /// Turn unattended starts on new commits on or off.
    FlipAutoDeploy,
    /// Turn unattended starts on new tags on or off.
    FlipTrackTags,
    /// Say which tags are followed.
    SetTagPattern,
    /// Bring the server of the row to a tag.
    Deploy,
    /// Apply what is rendered for the server of the row, whatever agrees.
    ForceReapply,
    /// Release a runtime tag.
    ReleaseTag,
    /// Delete the gateway of the row.
    DeleteGateway,
    /// Take a finalizer off what is stuck in its deletion.
    StripFinalizer,
    /// Take the server of the row down.
    DestroyServer,
    /// Delete the instance of the row, which no server claims.
    DeleteOrphan,
    /// Open the gate of the roll of the row.
    Approve,
    /// Keep it shut: the roll ends.
    Deny,
    /// Stop the roll of the row.
    Abort,
    /// Roll another image through the fleet of the row.
    StartRoll,
    /// Probe the node of the row.
    Probe,
    /// Give the node of the row back.
    Uncordon,
    /// Sort the list by its next column.
    Sort,
    /// Turn the order of the list round.
    SortTurned,
    /// Press the button that is selected.
    Confirm,
    /// Confirm a verb that stops.
    ConfirmStop,
}

/// What a command may do to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Moves what is shown.
    View,
    /// Opens or answers a dialog that stops something.
    Stop,
    /// Opens or answers a dialog of a verb that has to be armed.
    Act,
}

/// Where a command stands in help and docs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Getting around.
    Move,
    /// Screens.
    Screens,
    /// Looking closer.
    Look,
    /// The program itself.
    Program,
    /// Verbs.
    Verbs,
    /// Answers to a dialog.
    Dialog,
}

impl Group {
    /// Every group, in the order help shows them.
    pub const ALL: [Self; 6] = [Self::Move, Self::Screens, Self::Look, Self::Verbs, Self::Dialog, Self::Program];

    /// Its heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Move => "Move",
            Self::Screens => "Screens",
            Self::Look => "Look",
            Self::Program => "Program",
            Self::Verbs => "Verbs",
            Self::Dialog => "In a dialog",
        }
    }
}

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Which.
    pub command: Command,
    /// What keymaps and the palette call it.
    pub name: &'static str,
    /// Two or three words for the hint line.
    pub hint: &'static str,
    /// One sentence for help and docs.
    pub about: &'static str,
    /// Where it stands.
    pub group: Group,
    /// What it may do.
    pub reach: Reach,
}

const fn view(command: Command, name: &'static str, hint: &'static str, about: &'static str, group: Group) -> Spec {
    Spec { command, name, hint, about, group, reach: Reach::View }
}

const fn stop(command: Command, name: &'static str, hint: &'static str, about: &'static str) -> Spec {
    Spec { command, name, hint, about, group: Group::Verbs, reach: Reach::Stop }
}

const fn act(command: Command, name: &'static str, hint: &'static str, about: &'static str) -> Spec {
    Spec { command, name, hint, about, group: Group::Verbs, reach: Reach::Act }
}

/// The table.
pub const COMMANDS: [Spec; 77] = {
    use Command as C;
    use Group as G;
    [
        view(C::Up, "up", "up", "Selects the row above.", G::Move),
        view(C::Down, "down", "down", "Selects the row below.", G::Move),
        view(C::PageUp, "page-up", "page up", "Moves one page up.", G::Move),
        view(C::PageDown, "page-down", "page down", "Moves one page down.", G::Move),
        view(C::First, "first", "first", "Selects the first row.", G::Move),
        view(C::Last, "last", "last", "Selects the last row; the log follows from there.", G::Move),
        view(C::Left, "left", "fold", "Folds the row, or goes to the row it belongs to.", G::Move),
        view(C::Right, "right", "unfold", "Unfolds the row, or goes to its first one.", G::Move),
        view(C::Fold, "fold", "fold", "Folds or unfolds the row.", G::Move),
        view(C::Open, "open", "open", "Opens the row.", G::Move),
        view(C::Back, "back", "back", "Closes what is on top, clears the filter, goes back.", G::Move),
        view(C::NextPane, "next-pane", "next", "Goes to the next pane, or to the next field of a dialog.", G::Move),
        view(C::ScreenNow, "now", "now", "Everything that needs a human, and what runs.", G::Screens),
        view(C::ScreenRollout, "rollout", "rollout", "Environments, rings and machines of the rollout.", G::Screens),
        view(
            C::ScreenKura,
            "kura",
            "kura",
            "Kura servers: what is deployed to them, and what they wait for.",
            G::Screens,
        ),
        view(C::ScreenRolls, "rolls", "rolls", "Fleet rolls: gates, stages, times and verdicts.", G::Screens),
        view(
            C::ScreenNodes,
            "nodes",
            "nodes",
            "Nodes: whose cordon it is, what is known of the runtime, what they host.",
            G::Screens,
        ),
        view(
            C::ScreenReleases,
            "releases",
            "releases",
            "Releases: what can be started, what was yanked, who is on it.",
            G::Screens,
        ),
        view(C::ScreenHistory, "history", "history", "Rollouts, what displaced what, and what people did.", G::Screens),
        view(C::ScreenLog, "log", "log", "What changed, in plain words, and the console's own notices.", G::Screens),
        view(C::Help, "help", "help", "The keys of this screen.", G::Look),
        view(C::Palette, "palette", "all", "Any command or screen by its name.", G::Look),
        view(C::Filter, "filter", "filter", "Narrows the list: state=failed held>30m !paused text.", G::Look),
        view(C::Sort, "sort", "sort", "Sorts the list by its next column.", G::Look),
        view(C::SortTurned, "sort-turned", "turn order", "Turns the order of the list round.", G::Look),
        view(C::Why, "why", "why", "What the row waits for, on whom, since when, and what to do next.", G::Look),
        view(C::Copy, "copy", "copy id", "Copies the identity of the row to the clipboard of your terminal.", G::Look),
        view(
            C::CopyCommand,
            "copy-command",
            "copy command",
            "Copies a command that helps with the row: for what only a person may do. Again: the next one.",
            G::Look,
        ),
        view(
            C::Fallback,
            "fallback",
            "fallback",
            "How this console carries on without the control plane; again: takes the seat, or leaves it.",
            G::Look,
        ),
        act(C::Arm, "arm", "arm", "Asks for a reason and lets verbs through for ten minutes."),
        view(C::Disarm, "disarm", "disarm", "Back to read-only at once.", G::Verbs),
        stop(C::HaltRollout, "halt-rollout", "halt rollout", "Stops the rollout; runs in flight are cancelled."),
        stop(C::PauseEnvironment, "pause-environment", "hold environment", "Holds the environment of the row."),
        stop(C::PauseRing, "pause-ring", "hold ring", "Holds the ring of the row; leases and queue stay."),
        act(
            C::PauseMachine,
            "pause-machine",
            "skip machine",
            "Pauses the machine: its slot, if it holds one, goes on.",
        ),
        act(C::UnpauseEnvironment, "unpause-environment", "end hold of env", "Ends the hold of the environment."),
        act(C::UnpauseRing, "unpause-ring", "end hold of ring", "Ends the hold of the ring."),
        act(
            C::UnpauseMachine,
            "unpause-machine",
            "let machine join",
            "Lets the machine join again, at its place in the queue.",
        ),
        act(C::Reset, "reset", "reset rollout", "Begins the running release again; done machines are passed over."),
        act(C::Start, "start", "start protected", "Starts the release of the row as a protected rollout."),
        act(
            C::StartForce,
            "start-force",
            "start by force",
            "Starts the release of the row, protected, in the place of a protected rollout.",
        ),
        act(C::HoldLine, "hold-line", "hold the line", "Skips everybody who waits in the ring; the holder finishes."),
        act(C::Yank, "yank", "yank release", "Withdraws the release of the row for good; if it runs, it is halted."),
        act(C::SetCap, "set-cap", "cap of ring", "Sets how many machines of the ring hold a slot at once."),
        act(C::SetSettle, "set-settle", "settle of ring", "Sets how long a slot of the ring stays taken afterwards."),
        act(C::SetStall, "set-stall", "stall of ring", "Sets how long a slot of the ring may be held."),
        act(C::SetThreshold, "set-threshold", "threshold", "Sets how many failures halt the ring."),
        act(C::SetLadder, "set-ladder", "ladder of ring", "Sets how much of the ring is elected after how long."),
        act(C::SetOrder, "set-order", "place in path", "Sets the place of the environment in the promotion path."),
        act(C::AddMachine, "add-machine", "add machine", "Lets a new machine join, with its environment and ring."),
        act(C::AssignMachine, "assign-machine", "move machine", "Gives the machine another place, or one again."),
        act(C::UnassignMachine, "unassign-machine", "out of scope", "Takes the machine out of environment and ring."),
        act(C::RemoveMachine, "remove-machine", "remove machine", "Takes the machine away for good."),
        act(C::FlipAutoDeploy, "flip-auto-deploy", "auto deploy", "Turns unattended starts on new commits on or off."),
        act(C::FlipTrackTags, "flip-track-tags", "tag tracking", "Turns unattended starts on new tags on or off."),
        act(C::SetTagPattern, "set-tag-pattern", "tag pattern", "Sets which tags the account follows; an owner's."),
        act(C::Deploy, "deploy", "deploy tag", "Brings the Kura server of the row to a tag; an older one pins it."),
        act(
            C::ForceReapply,
            "force-reapply",
            "force re-apply",
            "Applies what is rendered for the server of the row once, even if everything agrees.",
        ),
        act(
            C::ReleaseTag,
            "release-tag",
            "release tag",
            "Releases a runtime tag: every server is brought to the newest.",
        ),
        act(C::DeleteGateway, "delete-gateway", "delete gateway", "Deletes the gateway of the row, which nobody uses."),
        act(
            C::StripFinalizer,
            "strip-finalizer",
            "strip finalizer",
            "Takes a finalizer off a gateway or an instance that is stuck in its deletion.",
        ),
        act(
            C::DestroyServer,
            "destroy-server",
            "destroy server",
            "Takes the server of the row down, with its data set.",
        ),
        act(
            C::DeleteOrphan,
            "delete-orphan",
            "delete orphan",
            "Deletes the instance of the row, which no server claims.",
        ),
        act(C::Approve, "approve", "approve gate", "Opens the gate of the roll of the row, as it is shown."),
        act(C::Deny, "deny", "deny gate", "Keeps the gate shut: the roll ends, staged images stay."),
        stop(C::Abort, "abort", "abort roll", "Stops the roll of the row: no node is touched any more."),
        act(
            C::StartRoll,
            "start-roll",
            "roll an image",
            "Rolls another image through the fleet of the row, in the same way.",
        ),
        act(C::Probe, "probe", "probe node", "Makes a throwaway pod on the node and judges its runtime by it."),
        act(C::Uncordon, "uncordon", "give node back", "Gives a node back that a roll which has ended left cordoned."),
        act(
            C::AcceptClock,
            "accept-clock",
            "accept clock",
            "Accepts the time after the clock jumped; until then nothing moves.",
        ),
        act(
            C::TakeSeat,
            "take-seat",
            "take the seat",
            "Makes this console the reconciler while the control plane is gone.",
        ),
        stop(
            C::LeaveSeat,
            "leave-seat",
            "leave the seat",
            "Gives the reconciler's seat up: nobody ticks here any more.",
        ),
        view(C::Confirm, "confirm", "press", "Presses the button that is selected, accepts the text.", G::Dialog),
        view(C::ConfirmStop, "confirm-stop", "yes, stop it", "Confirms a dialog that stops something.", G::Dialog),
        view(C::Redraw, "redraw", "redraw", "Draws the screen anew.", G::Program),
        view(
            C::Suspend,
            "suspend",
            "suspend",
            "Gives the terminal back until the shell continues the program.",
            G::Program,
        ),
        view(C::Quit, "quit", "quit", "Leaves. Asks only while an order is on its way.", G::Program),
    ]
};

impl Command {
    /// Its row in the table.
    pub fn spec(self) -> &'static Spec {
        COMMANDS.iter().find(|spec| spec.command == self).unwrap_or(&COMMANDS[0])
    }

    /// The command of that name.
    pub fn named(name: &str) -> Option<Self> {
        COMMANDS.iter().find(|spec| spec.name == name).map(|spec| spec.command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_one_row_and_one_name() {
        let mut names: Vec<_> = COMMANDS.iter().map(|s| s.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), COMMANDS.len());
        for spec in &COMMANDS {
            assert_eq!(spec.command.spec(), spec, "a second row for {:?}", spec.command);
            assert_eq!(Command::named(spec.name), Some(spec.command));
            assert!(spec.about.ends_with('.'), "{}", spec.about);
        }
    }
}
