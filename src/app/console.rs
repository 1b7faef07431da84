//! The console on a terminal: everything that has a screen ends up here, whatever stands behind its link.

use std::future::Future;
use std::io::{self, Write};
use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{self, Sender};
use tokio::sync::watch;
use uuid::Uuid;

use super::look::{Look, ScreenArgs, sentence};
use crate::adapters::clock::SystemClock;
use crate::console::keys::Keymap;
use crate::console::model::{Model, Setup};
use crate::console::msg::Msg;
use crate::console::snapshot::DEMO;
use crate::console::theme::Theme;
use crate::console::update::update;
use crate::console::view::view;
use crate::control::link::Link;
use crate::control::picture::{Freshness, Picture};
use crate::control::ports::Clock;
use crate::terminal::heard::{HEARD_QUEUED, Heard};
use crate::terminal::last::FAREWELL_WAIT;
use crate::terminal::run::{End, Run};
use crate::terminal::screen::Screen;
use crate::terminal::stage::{Moment, Stage};
use crate::terminal::tty::Tty;
use crate::terminal::{convert, input, linear, logfile, reload, signals};
use crate::wire::problem::{Problem, ProblemKind};

/// Threads beside the one that draws: they fold changes, wait for answers and listen to signals.
const WORKERS: usize = 2;

/// How long threads that are busy are waited for at the very end.
const THREADS_WAIT: Duration = Duration::from_millis(100);

/// How long the first picture is waited for where there is no screen to watch it come.
const PICTURE_WAIT: Duration = Duration::from_secs(10);

/// Size of the one picture that is printed where there is no screen.
const PRINTED: (u16, u16) = (100, 50);

/// What stands behind a console.
pub struct Backstage<L, S, F> {
    /// Its link.
    pub link: L,
    /// The clock its world lives by.
    pub clock: S,
    /// What is awaited once the console ended, so that whatever was started for it ends in order.
    pub farewell: F,
}

/// Shows the console until the person leaves. The first frame is drawn before `connect` is called.
///
/// # Errors
/// When flags, the terminal or `connect` do not allow it. A far end that cannot be reached is none: it is shown.
pub fn run_console<L, S, F>(
    flags: &ScreenArgs,
    endpoint: &str,
    connect: impl AsyncFnOnce(SystemClock) -> Result<Backstage<L, S, F>, Problem>,
) -> Result<(), Problem>
where
    L: Link,
    S: Clock,
    F: Future<Output = ()>,
{
    let look = Look::of(flags, &|name| std::env::var(name).ok())?;
    let clock = SystemClock::start();
    if !Tty::is_there() {
        return print_once(&look, flags, endpoint, clock, connect);
    }
    let (tell, heard) = mpsc::channel(HEARD_QUEUED);
    let screen = Screen::of(Tty::of_process()?).without_stderr().map_err(|error| no_thread(&error))?;
    let runtime = runtime()?;
    let end = runtime.block_on(async {
        // Before the screen is taken, so that no signal finds it taken and nobody to give it back.
        signals::listen(&screen, &tell).map_err(|error| no_thread(&error))?;
        screen.give_back_on_panic();
        let _taken = screen.take()?;
        let model = Model::new(setup(&look, flags, endpoint, &clock, screen.tty().size()));
        let mut stage = Stage::new(model, look.theme.clone(), screen.clone());
        stage.open(Moment { wall: clock.now(), shown: clock.now() }).map_err(|error| unwritable(&error))?;
        // Only now what may be slow: a disk, a network.
        let log = logfile::start(flags.log_file.as_deref(), &clock, tell.clone())?;
        report(&log);
        input::listen(screen.clone(), tell.clone()).map_err(|error| no_thread(&error))?;
        follow_files(&look, &clock, &tell);
        let Backstage { link, clock: shown, farewell } = connect(clock).await?;
        let end = Run::new(screen.clone(), stage, (link, shown), clock, (tell, heard)).go().await;
        within(FAREWELL_WAIT, &clock, farewell).await;
        end.map_err(|error| unwritable(&error))
    });
    runtime.shutdown_timeout(THREADS_WAIT);
    finish(end?)
}

/// A signal that ended the console is told to whoever started it, the way shells do.
fn finish(end: End) -> Result<(), Problem> {
    match end {
        End::Quit => Ok(()),
        End::Signal(number) => std::process::exit(signals::SIGNAL_CODE + number),
        End::HungUp => std::process::exit(input::HUNG_UP_CODE),
    }
}

fn setup(look: &Look, flags: &ScreenArgs, endpoint: &str, clock: &SystemClock, size: (u16, u16)) -> Setup {
    Setup {
        keymap: look.keymap.clone(),
        ascii: look.ascii,
        read_only: flags.read_only,
        by: person(),
        session: Uuid::new_v4().simple().to_string(),
        endpoint: endpoint.to_owned(),
        context: (endpoint == DEMO).then(|| DEMO.to_owned()),
        now: clock.now(),
        size,
    }
}

/// Who sits here, as far as this system knows. A control plane that checks tokens puts its own name for the token.
pub(super) fn person() -> String {
    let named = ["USER", "LOGNAME"].iter().find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    named.unwrap_or_else(|| "somebody".to_owned())
}

fn report(log: &logfile::Log) {
    match (&log.place, &log.excuse) {
        (_, Some(excuse)) => tracing::warn!("{excuse}"),
        (Some(place), None) => tracing::info!("kura-console {} logs to {}", env!("CARGO_PKG_VERSION"), place.display()),
        (None, None) => {}
    }
}

/// Themes and keymaps that are files are read again when they change.
fn follow_files(look: &Look, clock: &SystemClock, tell: &Sender<Heard>) {
    let depth = look.depth;
    if let Some(path) = look.theme_file.clone() {
        let made = move |text: &str| Theme::parse(text, depth).map(|theme| Heard::Theme(Box::new(theme)));
        let made = move |text: &str| made(text).map_err(|findings| sentence(&findings));
        tokio::spawn(reload::watch(path, *clock, tell.clone(), made));
    }
    if let Some(path) = look.keymap_file.clone() {
        let made = |text: &str| Keymap::parse(text).map(|keymap| Msg::Keymap(Box::new(keymap)));
        let made = move |text: &str| match made(text) {
            Ok(msg) => Ok(Heard::Msg(Box::new(msg))),
            Err(findings) => Err(sentence(&findings)),
        };
        tokio::spawn(reload::watch(path, *clock, tell.clone(), made));
    }
}

/// Without a screen: one picture, once it is there, as plain lines.
fn print_once<L, S, F>(
    look: &Look,
    flags: &ScreenArgs,
    endpoint: &str,
    clock: SystemClock,
    connect: impl AsyncFnOnce(SystemClock) -> Result<Backstage<L, S, F>, Problem>,
) -> Result<(), Problem>
where
    L: Link,
    S: Clock,
    F: Future<Output = ()>,
{
    let runtime = runtime()?;
    let seen = runtime.block_on(async {
        let Backstage { link, clock: shown, farewell } = connect(clock).await?;
        let picture = first_picture(link.pictures(), &clock).await;
        let now = shown.now();
        within(FAREWELL_WAIT, &clock, farewell).await;
        picture.map(|picture| (picture, now))
    });
    runtime.shutdown_timeout(THREADS_WAIT);
    let (picture, now) = seen?;
    let mut model = Model::new(Setup { now, ..setup(look, flags, endpoint, &clock, PRINTED) });
    // Nothing is there to perform an effect for: this console only looks, once.
    let _ = update(&mut model, Msg::Picture(Box::new(convert::snapshot(picture))));
    let mut frame = Buffer::empty(Rect::new(0, 0, PRINTED.0, PRINTED.1));
    view(&model, &look.theme, now, frame.area, &mut frame);
    // The last row tells keys, which paper has not.
    match io::stdout().lock().write_all(linear::lines(&frame, PRINTED.1 - 1).as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(&error)),
        _ => Ok(()),
    }
}

/// The first picture that shows anything.
async fn first_picture(mut pictures: watch::Receiver<Picture>, clock: &SystemClock) -> Result<Picture, Problem> {
    let arrived = async {
        pictures.wait_for(|picture| picture.api != Freshness::Connecting).await.map(|picture| picture.clone()).ok()
    };
    let picture = within(PICTURE_WAIT, clock, arrived).await.flatten();
    let Some(picture) = picture else { return Err(no_answer("it does not answer")) };
    match &picture.api {
        Freshness::Live(_) | Freshness::Connecting => Ok(picture),
        Freshness::Lost { why, .. } => Err(no_answer(why)),
        Freshness::Refused { why, hint } => {
            Err(Problem::new(ProblemKind::Forbidden, "refused", why.as_str()).hint(hint.as_str()))
        }
    }
}

/// What `work` gives; none if it takes longer than `span`.
async fn within<T>(span: Duration, clock: &SystemClock, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        done = work => Some(done),
        () = clock.sleep(span) => None,
    }
}

fn runtime() -> Result<Runtime, Problem> {
    Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().map_err(|error| no_thread(&error))
}

fn no_answer(why: &str) -> Problem {
    Problem::new(ProblemKind::Unreachable, "no_answer", format!("no picture of the control plane: {why}"))
        .hint("is the address right, and is the control plane up? It was waited for, once; a screen would go on trying")
}

fn no_thread(error: &io::Error) -> Problem {
    Problem::new(ProblemKind::Internal, "no_thread", format!("the system gives no thread or no signal: {error}"))
        .hint("are processes or memory of this account limited? See ulimit -a")
}

fn unwritable(error: &io::Error) -> Problem {
    Problem::new(ProblemKind::Internal, "unwritable", format!("the terminal takes no more output: {error}"))
}
