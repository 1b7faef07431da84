//! Which control plane, and as whom: the flags and variables every client of a control plane shares.

use std::path::PathBuf;

use uuid::Uuid;

use crate::adapters::remote::endpoint::Endpoint;
use crate::adapters::remote::token::Token;
use crate::domain::ids::RolloutId;
use crate::wire::problem::{Problem, ProblemKind};

/// Where the address of the API is looked for, in this order, after `--api`.
pub const API_VARIABLES: [&str; 2] = ["KURA_CONSOLE_API", "DURANTIC_ENDPOINT"];

/// Where the token is looked for, in this order, after the flags.
pub const TOKEN_VARIABLES: [&str; 2] = ["KURA_CONSOLE_TOKEN", "DURANTIC_API_TOKEN"];

/// Where the rollout to look at is looked for, after the flag.
pub const ROLLOUT_VARIABLE: &str = "KURA_CONSOLE_ROLLOUT";

/// Flags that name a control plane. A token is never a flag: arguments are visible to everybody on the host.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct TargetArgs {
    /// Address of the control plane, such as https://kura.example.com [env: KURA_CONSOLE_API, DURANTIC_ENDPOINT]
    #[arg(long, value_name = "URL")]
    pub api: Option<String>,
    /// File whose first line is the token [env: the token itself in KURA_CONSOLE_TOKEN or DURANTIC_API_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Shell command that prints the token, such as 'pass show kura'
    #[arg(long, value_name = "COMMAND", conflicts_with = "token_file")]
    pub token_command: Option<String>,
    /// The rollout to look at, by uuid, where the control plane lists none [env: KURA_CONSOLE_ROLLOUT]
    // The name of the flag's field is not `rollout`: some verbs have an argument of that name.
    #[arg(long = "rollout", value_name = "UUID")]
    pub watched: Option<Uuid>,
}

/// A control plane and the token to show it.
#[derive(Debug, Clone)]
pub struct Target {
    /// Where.
    pub endpoint: Endpoint,
    /// As whom.
    pub token: Token,
    /// The rollout to look at where none is listed.
    pub rollout: Option<RolloutId>,
}

impl TargetArgs {
    /// The control plane these flags and this process's environment name.
    pub fn resolve(&self) -> Result<Target, Problem> {
        self.resolve_with(&|name| std::env::var(name).ok())
    }

    /// True where an address was given at all, by flag or by variable.
    pub fn is_given(&self) -> bool {
        self.api.is_some() || from_variables(&API_VARIABLES, &|name| std::env::var(name).ok()).is_some()
    }

    /// The address alone.
    pub fn endpoint_named(&self) -> Result<Endpoint, Problem> {
        self.endpoint(&|name| std::env::var(name).ok())
    }

    /// The token alone; a command is run to its end.
    pub fn token_named(&self) -> Result<Token, Problem> {
        self.token(&|name| std::env::var(name).ok())
    }

    /// Where the address comes from: a flag or a variable.
    pub fn api_source(&self) -> String {
        let variable = from_variables(&API_VARIABLES, &|name| std::env::var(name).ok());
        match (&self.api, variable) {
            (None, Some((name, _))) => name.to_owned(),
            _ => "--api".to_owned(),
        }
    }

    /// Where the token comes from: a file, a command or a variable.
    pub fn token_source(&self) -> String {
        let variable = from_variables(&TOKEN_VARIABLES, &|name| std::env::var(name).ok());
        match (&self.token_file, &self.token_command, variable) {
            (Some(path), ..) => path.display().to_string(),
            (None, None, Some((name, _))) => name.to_owned(),
            _ => "the token command".to_owned(),
        }
    }

    fn resolve_with(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Target, Problem> {
        let (endpoint, rollout) = (self.endpoint(variable)?, self.rollout(variable)?);
        Ok(Target { endpoint, token: self.token(variable)?, rollout })
    }

    fn rollout(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Option<RolloutId>, Problem> {
        if let Some(uuid) = self.watched {
            return Ok(Some(RolloutId(uuid)));
        }
        let Some((name, value)) = from_variables(&[ROLLOUT_VARIABLE], variable) else { return Ok(None) };
        value.trim().parse().map(|uuid| Some(RolloutId(uuid))).map_err(|error| {
            Problem::new(ProblemKind::Usage, "bad_rollout", format!("{name} is no uuid of a rollout: {error}"))
                .hint("the answer to the start of the rollout names it")
        })
    }

    fn endpoint(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Endpoint, Problem> {
        if let Some(api) = &self.api {
            return Endpoint::parse(api);
        }
        match from_variables(&API_VARIABLES, variable) {
            Some((name, value)) => {
                Endpoint::parse(&value).map_err(|problem| problem.hint(format!("the address came from {name}")))
            }
            None => Err(Problem::new(ProblemKind::Usage, "no_api", "no control plane was named")
                .hint("name one: --api http://127.0.0.1:7777, or set KURA_CONSOLE_API")
                .hint("see everything alive without one: kura-console demo")),
        }
    }

    fn token(&self, variable: &dyn Fn(&str) -> Option<String>) -> Result<Token, Problem> {
        if let Some(path) = &self.token_file {
            return Token::from_file(path);
        }
        if let Some(command) = &self.token_command {
            return Token::from_command(command);
        }
        match from_variables(&TOKEN_VARIABLES, variable) {
            Some((name, value)) => Token::parse(&value, name),
            None => Err(Problem::new(ProblemKind::Usage, "no_token", "there is no token to show the control plane")
                .hint("set KURA_CONSOLE_TOKEN, or use --token-file FILE or --token-command COMMAND")
                .hint("a control plane of your own prints them once: kura-console serve --create-tokens")),
        }
    }
}

fn from_variables<'a>(names: &[&'a str], variable: &dyn Fn(&str) -> Option<String>) -> Option<(&'a str, String)> {
    names.iter().find_map(|name| Some((*name, variable(name).filter(|value| !value.trim().is_empty())?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        |name| pairs.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn flags_win_over_variables_and_ours_over_the_older_name() {
        let env = environment(&[
            ("KURA_CONSOLE_API", "http://localhost:1"),
            ("DURANTIC_ENDPOINT", "http://localhost:2"),
            ("DURANTIC_API_TOKEN", "k_old"),
        ]);
        let target = TargetArgs::default().resolve_with(&env).unwrap();
        assert_eq!(target.endpoint.to_string(), "http://localhost:1");
        assert_eq!(target.token.bearer(), "Bearer k_old");
        let flags = TargetArgs { api: Some("http://localhost:3".to_owned()), ..TargetArgs::default() };
        assert_eq!(flags.resolve_with(&env).unwrap().endpoint.to_string(), "http://localhost:3");
    }

    #[test]
    fn an_empty_variable_counts_as_unset() {
        let env = environment(&[("KURA_CONSOLE_API", "  "), ("DURANTIC_ENDPOINT", "http://localhost:2")]);
        let problem = TargetArgs::default().resolve_with(&env).unwrap_err();
        assert_eq!(problem.code, "no_token");
    }

    #[test]
    fn without_an_address_the_hints_show_both_ways_on() {
        let problem = TargetArgs::default().resolve_with(&environment(&[])).unwrap_err();
        assert_eq!(problem.code, "no_api");
        assert!(problem.hints.iter().any(|hint| hint.contains("demo")));
    }
}
