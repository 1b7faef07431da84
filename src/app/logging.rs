//! Logs of the ways to run that last: to stderr, as lines for people or as JSON for machines.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One object per line.
    Json,
}

/// Flags about logs.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct LogArgs {
    /// How log lines look.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub log_format: LogFormat,
    /// What is logged, such as `debug` or `info,kura_console::server=debug`.
    #[arg(long, env = "KURA_CONSOLE_LOG", value_name = "FILTER", default_value = "info")]
    pub log: String,
}

impl LogArgs {
    /// Begins to log, unless the process logs already. A filter that makes no sense is taken for `info`.
    pub fn start(&self) {
        let filter = EnvFilter::try_new(&self.log).unwrap_or_else(|_| EnvFilter::new("info"));
        let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
        let _ = match self.log_format {
            LogFormat::Text => lines.with_ansi(io::stderr().is_terminal()).try_init(),
            LogFormat::Json => lines.json().flatten_event(true).try_init(),
        };
    }
}
