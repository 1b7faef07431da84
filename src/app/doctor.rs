//! The way to run: doctor. Can I reach it, as whom, what may I do, and is this end in order: one finding per line, each
//! with what to do. Every check has its limit, so the whole has one.

use serde::Serialize;

use super::cluster::ClusterArgs;
use super::doctor_here::here;
use super::doctor_reach::reach;
use super::look::speaks_unicode;
use super::report::wrapped;
use super::shell::print;
use super::status::{Output, yaml};
use super::target::TargetArgs;
use crate::console::text::escape;
use crate::wire::problem::{Problem, ProblemKind};

/// Columns of the name of a check.
const CHECK_WIDTH: usize = 9;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// A journal to look at from here, as serve names it: whether this machine could carry on with it
    #[arg(long, value_name = "URL", env = "KURA_CONSOLE_JOURNAL", hide_env_values = true)]
    journal: Option<String>,
    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    output: Output,
}

/// How a finding is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// As it should be.
    Ok,
    /// It works, and somebody should know.
    Warn,
    /// It does not work.
    Bad,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }

    fn glyph(self, ascii: bool) -> &'static str {
        match (self, ascii) {
            (Self::Ok, false) => "✓",
            (Self::Ok, true) => "+",
            (Self::Warn, _) => "!",
            (Self::Bad, false) => "✗",
            (Self::Bad, true) => "x",
        }
    }
}

/// What one check found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at, in a word.
    pub check: &'static str,
    /// How it is meant.
    pub verdict: Verdict,
    /// One sentence.
    pub said: String,
    /// What to do; none where there is nothing to do.
    pub hint: Option<String>,
}

impl Finding {
    /// As it should be.
    pub fn ok(check: &'static str, said: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, said: said.into(), hint: None }
    }

    /// It works, and somebody should know.
    pub fn warn(check: &'static str, said: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Warn, said: said.into(), hint: Some(hint.into()) }
    }

    /// It does not work.
    pub fn bad(check: &'static str, said: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Bad, said: said.into(), hint: Some(hint.into()) }
    }

    /// A problem that somebody else has put into words.
    pub fn of(check: &'static str, problem: &Problem) -> Self {
        let hint = (!problem.hints.is_empty()).then(|| problem.hints.join("; "));
        Self { check, verdict: Verdict::Bad, said: problem.message.clone(), hint }
    }
}

/// Everything that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Findings {
    well: bool,
    findings: Vec<Finding>,
}

/// Runs it.
///
/// # Errors
/// Where something is bad; it was printed before.
pub fn run(args: Args) -> Result<(), Problem> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|e| Problem::new(ProblemKind::Internal, "runtime", format!("no threads: {e}")))?;
    let (target, cluster) = (args.target, args.cluster);
    let mut findings = runtime.block_on(reach(target, cluster, args.journal.as_deref()));
    // A token command that never ends is not waited for.
    runtime.shutdown_background();
    findings.extend(here());
    let bad = findings.iter().filter(|finding| finding.verdict == Verdict::Bad).count();
    let found = Findings { well: bad == 0, findings };
    print(printed(&found, args.output)?.as_bytes())?;
    match bad {
        0 => Ok(()),
        bad => {
            let message = format!("{bad} of {} findings are bad", found.findings.len());
            Err(Problem::new(ProblemKind::Internal, "doctor", message).hint("begin with the first of them"))
        }
    }
}

fn printed(found: &Findings, output: Output) -> Result<String, Problem> {
    let unwritable = |why: String| Problem::new(ProblemKind::Internal, "output", why);
    match output {
        Output::Text => Ok(text(&found.findings, !speaks_unicode(&|name| std::env::var(name).ok()))),
        Output::Json => serde_json::to_string(found).map(|json| json + "\n").map_err(|e| unwritable(e.to_string())),
        Output::Yaml => yaml(found).map_err(unwritable),
    }
}

fn text(findings: &[Finding], ascii: bool) -> String {
    let mut text = String::new();
    for Finding { check, verdict, said, hint } in findings {
        let lead = format!("{} {:4} {check:CHECK_WIDTH$} ", verdict.glyph(ascii), verdict.word());
        wrapped(&mut text, &lead, &escape(said));
        if let Some(hint) = hint {
            wrapped(&mut text, &format!("{}hint: ", " ".repeat(CHECK_WIDTH + 8)), &escape(hint));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::console::text::width;

    #[test]
    fn a_finding_is_a_glyph_and_a_word_at_eighty_columns_and_steers_no_terminal() {
        let long = "\u{1b}[2J far too long ".repeat(20);
        let findings =
            [Finding::ok("api", "there"), Finding::warn("clock", &*long, &*long), Finding::bad("seat", "no", "x")];
        for (ascii, heads) in
            [(false, ["✓ ok   api", "! warn clock", "✗ bad  seat"]), (true, ["+ ok", "! warn", "x bad"])]
        {
            let text = text(&findings, ascii);
            assert!(text.lines().all(|line| width(line) <= 80) && !text.contains('\u{1b}'), "{text}");
            assert!(heads.iter().all(|head| text.lines().any(|line| line.starts_with(head))), "{text}");
            assert_eq!(text.matches("hint: ").count(), 2, "{text}");
        }
    }
}
