//! Signals: told to the loop as things heard. Those that end the process arm the last resort as well.

use std::io;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::Sender;

use super::heard::Heard;
use super::last::end_anyway;
use super::screen::Screen;

/// Added to a signal's number in the exit code, as shells do.
pub const SIGNAL_CODE: i32 = 128;

/// Listens to signals until nobody listens to us. Must be called inside a runtime.
///
/// # Errors
/// When a signal cannot be caught.
pub fn listen(screen: &Screen, heard: &Sender<Heard>) -> io::Result<()> {
    forward(SignalKind::window_change(), heard, || Heard::Resized)?;
    forward(suspend_kind(), heard, || Heard::Suspend)?;
    forward(continue_kind(), heard, || Heard::Continued)?;
    for kind in [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit()] {
        let (screen, number) = (screen.clone(), kind.as_raw_value());
        forward(kind, heard, move || {
            end_anyway(screen.clone(), SIGNAL_CODE + number);
            Heard::Ending(number)
        })?;
    }
    Ok(())
}

fn forward(
    kind: SignalKind,
    heard: &Sender<Heard>,
    mut tell: impl FnMut() -> Heard + Send + 'static,
) -> io::Result<()> {
    let (mut signals, heard) = (signal(kind)?, heard.clone());
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            if heard.send(tell()).await.is_err() {
                break;
            }
        }
    });
    Ok(())
}

fn suspend_kind() -> SignalKind {
    SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw())
}

fn continue_kind() -> SignalKind {
    SignalKind::from_raw(rustix::process::Signal::CONT.as_raw())
}
