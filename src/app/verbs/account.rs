//! Verbs on the account as a whole: its switches, its secrets, its clock, the seat.

use std::io::Read;
use std::path::PathBuf;

use super::aim::{Aim, Aimed, Deed, SecretValue, nothing_to_change};
use crate::control::render::secret::SECRET_MAX;
use crate::domain::input::Verb;
use crate::domain::world::World;
use crate::wire::problem::{Problem, ProblemKind};

/// A switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Switch {
    /// Start by itself.
    On,
    /// Start nothing by itself.
    Off,
}

impl From<Switch> for bool {
    fn from(switch: Switch) -> Self {
        switch == Switch::On
    }
}

/// The switches of the account.
#[derive(Debug, Clone, clap::Args)]
pub struct Account {
    /// Start every new commit of the followed branch while nothing runs.
    #[arg(long, value_enum, value_name = "SWITCH")]
    auto_deploy: Option<Switch>,
    /// Start the newest tag that matches while nothing runs.
    #[arg(long, value_enum, value_name = "SWITCH")]
    track_config_tags: Option<Switch>,
    /// Follow the tags that match this glob. Owners only, and not together with a switch.
    #[arg(long, value_name = "GLOB", conflicts_with_all = ["auto_deploy", "track_config_tags"])]
    tag_pattern: Option<String>,
    /// Follow no tags. Owners only, and not together with a switch.
    #[arg(long, conflicts_with_all = ["auto_deploy", "track_config_tags", "tag_pattern"])]
    no_tag_pattern: bool,
}

/// A secret that gets a value.
#[derive(Debug, Clone, clap::Args)]
pub struct SetSecret {
    /// What `{{ secrets.NAME }}` refers to.
    name: String,
    /// File with the value, as it is but for line feeds at its end; - = standard input. A value is never a flag.
    #[arg(long, value_name = "FILE")]
    value_file: PathBuf,
}

/// The clock.
#[derive(Debug, Clone, clap::Args)]
pub struct AcceptClock {}

/// The seat.
#[derive(Debug, Clone, clap::Args)]
pub struct LeaveSeat {}

impl Account {
    /// Nothing is to be changed.
    pub fn is_empty(&self) -> bool {
        let switched = self.auto_deploy.is_some() || self.track_config_tags.is_some();
        !switched && self.tag_pattern.is_none() && !self.no_tag_pattern
    }
}

fn the(kind: &'static str) -> Aimed {
    Aimed { kind, name: kind.to_owned(), uuid: None }
}

impl Aim for Account {
    fn verb(&self) -> &'static str {
        "account"
    }

    fn check(&self) -> Result<(), Problem> {
        match self.is_empty() {
            false => Ok(()),
            true => Err(nothing_to_change("--auto-deploy, --track-config-tags, --tag-pattern and --no-tag-pattern")),
        }
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        let switch = |switch: Option<Switch>| switch.map(bool::from);
        let verb = match (&self.tag_pattern, self.no_tag_pattern) {
            (None, false) => Verb::PatchAccount {
                auto_deploy: switch(self.auto_deploy),
                track_config_tags: switch(self.track_config_tags),
            },
            (pattern, _) => Verb::ConfigureAccount { config_tag_pattern: Some(pattern.clone()) },
        };
        Ok((Deed::Verb(Box::new(verb)), the("account")))
    }
}

impl Aim for SetSecret {
    fn verb(&self) -> &'static str {
        "set-secret"
    }

    fn check(&self) -> Result<(), Problem> {
        // It becomes a part of a path.
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        match !self.name.is_empty() && self.name.chars().all(is_name) && !self.name.starts_with('.') {
            true => Ok(()),
            false => Err(Problem::new(ProblemKind::Usage, "bad_name", format!("{} is no name of a secret", self.name))
                .hint("use letters, digits, '_', '-' and '.'")),
        }
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        let value = self.value().map_err(|why| {
            let message = format!("the value cannot be read from {}: {why}", self.value_file.display());
            Problem::new(ProblemKind::Usage, "value_file", message).hint("name a file, or - for standard input")
        })?;
        let name = self.name.clone();
        let aimed = Aimed { kind: "secret", name: name.clone(), uuid: None };
        Ok((Deed::SetSecret { name, value: SecretValue(value) }, aimed))
    }
}

impl SetSecret {
    fn value(&self) -> std::io::Result<String> {
        let (mut value, most) = (String::new(), SECRET_MAX as u64 + 1);
        match self.value_file.as_os_str() == "-" {
            true => std::io::stdin().lock().take(most).read_to_string(&mut value)?,
            false => std::fs::File::open(&self.value_file)?.take(most).read_to_string(&mut value)?,
        };
        value.truncate(value.trim_end_matches(['\r', '\n']).len());
        Ok(value)
    }
}

impl Aim for AcceptClock {
    fn verb(&self) -> &'static str {
        "accept-clock"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        Ok((Deed::Verb(Box::new(Verb::AcceptClock)), the("clock")))
    }
}

impl Aim for LeaveSeat {
    fn verb(&self) -> &'static str {
        "leave-seat"
    }

    fn aim(&self, _: &World) -> Result<(Deed, Aimed), Problem> {
        Ok((Deed::LeaveSeat, the("seat")))
    }
}
