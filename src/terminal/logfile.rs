//! Where what the program says about itself goes: a file where one can be written, the log screen always, and never
//! the terminal it draws on.

use std::env;
use std::fmt::{self, Write as _};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use tokio::sync::mpsc::Sender;
use tracing::field::{Field, Visit};
use tracing::{Event as Record, Level as Severity, Subscriber};
use tracing_appender::non_blocking::{NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::FormatTime;
use tracing_subscriber::layer::{Context as Of, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

use super::heard::Heard;
use crate::console::msg::{Level, Msg, Notice};
use crate::control::ports::Clock;
use crate::wire::problem::{Problem, ProblemKind};

/// Days of log that are kept.
pub const DAYS_KEPT: usize = 7;

/// Lines that may wait to be written to the file; more are dropped and counted.
pub const LINES_QUEUED: usize = 4_096;

/// What is logged unless the variable says otherwise.
const USUAL_FILTER: &str = "info,hyper=warn,hyper_util=warn,reqwest=warn,rustls=warn,sqlx=warn";

/// The variable that says what is logged, as `tracing` filters are written.
pub const FILTER_VARIABLE: &str = "KURA_CONSOLE_LOG";

/// The log of this process. Lines reach the file as long as this lives.
#[derive(Debug, Default)]
pub struct Log {
    _writer: Option<WorkerGuard>,
    /// The directory or the file; none = only the log screen has it.
    pub place: Option<PathBuf>,
    /// Why there is no file.
    pub excuse: Option<String>,
}

/// Begins to log: to `file` if one is named, else to a file of the day below the state directory of the person. Lines
/// go to the log screen through `heard` as well.
///
/// # Errors
/// When a file was asked for and cannot be written. Without one a read-only home is no error.
pub fn start<C: Clock>(file: Option<&Path>, clock: &C, heard: Sender<Heard>) -> Result<Log, Problem> {
    let (log, writer) = match file {
        Some(path) => named(path)?,
        None => usual(),
    };
    let filter = EnvFilter::try_from_env(FILTER_VARIABLE).unwrap_or_else(|_| EnvFilter::new(USUAL_FILTER));
    let lines = writer.map(|writer| {
        let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(writer);
        lines.with_timer(Stamp(clock.clone()))
    });
    let shown = Shown { heard, clock: clock.clone() };
    // Somebody else may log already, as in tests; then that log is the one.
    let _ = tracing_subscriber::registry().with(filter).with(lines).with(shown).try_init();
    Ok(log)
}

fn named(path: &Path) -> Result<(Log, Option<NonBlocking>), Problem> {
    let file = OpenOptions::new().create(true).append(true).open(path).map_err(|error| {
        Problem::new(
            ProblemKind::Usage,
            "log_file",
            format!("the log cannot be written to {}: {error}", path.display()),
        )
        .field("--log-file")
        .hint("name a file in a directory that exists and that you may write to, or leave the flag out")
    })?;
    Ok(writing(file, path))
}

fn usual() -> (Log, Option<NonBlocking>) {
    let Some(directory) = state_directory() else { return unwritten("neither XDG_STATE_HOME nor HOME is set") };
    // The appender complains to the terminal about a directory that is not there yet, so it is there.
    let made = fs::create_dir_all(&directory);
    if let Err(error) = made {
        return unwritten(&format!("{}: {error}", directory.display()));
    }
    let appender = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .filename_prefix("console")
        .filename_suffix("log")
        .max_log_files(DAYS_KEPT)
        .build(&directory);
    match appender {
        Ok(appender) => writing(appender, &directory),
        Err(error) => unwritten(&format!("{}: {}", directory.display(), root_of(&error))),
    }
}

fn writing(target: impl Write + Send + 'static, place: &Path) -> (Log, Option<NonBlocking>) {
    let (writer, guard) = NonBlockingBuilder::default().buffered_lines_limit(LINES_QUEUED).finish(target);
    (Log { _writer: Some(guard), place: Some(place.to_owned()), excuse: None }, Some(writer))
}

fn unwritten(why: &str) -> (Log, Option<NonBlocking>) {
    (Log { excuse: Some(format!("the log is kept on the log screen only ({why})")), ..Log::default() }, None)
}

/// `$XDG_STATE_HOME/kura-console`, or its usual place below the home directory.
pub fn state_directory() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set("XDG_STATE_HOME").or_else(|| Some(set("HOME")?.join(".local/state")))?;
    Some(base.join("kura-console"))
}

fn root_of(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// Times in the file are those of the one clock.
struct Stamp<C>(C);

impl<C: Clock> FormatTime for Stamp<C> {
    fn format_time(&self, line: &mut Writer<'_>) -> fmt::Result {
        write!(line, "{:.3}", self.0.now())
    }
}

/// Shows lines on the log screen.
struct Shown<C> {
    heard: Sender<Heard>,
    clock: C,
}

impl<S: Subscriber, C: Clock> Layer<S> for Shown<C> {
    fn on_event(&self, record: &Record<'_>, _: Of<'_, S>) {
        let level = match *record.metadata().level() {
            Severity::ERROR => Level::Error,
            Severity::WARN => Level::Warning,
            Severity::INFO => Level::Note,
            _ => return,
        };
        let mut text = Sentence::default();
        record.record(&mut text);
        let notice = Notice { at: self.clock.now(), level, text: text.0 };
        // A screen that is busy misses a line; the file has it.
        let _ = self.heard.try_send(Heard::Msg(Box::new(Msg::Notice(notice))));
    }
}

/// A record as one line: the message, then its fields.
#[derive(Default)]
struct Sentence(String);

impl Visit for Sentence {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to memory cannot fail.
        let _ = match field.name() {
            "message" => {
                let fields = std::mem::take(&mut self.0);
                write!(self.0, "{value:?}{fields}")
            }
            name => write!(self.0, " {name}={value:?}"),
        };
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::Timestamp;
    use tokio::sync::mpsc;

    use super::*;

    #[derive(Clone)]
    struct Stopped;

    impl Clock for Stopped {
        fn now(&self) -> Timestamp {
            Timestamp::UNIX_EPOCH
        }

        async fn sleep(&self, _: Duration) {}
    }

    #[test]
    fn lines_reach_the_log_screen_as_sentences() {
        let (heard, mut lines) = mpsc::channel(2);
        let subscriber = tracing_subscriber::registry().with(Shown { heard, clock: Stopped });
        tracing::subscriber::with_default(subscriber, || {
            tracing::debug!("not for the screen");
            tracing::warn!(machine = "ash", tries = 3, "no answer");
            tracing::error!("two");
            tracing::error!("three are too many for this queue");
        });
        let mut notices = std::iter::from_fn(|| lines.try_recv().ok()).map(|heard| match heard {
            Heard::Msg(msg) => match *msg {
                Msg::Notice(notice) => (notice.level, notice.text),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        });
        assert_eq!(notices.next(), Some((Level::Warning, "no answer machine=ash tries=3".to_owned())));
        assert_eq!(notices.next(), Some((Level::Error, "two".to_owned())));
        assert_eq!(notices.next(), None);
    }

    #[test]
    fn a_file_that_was_asked_for_and_cannot_be_written_is_a_problem() {
        let problem = named(Path::new("/nonexistent/console.log")).unwrap_err();
        assert_eq!(problem.field.as_deref(), Some("--log-file"));
        assert!(problem.message.contains("/nonexistent/console.log"));
    }
}
