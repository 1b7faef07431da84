//! What the log of a process says of what was decided.

use std::io::Write;
use std::sync::{Arc, Mutex};

use tracing::subscriber::with_default;

use super::bed::account;
use super::running::Running;
use crate::domain::kura::verb::KuraVerb;

/// A log that a test reads.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// What is logged by the way.
    fn of(deed: impl FnOnce()) -> String {
        let log = Self::default();
        let writer = log.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).without_time();
        let subscriber = subscriber.with_writer(move || writer.clone()).finish();
        with_default(subscriber, deed);
        String::from_utf8(log.0.lock().unwrap().clone()).unwrap()
    }
}

#[test]
fn a_superseded_deployment_is_one_line_that_names_the_server_and_both_tags() {
    // K19
    let mut running = Running::start(account());
    running.deploy(false);
    let log = Log::of(|| {
        running.give(KuraVerb::ReleaseTag { tag: "0.21.0".to_owned() });
        running.driver.run(130);
    });
    let told: Vec<&str> = log.lines().filter(|line| line.contains("superseded")).collect();
    let [line] = told[..] else { panic!("{log}") };
    for part in ["server=acme-eu", "tag=0.20.0", "displaced_by=0.21.0", "by=a", "INFO"] {
        assert!(line.contains(part), "{part}: {line}");
    }
}
