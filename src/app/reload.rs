//! Files that `serve` reads again while it runs: the tokens and the certificate.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::tls::Certificate;
use super::token_file;
use crate::control::ports::Clock;
use crate::server::tokens::Tokens;
use crate::wire::problem::{Problem, ProblemKind};

/// How often the files are looked at; SIGHUP is the shorter way.
pub const LOOK_EVERY: Duration = Duration::from_secs(2);

/// What is read again.
pub struct Reload {
    /// The tokens file.
    pub path: PathBuf,
    /// Where its tokens go.
    pub tokens: watch::Sender<Arc<Tokens>>,
    /// The certificate, where there is one.
    pub certificate: Option<Arc<Certificate>>,
}

impl Reload {
    /// Watches for ever. A file that makes no sense is complained about, and what was read last stays.
    pub async fn run(self, clock: impl Clock) -> Result<(), Problem> {
        let mut hangups = signal(SignalKind::hangup())
            .map_err(|error| Problem::new(ProblemKind::Internal, "signals", format!("no signals: {error}")))?;
        let files = self.certificate.as_ref().map(|certificate| certificate.files());
        let files: Vec<PathBuf> = files.into_iter().flatten().collect();
        let stamps = || (stamp(&self.path), files.iter().map(|file| stamp(file)).collect::<Vec<_>>());
        let mut known = stamps();
        loop {
            let asked = tokio::select! {
                _ = hangups.recv() => true,
                () = clock.sleep(LOOK_EVERY) => false,
            };
            let seen = stamps();
            if asked || seen.0 != known.0 {
                self.read_tokens();
            }
            if asked || seen.1 != known.1 {
                self.read_certificate();
            }
            known = seen;
        }
    }

    fn read_tokens(&self) {
        match token_file::read(&self.path) {
            Ok(tokens) => {
                self.tokens.send_replace(Arc::new(tokens));
                tracing::info!(file = %self.path.display(), "the tokens were read again");
            }
            Err(problem) => tracing::warn!(%problem, "the tokens of before stay"),
        }
    }

    fn read_certificate(&self) {
        match self.certificate.as_ref().map(|certificate| certificate.reload()) {
            None => {}
            Some(Ok(())) => tracing::info!("the certificate was read again"),
            Some(Err(problem)) => tracing::warn!(%problem, "the certificate of before stays"),
        }
    }
}

/// Tells one state of a file from another.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let found = fs::metadata(path).ok()?;
    Some((found.modified().ok()?, found.len()))
}
