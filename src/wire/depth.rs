//! How deep the JSON of a body nests: what is kept of it is wrapped a few more times before it is read again.

use super::problem::{Problem, ProblemKind};

/// Deepest nesting of a body. What is accepted stands in the journal, in snapshots, in the audit and in the world of
/// every replica, several levels deeper each time, and readers of JSON give up at 128 levels.
pub const DEPTH_MAX: usize = 32;

/// Refuses a body that nests deeper than `DEPTH_MAX`; 422.
pub fn check_depth(bytes: &[u8]) -> Result<(), Problem> {
    if deepest(bytes) <= DEPTH_MAX {
        return Ok(());
    }
    let message = format!("the body nests more than {DEPTH_MAX} levels deep");
    Err(Problem::new(ProblemKind::Malformed, "too_deep", message).hint("flatten it: values are for settings"))
}

/// Levels of arrays and objects; brackets within texts do not count.
fn deepest(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest, mut within, mut escaped) = (0_usize, 0, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if within => escaped = true,
            b'"' => within = !within,
            _ if within => {}
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> String {
        format!("{}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn levels_are_counted_outside_of_texts_only() {
        assert_eq!(deepest(br#"{"a":[{"b":1}],"c":[2]}"#), 3);
        assert_eq!(deepest(br#"{"a":"[[[[\"[[{{","b":"\\"}"#), 1);
        assert_eq!(deepest(b""), 0);
    }

    #[test]
    fn the_deepest_that_is_taken_can_be_read_when_it_is_wrapped_again() {
        assert!(check_depth(nested(DEPTH_MAX).as_bytes()).is_ok());
        assert_eq!(check_depth(nested(DEPTH_MAX + 1).as_bytes()).unwrap_err().kind.status(), 422);
        let wrapped = format!("{}{}{}", "[".repeat(64), nested(DEPTH_MAX), "]".repeat(64));
        assert!(serde_json::from_str::<serde_json::Value>(&wrapped).is_ok());
    }
}
