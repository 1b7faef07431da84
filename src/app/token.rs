//! The way to run: token. Makes, lists and revokes the tokens of a control plane, in the file that `serve` reads.

use std::io::{self, Write};
use std::path::PathBuf;

use serde_json::json;

use super::token_file;
use crate::domain::ids::MachineId;
use crate::server::tokens::{NewToken, TokenEntry, TokenRole, default_account};
use crate::wire::problem::{Problem, ProblemKind};

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    run: Run,
}

#[derive(Debug, clap::Subcommand)]
enum Run {
    /// Make a token. It is printed once; the file keeps its SHA-256.
    Create(Create),
    /// List tokens: names, roles, accounts, machines. Nobody can list the tokens themselves.
    List(List),
    /// Take a token away; a control plane that runs lets it in no more within seconds.
    Revoke(Revoke),
}

#[derive(Debug, clap::Args)]
struct Place {
    /// The file that `serve --tokens` reads; `create` makes it where it does not exist.
    #[arg(long, value_name = "FILE", env = "KURA_CONSOLE_TOKENS")]
    tokens: PathBuf,
}

#[derive(Debug, clap::Args)]
struct Create {
    /// What the journal calls its bearer; unique in its account.
    name: String,
    /// viewer looks, operator acts, owner configures the account, agent polls and reports.
    #[arg(long, value_parser = role)]
    role: TokenRole,
    /// The account it belongs to.
    #[arg(long, default_value_t = default_account())]
    account: String,
    /// Agents only: the one machine it speaks for, by uuid.
    #[arg(long, value_name = "UUID", value_parser = machine)]
    machine: Option<MachineId>,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, clap::Args)]
struct List {
    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t = Output::Text)]
    output: Output,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Output {
    Text,
    Json,
}

#[derive(Debug, clap::Args)]
struct Revoke {
    /// Whose.
    name: String,
    /// The account it belongs to.
    #[arg(long, default_value_t = default_account())]
    account: String,
    #[command(flatten)]
    place: Place,
}

fn role(text: &str) -> Result<TokenRole, String> {
    let known = TokenRole::ALL.into_iter().find(|role| role.word() == text);
    known.ok_or_else(|| "a role is viewer, operator, owner or agent".to_owned())
}

fn machine(text: &str) -> Result<MachineId, String> {
    text.parse()
        .map(MachineId)
        .map_err(|_| "a machine is named by its uuid: GET /api/provisioning/machines/".to_owned())
}

/// Runs it.
pub fn run(args: Args) -> Result<(), Problem> {
    match args.run {
        Run::Create(create) => self::create(create),
        Run::List(list) => self::list(&list),
        Run::Revoke(revoke) => self::revoke(&revoke),
    }
}

fn create(create: Create) -> Result<(), Problem> {
    let Create { name, role, account, machine, place } = create;
    let mut made = NewToken::make(&name, role, &account);
    made.entry.machine = machine;
    token_file::add(&place.tokens, &made.entry)?;
    // There is no second chance to see it.
    print(&format!("{}\n", made.secret)).map_err(|problem| {
        problem.hint(format!("take it away again: kura-console token revoke {name} --account {account}"))
    })
}

fn list(list: &List) -> Result<(), Problem> {
    let entries = token_file::entries(&list.place.tokens)?;
    match list.output {
        Output::Json => {
            let shown: Vec<_> = entries.iter().map(shown).collect();
            print(&format!("{:#}\n", serde_json::Value::from(shown)))
        }
        Output::Text => {
            let width = |of: fn(&TokenEntry) -> usize| entries.iter().map(of).max().unwrap_or(0);
            let (name, account) = (width(|e| e.name.chars().count()), width(|e| e.account.chars().count()));
            let line = |e: &TokenEntry| {
                let machine = e.machine.map(|machine| format!("  {machine}")).unwrap_or_default();
                format!("{:name$}  {:8}  {:account$}{machine}\n", e.name, e.role.word(), e.account)
            };
            print(&entries.iter().map(line).collect::<String>())
        }
    }
}

fn shown(entry: &TokenEntry) -> serde_json::Value {
    json!({"name": entry.name, "role": entry.role.word(), "account": entry.account, "machine": entry.machine})
}

fn revoke(revoke: &Revoke) -> Result<(), Problem> {
    token_file::remove(&revoke.place.tokens, &revoke.name, &revoke.account)?;
    print(&format!("{} of account {} is not let in any more\n", revoke.name, revoke.account))
}

fn print(text: &str) -> Result<(), Problem> {
    let told = io::stdout().lock().write_all(text.as_bytes());
    told.map_err(|error| Problem::new(ProblemKind::Internal, "stdout", format!("it could not be printed: {error}")))
}
