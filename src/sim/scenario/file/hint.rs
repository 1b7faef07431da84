//! What a person may have meant: the known word that is nearest to an unknown one.

/// A hint to add to a fault; empty where nothing is near.
pub(super) fn meant(unknown: &str, known: &[&str]) -> String {
    match nearest(unknown, known) {
        Some(word) => format!(" (did you mean `{word}`?)"),
        None => String::new(),
    }
}

/// The nearest of the known words, if it is near: a third of its letters may differ.
fn nearest<'a>(unknown: &str, known: &[&'a str]) -> Option<&'a str> {
    let distances = known.iter().map(|word| (distance(unknown, word), *word));
    distances.filter(|(distance, word)| *distance * 3 <= word.len().max(3)).min().map(|(_, word)| word)
}

/// How many letters have to be put in, left out, changed, or swapped with the next one.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut rows = vec![(0..=to.len()).collect::<Vec<usize>>()];
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let changed = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut least = changed.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows.last().and_then(|row| row.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_meant_where_one_is_near() {
        let known = ["bucket", "environment", "hostname", "id", "ring"];
        assert_eq!(meant("buckte", &known), " (did you mean `bucket`?)");
        assert_eq!(meant("host_name", &known), " (did you mean `hostname`?)");
        assert_eq!(meant("enviroment", &known), " (did you mean `environment`?)");
        assert_eq!((meant("wait", &known), meant("", &known)), (String::new(), String::new()));
    }
}
