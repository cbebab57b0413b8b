//! Compares versions by their numbers.

use crate::runners::pattern;

pattern!(NUMBERS, r"[0-9]+(?:\.[0-9]+)*");

/// Checks whether a version is below the least of a range: `>=3.12`, `^22`, `22.x`. `None` where a range has none.
pub fn is_below(version: &str, range: &str) -> Option<bool> {
    let least = version_numbers(range).filter(|_| !range.trim().starts_with(['<', '!']))?;
    Some(version_numbers(version)? < least)
}

/// Returns the first version in a text.
pub fn first_version(text: &str) -> Option<&str> {
    Some(NUMBERS.find(text)?.as_str())
}

fn version_numbers(text: &str) -> Option<Vec<u32>> {
    let parts = first_version(text)?.split('.');
    let mut parts: Vec<u32> = parts.map_while(|part| part.parse().ok()).collect();
    while parts.last() == Some(&0) {
        parts.pop();
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, range, expected) in [
            ("3.11.2", ">=3.12", Some(true)),
            ("3.12.0", ">=3.9,<4", Some(false)),
            ("20.1.0", "^22", Some(true)),
            ("22.1.0", "22.x", Some(false)),
            ("20.1.0", "<22", None),
            ("13", ">=13.0", Some(false)),
            ("0.1a1", ">=0.1", Some(false)),
        ] {
            assert_eq!(is_below(version, range), expected, "{version} {range}");
        }
    }
}
