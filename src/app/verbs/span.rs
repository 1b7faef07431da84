//! Spans and ladders as people type them.

use crate::domain::fleet::Rung;
use crate::domain::span::Seconds;

/// Reads `90`, `90s`, `2m`, `1h30m` or `2d`; a number without a unit is seconds.
///
/// # Errors
/// One sentence that says how it is written.
pub fn seconds(text: &str) -> Result<Seconds, String> {
    let wrong = || format!("{text} is no span: write it like 90, 90s, 2m or 1h30m");
    if let Ok(plain) = text.parse() {
        return Ok(Seconds(plain));
    }
    let (mut total, mut digits) = (0_u64, String::new());
    for letter in text.chars().filter(|letter| *letter != ' ') {
        if letter.is_ascii_digit() {
            digits.push(letter);
            continue;
        }
        let unit = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)].iter().find(|(unit, _)| *unit == letter);
        let part = unit.zip(digits.parse::<u64>().ok()).and_then(|((_, unit), count)| count.checked_mul(*unit));
        total = part.and_then(|part| total.checked_add(part)).ok_or_else(wrong)?;
        digits.clear();
    }
    if digits.is_empty() && !text.trim().is_empty() { Ok(Seconds(total)) } else { Err(wrong()) }
}

/// Reads a step of a ladder, such as `10m:50`: after that long, so many percent.
///
/// # Errors
/// One sentence that says how it is written.
pub fn rung(text: &str) -> Result<Rung, String> {
    let wrong = || format!("{text} is no step of a ladder: write them like 0:10,10m:50,1h:100");
    let (after, percent) = text.split_once(':').ok_or_else(wrong)?;
    let pct = percent.trim_end_matches('%').parse().map_err(|_| wrong())?;
    Ok(Rung { after_seconds: seconds(after)?.0, pct })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_people_write_them() {
        let read: Vec<u64> = ["0", "90", "90s", "2m", "1h30m", "1h 30m", "2d"].map(|t| seconds(t).unwrap().0).to_vec();
        assert_eq!(read, [0, 90, 90, 120, 5_400, 5_400, 172_800]);
        for wrong in ["", " ", "m", "5x", "1h30", "-1", "99999999999999999999", "9999999999999999999d"] {
            assert!(seconds(wrong).unwrap_err().contains("write it like"), "{wrong}");
        }
    }

    #[test]
    fn a_span_that_was_printed_is_read_again() {
        for span in [0, 48, 250, 5_400, 180_000] {
            assert_eq!(seconds(&Seconds(span).to_string()), Ok(Seconds(span)));
        }
    }

    #[test]
    fn a_step_of_a_ladder_is_a_span_and_a_percentage() {
        assert_eq!(rung("10m:50%"), Ok(Rung { after_seconds: 600, pct: 50 }));
        for wrong in ["", "50", "10m:", "10m:many", "x:5", "0:300"] {
            assert!(rung(wrong).is_err(), "{wrong}");
        }
    }
}
