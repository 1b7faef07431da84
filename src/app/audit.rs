//! The way to run: audit. Who did what, when and why; and whether anybody has touched the record of it since.

use super::shell::print;
use super::status::Output;
use super::store::journal::ServerJournal;
use super::target::TargetArgs;
use crate::adapters::journal::open::JournalUrl;
use crate::adapters::journal::tended::Tended;
use crate::adapters::remote::client::{Client, Failure};
use crate::console::text::escape;
use crate::control::ports::{Journal, JournalError};
use crate::control::trouble::sentence;
use crate::domain::audit::{Auditor, Broken, Fate};
use crate::domain::change::Cause;
use crate::domain::ids::{AccountId, Revision};
use crate::wire::audit::{AuditRow, PATH};
use crate::wire::problem::{Problem, ProblemKind};

/// Rows of one request.
const PAGE: usize = 1_000;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Print every verb that was given, done or refused, oldest first.
    Show(Show),
    /// Check that no link of the chain is missing and none was changed. Exit code 1 = it was.
    Verify(Verify),
}

#[derive(Debug, clap::Args)]
struct Show {
    #[command(flatten)]
    target: TargetArgs,
    /// How it is printed; json is one object per line, yaml one list.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Output,
    /// Only what stands behind this revision of the journal.
    #[arg(long, value_name = "REVISION", default_value_t)]
    after: Revision,
    /// Only what this person did.
    #[arg(long, value_name = "NAME")]
    by: Option<String>,
    /// Only this verb, such as pause-machine.
    #[arg(long, value_name = "VERB")]
    verb: Option<String>,
}

#[derive(Debug, clap::Args)]
struct Verify {
    #[command(flatten)]
    target: TargetArgs,
    /// Read the journal itself instead of asking a control plane: what each verb changed is checked as well.
    #[arg(long, value_name = "URL", conflicts_with_all = ["api", "token_file", "token_command"], requires = "account")]
    journal: Option<String>,
    /// Account of the journal, by its name.
    #[arg(long, value_name = "NAME", requires = "journal")]
    account: Option<String>,
}

/// Runs it.
pub fn run(args: Args) -> Result<(), Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Problem::new(ProblemKind::Internal, "runtime", format!("no threads: {e}")))?;
    runtime.block_on(async {
        match args.what {
            What::Show(show) => shown(&show).await,
            What::Verify(Verify { journal: Some(url), account: Some(account), .. }) => on_disk(&url, &account).await,
            What::Verify(verify) => over_there(&verify.target).await,
        }
    })
}

/// Reads page after page of a control plane's audit.
struct Pages {
    client: Client,
    after: Revision,
}

impl Pages {
    fn of(target: &TargetArgs, after: Revision) -> Result<Self, Problem> {
        let target = target.resolve()?;
        Ok(Self { client: Client::new(target.endpoint, &target.token)?, after })
    }

    /// Empty once there are no more.
    async fn next(&mut self) -> Result<Vec<AuditRow>, Problem> {
        let path = format!("{PATH}?after={}&limit={PAGE}", self.after);
        let rows: Vec<AuditRow> = self.client.get(&path).await.map_err(Failure::into_problem)?;
        self.after = rows.last().map_or(self.after, |row| row.revision);
        Ok(rows)
    }
}

async fn shown(show: &Show) -> Result<(), Problem> {
    let mut pages = Pages::of(&show.target, show.after)?;
    let wanted = |row: &AuditRow| {
        let (verb, _) = named(&row.cause);
        show.by.as_ref().is_none_or(|by| *by == row.by) && show.verb.as_ref().is_none_or(|wanted| wanted == verb)
    };
    let mut seen = 0_usize;
    loop {
        let rows = pages.next().await?;
        if rows.is_empty() {
            break;
        }
        for row in rows.iter().filter(|row| wanted(row)) {
            print(printed(row, show.output)?.as_bytes())?;
            seen += 1;
        }
    }
    match (seen, show.output) {
        (0, Output::Text) => print(b"no verb was given\n"),
        _ => Ok(()),
    }
}

fn printed(row: &AuditRow, output: Output) -> Result<String, Problem> {
    let unwritable = |error: String| Problem::new(ProblemKind::Internal, "output", error);
    match output {
        Output::Text => Ok(told(row)),
        Output::Json => {
            serde_json::to_string(row).map(|line| line + "\n").map_err(|error| unwritable(error.to_string()))
        }
        Output::Yaml => serde_yaml::to_string(&[row]).map_err(|error| unwritable(error.to_string())),
    }
}

fn named(cause: &Cause) -> (&str, Option<&str>) {
    match cause {
        Cause::Verb { name, reason, .. } => (name, reason.as_deref()),
        _ => ("-", None),
    }
}

/// A verb in two lines or three: what, what came of it, why.
fn told(row: &AuditRow) -> String {
    let (verb, reason) = named(&row.cause);
    let came = match &row.link.fate {
        Fate::Done => "done".to_owned(),
        Fate::Refused { detail, .. } => format!("refused: {detail}"),
    };
    let targets = row.link.target.join(", ");
    let mut text = format!("{} {} {verb} {targets}: {came}\n", row.at, row.by);
    for line in &row.link.plan {
        text += &format!("    {line}\n");
    }
    if let Some(reason) = reason {
        text += &format!("    because: {reason}\n");
    }
    text.lines().map(|line| format!("{}\n", escape(line))).collect()
}

/// What was found so far.
#[derive(Default)]
struct Findings {
    auditor: Auditor,
    links: u64,
    broken: Vec<Broken>,
}

impl Findings {
    /// Links whose entries are archived: what their verbs changed is gone, that they hang together is not.
    async fn archived(
        &mut self,
        journal: &ServerJournal,
        account: AccountId,
        mut after: Revision,
        oldest: Revision,
    ) -> Result<(), JournalError> {
        loop {
            let links = journal.archived_links(account, after, PAGE).await?;
            let Some(last) = links.last() else { return Ok(()) };
            after = last.revision;
            for link in links.iter().filter(|link| link.revision < oldest) {
                self.links += 1;
                self.broken.extend(self.auditor.take_link(link).err());
            }
        }
    }

    fn say(&self, place: &str, scope: &str) -> Result<(), Problem> {
        let Some(first) = self.broken.first() else {
            let seal = self.auditor.head().seal.as_ref().map_or("none", |seal| &seal.0);
            return print(
                format!("{place}: {} links{scope}, none broken; the last seal is {seal}\n", self.links).as_bytes(),
            );
        };
        let message = format!("{place}: {} of {} links are broken; {first}", self.broken.len(), self.links);
        let rest = self.broken.iter().skip(1).take(HINTS_MAX).map(ToString::to_string);
        let problem = Problem::new(ProblemKind::Invalid, "audit", message);
        Err(rest.fold(problem, Problem::hint))
    }
}

/// Broken links that are named behind the first.
const HINTS_MAX: usize = 20;

/// The chain as a control plane tells it: the links, not what the verbs changed.
async fn over_there(target: &TargetArgs) -> Result<(), Problem> {
    let mut pages = Pages::of(target, 0)?;
    let mut findings = Findings::default();
    loop {
        let rows = pages.next().await?;
        if rows.is_empty() {
            return findings.say("the control plane's audit", "");
        }
        for row in rows {
            findings.links += 1;
            findings.broken.extend(findings.auditor.take_link(&row.entry()).err());
        }
    }
}

/// The chain in a journal, with everything each verb changed as far as that is still kept.
async fn on_disk(url: &str, account: &str) -> Result<(), Problem> {
    let url = url.parse::<JournalUrl>().map_err(|error| error.problem())?;
    let journal = ServerJournal::existing(&url).await?;
    let unreadable = |error: JournalError| Problem::new(ProblemKind::Unavailable, "journal", sentence(&error));
    let id = AccountId::named(account);
    let known = journal.load(id).await.map_err(unreadable)?;
    if known.revision == 0 {
        let message = format!("{url} holds no account {account}");
        return Err(Problem::new(ProblemKind::NotFound, "account", message).hint("its name stands in the tokens file"));
    }
    let (mut after, mut findings) = (0, Findings::default());
    loop {
        let entries = match journal.read(id, after, PAGE).await {
            Err(JournalError::Compacted { oldest }) => {
                findings.archived(&journal, id, after, oldest).await.map_err(unreadable)?;
                after = oldest - 1;
                continue;
            }
            read => read.map_err(unreadable)?,
        };
        let Some(last) = entries.last() else { break };
        after = last.revision;
        for entry in &entries {
            findings.links += u64::from(entry.is_audit());
            findings.broken.extend(findings.auditor.take(entry).err());
        }
    }
    let (reached, expected) = (findings.auditor.head().count, known.audit.count);
    if findings.broken.is_empty() && reached < expected {
        let message = format!("{url}: the chain ends at link {reached}, and {expected} verbs were given");
        return Err(Problem::new(ProblemKind::Invalid, "audit", message));
    }
    findings.say(&url.to_string(), &format!(" in {after} entries"))
}
