//! Finds the one thing a name means.

use serde_json::Value;

use super::nouns::Noun;
use super::row::DIGITS;
use crate::wire::problem::{Problem, ProblemKind};

/// Names that are told where one is not known or not clear.
const TOLD_MAX: usize = 8;

/// The one thing of `all` that is called `name`: by its name, its uuid, or at least `DIGITS` digits of it.
///
/// # Errors
/// Where there is none, and where there is more than one: nobody is shown something else than they meant.
pub fn pick<'a>(noun: &Noun, all: &'a [Value], name: &str) -> Result<&'a Value, Problem> {
    match matching(noun, all, name)[..] {
        [one] => Ok(one),
        [] => Err(unknown(noun, all, name)),
        ref several => {
            let mut meant = several.iter().filter(|body| (noun.is_meant)(body));
            match (meant.next(), meant.next()) {
                (Some(one), None) => Ok(one),
                _ => Err(ambiguous(noun, several, name)),
            }
        }
    }
}

/// Everything that may be called `name`.
pub fn matching<'a>(noun: &Noun, all: &'a [Value], name: &str) -> Vec<&'a Value> {
    let digits = digits(name);
    let is_called = |body: &&Value| {
        let begins = |digits: &String| plain(body[noun.id].as_str().unwrap_or_default()).starts_with(digits);
        body[noun.name] == name || called(noun, body) == name || digits.as_ref().is_some_and(begins)
    };
    all.iter().filter(is_called).collect()
}

/// What people call it.
fn called(noun: &Noun, body: &Value) -> String {
    let text = |field: &str| body[field].as_str().unwrap_or_default();
    noun.within.map_or_else(|| text(noun.name).to_owned(), |field| format!("{}/{}", text(field), text(noun.name)))
}

fn plain(uuid: &str) -> String {
    uuid.chars().filter(|c| *c != '-').map(|c| c.to_ascii_lowercase()).collect()
}

fn digits(name: &str) -> Option<String> {
    let digits = plain(name);
    (digits.len() >= DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(digits)
}

fn unknown(noun: &Noun, all: &[Value], name: &str) -> Problem {
    let kind = noun.one;
    let problem = Problem::new(ProblemKind::NotFound, &format!("no_{kind}"), format!("there is no {kind} {name}"));
    if all.is_empty() {
        return problem.hint(noun.empty[0]);
    }
    let mut names: Vec<String> = all.iter().map(|body| called(noun, body)).filter(|known| !known.is_empty()).collect();
    names.sort_by_cached_key(|known| (strsim::osa_distance(known, name), known.clone()));
    names.dedup();
    let rest = names.len().saturating_sub(TOLD_MAX);
    let more = if rest == 0 { String::new() } else { format!(" and {rest} more: kura-console {kind}s") };
    problem.hint(format!("there are {}{more}", names[..names.len() - rest].join(", ")))
}

fn ambiguous(noun: &Noun, several: &[&Value], name: &str) -> Problem {
    let message = format!("{name} can be {} {}s", several.len(), noun.one);
    let problem =
        Problem::new(ProblemKind::Usage, "ambiguous", message).hint(format!("name one of them by its {}", noun.id));
    let text = |body: &Value, field| body[field].as_str().unwrap_or("-").to_owned();
    let told = several.iter().take(TOLD_MAX).map(|body| format!("{} is {}", text(body, noun.id), called(noun, body)));
    told.fold(problem, Problem::hint)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::nouns::{MACHINES, ROLLOUTS};
    use super::super::rolls::ROLLS;
    use super::*;

    const ASH: &str = "11111111-2222-4333-8444-555555555555";
    const BIRCH: &str = "11111111-9999-4333-8444-555555555555";

    fn machines() -> Vec<Value> {
        vec![json!({"uuid": ASH, "hostname": "ash"}), json!({"uuid": BIRCH, "hostname": "birch"})]
    }

    #[test]
    fn a_thing_is_found_by_name_uuid_or_the_digits_that_tell_it_apart() {
        for name in ["birch", BIRCH, "11111111-99", "1111111199994333", &BIRCH.to_uppercase()] {
            assert_eq!(pick(&MACHINES, &machines(), name).unwrap()["hostname"], "birch", "{name}");
        }
    }

    #[test]
    fn what_is_not_clear_is_not_guessed() {
        let problem = pick(&MACHINES, &machines(), "11111111").unwrap_err();
        assert_eq!((problem.kind, problem.code.as_str()), (ProblemKind::Usage, "ambiguous"));
        assert!(problem.hints.iter().any(|hint| hint.contains(ASH)), "{problem:?}");
    }

    #[test]
    fn too_few_digits_name_nothing_and_the_nearest_name_is_told_first() {
        for (name, first) in [("1111111", "ash"), ("birhc", "birch")] {
            let problem = pick(&MACHINES, &machines(), name).unwrap_err();
            assert_eq!(problem.kind, ProblemKind::NotFound);
            assert!(problem.hints[0].starts_with(&format!("there are {first}")), "{problem:?}");
        }
    }

    #[test]
    fn of_rollouts_of_one_release_the_running_one_is_meant() {
        let rollout = |uuid: &str, status: &str| json!({"uuid": uuid, "git_ref": "v1", "status": status});
        let all = [rollout(ASH, "halted"), rollout(BIRCH, "running")];
        assert_eq!(pick(&ROLLOUTS, &all, "v1").unwrap()["uuid"], BIRCH);
        let all = [rollout(ASH, "halted"), rollout(BIRCH, "halted")];
        assert_eq!(pick(&ROLLOUTS, &all, "v1").unwrap_err().code, "ambiguous");
    }

    #[test]
    fn a_roll_is_called_by_its_project_and_its_target_or_by_the_target_alone() {
        let roll = |uuid: &str, ended_at: Value| json!({"uuid": uuid, "project": "kernel", "target": "fleet", "ended_at": ended_at});
        let all = [roll(ASH, json!("2026-08-14T06:00:00Z")), roll(BIRCH, Value::Null)];
        for name in ["kernel/fleet", "fleet"] {
            assert_eq!(pick(&ROLLS, &all, name).unwrap()["uuid"], BIRCH, "{name}");
        }
        let problem = pick(&ROLLS, &all, "kernel/flet").unwrap_err();
        assert_eq!(problem.hints, ["there are kernel/fleet"]);
    }
}
