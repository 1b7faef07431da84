//! Reads a file again whenever it changes, for themes and keymaps that are being written.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tokio::sync::mpsc::Sender;

use super::heard::Heard;
use crate::control::ports::Clock;

/// How often the file is looked at. A poll rather than a notification: editors replace files in many ways, and this
/// sees all of them.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Largest file that is read, in bytes.
pub const FILE_MAX: u64 = 1 << 20;

/// Watches `path` until nobody listens; `made` turns its text into what the loop hears. A text with faults is not made
/// into anything, so the last good one stays; the faults are told.
pub async fn watch<C: Clock>(
    path: PathBuf,
    clock: C,
    tell: Sender<Heard>,
    made: impl Fn(&str) -> Result<Heard, String>,
) {
    let mut known = stamp(&path);
    loop {
        clock.sleep(LOOK_EVERY).await;
        let seen = stamp(&path);
        if seen == known {
            continue;
        }
        known = seen;
        match read(&path).and_then(|text| made(&text)) {
            Ok(heard) => {
                if tell.send(heard).await.is_err() {
                    return;
                }
                tracing::info!("{} was read again", path.display());
            }
            Err(faults) => tracing::error!("{}: {faults}; the last good one stays", path.display()),
        }
    }
}

/// Reads a small text file.
///
/// # Errors
/// As a sentence, when it cannot be read or is too large.
pub fn read(path: &Path) -> Result<String, String> {
    match fs::metadata(path) {
        Ok(about) if about.len() > FILE_MAX => Err(format!("it is larger than {FILE_MAX} bytes")),
        Ok(_) => fs::read_to_string(path).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// When it was written and how long it is; none while it cannot be read, as in the middle of being replaced.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let about = fs::metadata(path).ok()?;
    Some((about.modified().ok()?, about.len()))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use tokio::sync::mpsc;

    use super::*;
    use crate::terminal::decode::Token;

    /// Sleeps only as long as it takes the others to run.
    #[derive(Clone)]
    struct Hasty;

    impl Clock for Hasty {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }

        async fn sleep(&self, _: Duration) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_changed_file_is_read_again_and_a_broken_one_is_not_taken() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("theme.yaml");
        fs::write(&path, "one").unwrap();
        let (tell, mut heard) = mpsc::channel(4);
        let made = |text: &str| match text {
            "broken" => Err("1:1: no".to_owned()),
            text => Ok(Heard::Token(Token::Paste(text.to_owned()))),
        };
        let watching = tokio::spawn(watch(path.clone(), Hasty, tell, made));
        tokio::task::yield_now().await;
        fs::write(&path, "broken").unwrap();
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
        assert!(heard.try_recv().is_err());
        fs::write(&path, "number three").unwrap();
        assert!(matches!(heard.recv().await, Some(Heard::Token(Token::Paste(text))) if text == "number three"));
        watching.abort();
    }
}
