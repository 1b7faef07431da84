//! Tokens: who may come in, as what, into which account. Only their SHA-256 is kept.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::domain::ids::MachineId;

/// Tokens a file may list.
pub const TOKENS_MAX: usize = 500_000;

/// Begins every token this program makes, so that secret scanners and people recognize one.
pub const PREFIX: &str = "kura_";

/// What the bearer of a token may do. Each reader may do what the ones before it may; an agent only speaks for machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TokenRole {
    /// Look.
    Viewer,
    /// Act.
    Operator,
    /// Act, and configure the account.
    Owner,
    /// Poll and report.
    Agent,
}

impl TokenRole {
    /// Every role, as `--create-tokens` makes them.
    pub const ALL: [Self; 4] = [Self::Viewer, Self::Operator, Self::Owner, Self::Agent];

    /// Its word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Owner => "owner",
            Self::Agent => "agent",
        }
    }
}

/// One token as a file lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    /// What the journal calls its bearer.
    pub name: String,
    /// What it may do.
    pub role: TokenRole,
    /// The name of the account it belongs to.
    #[serde(default = "default_account")]
    pub account: String,
    /// Agents only: the one machine it speaks for. Without it the agent says so in `X-Machine`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineId>,
    /// SHA-256 of the token, in hex.
    pub sha256: String,
}

/// The account of a file that names none.
pub fn default_account() -> String {
    "default".to_owned()
}

/// Why a file of tokens cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct TokensError {
    /// 1-based; 0 = the file as a whole.
    pub line: u64,
    /// One sentence that shows no token.
    pub problem: String,
}

/// Every token that is let in.
#[derive(Debug, Clone, Default)]
pub struct Tokens {
    /// By the first bytes of the digest, which a guess learns nothing from; the rest is compared in constant time.
    by_prefix: BTreeMap<[u8; 4], Vec<(Fingerprint, TokenEntry)>>,
}

/// SHA-256 of a token.
pub type Fingerprint = [u8; 32];

impl Tokens {
    /// Reads a file: a YAML list of entries, or one JSON object per line.
    pub fn parse(text: &str) -> Result<Self, TokensError> {
        Self::of(entries(text)?)
    }

    /// From entries and the lines they stand on.
    pub fn of(entries: Vec<(u64, TokenEntry)>) -> Result<Self, TokensError> {
        let wrong = |line: u64, problem: String| Err(TokensError { line, problem });
        if entries.is_empty() {
            return wrong(0, "it lists no token, so nobody could come in".to_owned());
        }
        if entries.len() > TOKENS_MAX {
            return wrong(0, format!("it lists more than {TOKENS_MAX} tokens"));
        }
        let mut tokens = Self::default();
        for (line, entry) in entries {
            let Some(fingerprint) = from_hex(&entry.sha256) else {
                return wrong(line, format!("the sha256 of {} is not 64 hex digits", shown(&entry.name)));
            };
            if !is_name(&entry.name) || !is_name(&entry.account) {
                return wrong(line, "name and account are 1 to 100 printable characters".to_owned());
            }
            if entry.machine.is_some() && entry.role != TokenRole::Agent {
                return wrong(line, format!("{} is no agent, so it cannot be bound to a machine", shown(&entry.name)));
            }
            let known = tokens.by_prefix.entry(prefix(&fingerprint)).or_default();
            if let Some((_, twin)) = known.iter().find(|(other, _)| *other == fingerprint) {
                return wrong(line, format!("{} has the token of {}", shown(&entry.name), shown(&twin.name)));
            }
            known.push((fingerprint, entry));
        }
        Ok(tokens)
    }

    /// The entry of a token that somebody shows. Takes as long for a wrong one as for a right one.
    pub fn find(&self, token: &str) -> Option<&TokenEntry> {
        let shown = fingerprint(token);
        let candidates = self.by_prefix.get(&prefix(&shown))?;
        let mut found = None;
        for (known, entry) in candidates {
            if is_same(known, &shown) {
                found = Some(entry);
            }
        }
        found
    }

    /// True while a token with this digest is let in.
    pub fn knows(&self, token: &Fingerprint) -> bool {
        let known = self.by_prefix.get(&prefix(token));
        known.is_some_and(|known| known.iter().any(|(other, _)| is_same(other, token)))
    }

    /// Names of the accounts, sorted.
    pub fn accounts(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.by_prefix.values().flatten().map(|(_, entry)| entry.account.clone()).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// A token that was just made; it is shown once.
#[derive(Clone)]
pub struct NewToken {
    /// How it is listed.
    pub entry: TokenEntry,
    /// What its bearer sends.
    pub secret: String,
}

impl NewToken {
    /// Makes one: 256 random bits.
    pub fn make(name: &str, role: TokenRole, account: &str) -> Self {
        let mut hash = Sha256::new();
        // Three of them carry 366 bits from the operating system.
        (0..3).for_each(|_| hash.update(Uuid::new_v4().as_bytes()));
        let secret = format!("{PREFIX}{}", hex(&hash.finalize()));
        let sha256 = hex(&fingerprint(&secret));
        let (name, account) = (name.to_owned(), account.to_owned());
        Self { entry: TokenEntry { name, role, account, machine: None, sha256 }, secret }
    }
}

/// The file that lists these tokens.
pub fn file_of(tokens: &[NewToken]) -> String {
    let mut text = String::from(
        "# Who may come in. Only the SHA-256 of each token is kept: printf %s TOKEN | sha256sum\n\
         # role: viewer, operator, owner or agent. An agent may be bound to one machine: machine: UUID\n",
    );
    for NewToken { entry, .. } in tokens {
        text += &entry.yaml();
    }
    text
}

impl TokenEntry {
    /// How a YAML file lists it.
    pub fn yaml(&self) -> String {
        let Self { name, role, account, machine, sha256 } = self;
        let (name, account, role) = (quoted(name), quoted(account), role.word());
        let mut text = format!("- name: {name}\n  role: {role}\n  account: {account}\n");
        if let Some(machine) = machine {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "  machine: {machine}");
        }
        text + &format!("  sha256: \"{sha256}\"\n")
    }
}

/// A word as it is, anything else in quotes: a JSON text is a YAML text.
fn quoted(text: &str) -> String {
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@'))
        && !["true", "false", "null", "yes", "no", "on", "off"].contains(&text.to_ascii_lowercase().as_str());
    if is_word { text.to_owned() } else { serde_json::Value::from(text).to_string() }
}

/// The entries of a file and the lines they begin on.
pub fn entries(text: &str) -> Result<Vec<(u64, TokenEntry)>, TokensError> {
    if is_json_lines(text) { json_lines(text) } else { yaml(text) }
}

/// One JSON object per line, not YAML.
pub fn is_json_lines(text: &str) -> bool {
    text.trim_start().starts_with('{')
}

fn json_lines(text: &str) -> Result<Vec<(u64, TokenEntry)>, TokensError> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let read = |(line, text): (u64, &str)| match serde_json::from_str(text) {
        Ok(entry) => Ok((line, entry)),
        Err(error) => Err(TokensError { line, problem: words(&error.to_string()) }),
    };
    lines.map(read).collect()
}

fn yaml(text: &str) -> Result<Vec<(u64, TokenEntry)>, TokensError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let read: Result<Vec<serde_yaml::Spanned<TokenEntry>>, _> = serde_yaml::from_str(text);
    match read {
        Ok(entries) => Ok(entries.into_iter().map(|entry| (entry.referenced.line(), entry.value)).collect()),
        Err(error) => {
            let line = error.location().map_or(0, |place| place.line());
            Err(TokensError { line, problem: words(&error.to_string()) })
        }
    }
}

/// The first line of what a parser said: the others quote the file, and somebody may have put a token into it.
fn words(said: &str) -> String {
    let first = said.lines().next().unwrap_or("it cannot be read");
    let safe = |word: &str| word.len() < 40 || !word.bytes().any(|byte| byte.is_ascii_digit());
    first.split(' ').map(|word| if safe(word) { word } else { "(hidden)" }).collect::<Vec<_>>().join(" ")
}

fn shown(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(100).collect()
}

fn is_name(name: &str) -> bool {
    (1..=100).contains(&name.chars().count()) && !name.chars().any(char::is_control)
}

/// What is kept of a token.
pub fn fingerprint(token: &str) -> Fingerprint {
    Sha256::digest(token.as_bytes()).into()
}

fn prefix(fingerprint: &Fingerprint) -> [u8; 4] {
    let [a, b, c, d, ..] = *fingerprint;
    [a, b, c, d]
}

/// Compares every byte, whatever the first ones say.
fn is_same(a: &Fingerprint, b: &Fingerprint) -> bool {
    let difference = a.iter().zip(b).fold(0_u8, |difference, (a, b)| difference | (a ^ b));
    std::hint::black_box(difference) == 0
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Fingerprint> {
    let text = text.trim();
    if text.len() != 64 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 32];
    for (n, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * n..2 * n + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made() -> Vec<NewToken> {
        TokenRole::ALL.iter().map(|role| NewToken::make(&format!("{}-1", role.word()), *role, "default")).collect()
    }

    #[test]
    fn what_is_made_is_found_again_and_nothing_else() {
        let made = made();
        let text = file_of(&made);
        let tokens = Tokens::parse(&text).unwrap();
        for token in &made {
            assert_eq!(tokens.find(&token.secret), Some(&token.entry));
            assert!(!text.contains(&token.secret), "the file must not hold a token");
        }
        assert_eq!(tokens.find(&made[0].secret.to_uppercase()), None);
        assert_eq!(tokens.find(""), None);
        assert_eq!(tokens.accounts(), ["default"]);
        assert_eq!(made[0].secret.len(), PREFIX.len() + 64);
    }

    #[test]
    fn json_lines_are_read_as_well() {
        let made = made();
        let lines: Vec<String> = made.iter().map(|t| serde_json::to_string(&t.entry).unwrap()).collect();
        let tokens = Tokens::parse(&lines.join("\n")).unwrap();
        assert_eq!(tokens.find(&made[3].secret).unwrap().role, TokenRole::Agent);
    }

    #[test]
    fn a_wrong_file_names_the_line() {
        let good = made();
        let line_of = |text: &str| Tokens::parse(text).unwrap_err().line;
        let entry =
            |role: &str, more: &str, sha: &str| format!("- name: x\n  role: {role}\n  sha256: \"{sha}\"\n{more}");
        let sha = &good[0].entry.sha256;
        let file = file_of(&good);
        assert_eq!(line_of(&format!("{file}{}", entry("viewer", "", "abc"))), 19);
        assert_eq!(line_of(&format!("{file}{}", entry("viewer", "", sha))), 19, "the same token twice");
        assert_eq!(line_of(&entry("boss", "", &"0".repeat(64))), 2);
        let bound = format!("  machine: {}\n", Uuid::nil());
        assert_eq!(line_of(&entry("viewer", &bound, &"0".repeat(64))), 1);
        assert_eq!(line_of("{\"name\":\"x\"}"), 1);
        assert_eq!(line_of("# nothing\n[]\n"), 0);
        assert_eq!(line_of(""), 0);
    }

    #[test]
    fn an_error_never_repeats_what_looks_like_a_token() {
        let secret = &made()[0].secret;
        for text in [format!("- {secret}\n"), format!("- name: x\n  role: {secret}\n  sha256: a\n"), secret.clone()] {
            let error = Tokens::parse(&text).unwrap_err().to_string();
            assert!(!error.contains(secret.as_str()), "{error}");
        }
    }
}
