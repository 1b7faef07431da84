//! What every surface says of a server beside what its deployment waits for, in the same words.

use super::server::{MovePhase, Pin, Server};

/// Who writes a field back, so that nothing is applied by itself any more (K28).
pub fn written_back(server: &Server) -> Option<String> {
    let (field, edit) = server.tug_of_war()?;
    Some(format!("{} writes {field} back each time, so nothing is applied by itself any more", edit.manager))
}

/// A write that does not succeed; of several the first (K27, K39).
pub fn unwritten(server: &Server) -> Option<String> {
    server.troubles.iter().next().map(|(object, why)| format!("{object} cannot be written: {why}"))
}

/// Releases flow, and this server does not follow (K20).
pub fn left_behind(server: &Server) -> Option<String> {
    let count = server.consecutive_superseded();
    server.is_left_behind().then(|| {
        format!("{count} deployments in a row were superseded and none succeeded: releases flow, this server does not")
    })
}

/// A move is under way (K13).
pub fn moving(server: &Server) -> Option<String> {
    let phase = server.move_phase.word();
    let said = || format!("it is being moved ({phase}): nothing is deployed to it until the move is over");
    (server.move_phase != MovePhase::None).then(said)
}

/// A person holds it back (K25).
pub fn held(pin: &Pin) -> String {
    format!("{} holds it on {} until something newer than {} is released", pin.by, pin.tag, pin.newest)
}
