use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Scripts as they run, and where what they are made of stands: what was transformed in memory carries a map of
/// its sources (ECMA-426).
#[derive(Default)]
pub(super) struct SourceLines {
    scripts: HashMap<String, (String, String)>,
}

impl SourceLines {
    pub(super) fn add(&mut self, script: String, url: &str, map: &str) {
        self.scripts
            .insert(script, (url.to_owned(), map.to_owned()));
    }

    /// The file and the place in it, counted from 1, of one in a script, counted from 0; `None` for what is of
    /// the runtime itself.
    pub(super) fn place(
        &self,
        script: &str,
        line: usize,
        column: usize,
    ) -> Option<(String, usize, usize)> {
        let (url, map) = self.scripts.get(script)?;
        let file = url.strip_prefix("file://").unwrap_or(url);
        let file = file.split('?').next().unwrap_or(file);
        if !file.starts_with('/') {
            return None;
        }
        let (line, column) = mapped(map, line, column).unwrap_or((line, column));
        Some((file.replace("%20", " "), line + 1, column + 1))
    }
}

// The line and the column of the one source that a map is of.
fn mapped(url: &str, line: usize, column: usize) -> Option<(usize, usize)> {
    let (head, data) = url.strip_prefix("data:application/json")?.split_once(',')?;
    let bytes = head
        .ends_with(";base64")
        .then(|| STANDARD.decode(data).ok())
        .flatten()?;
    let map: Value = serde_json::from_slice(&bytes).ok()?;
    if map["sources"].as_array()?.len() != 1 {
        return None;
    }
    let (mut source_line, mut source_column) = (0, 0);
    let mut found = None;
    for (row, segments) in map["mappings"].as_str()?.split(';').enumerate() {
        let mut at = 0;
        for segment in segments.split(',').filter(|it| !it.is_empty()) {
            // Where in the row, of which source, its line, its column: each as far as it is from the one before.
            let numbers = numbers(segment)?;
            at += numbers.first()?;
            if let [_, _, lines, columns, ..] = numbers.as_slice() {
                source_line += lines;
                source_column += columns;
                let before = usize::try_from(at).is_ok_and(|it| it <= column);
                if row == line && (before || found.is_none()) {
                    found = Some((source_line, source_column));
                }
            }
        }
        if row >= line {
            break;
        }
    }
    let (line, column) = found?;
    Some((usize::try_from(line).ok()?, usize::try_from(column).ok()?))
}

// Digits of six bits, the lowest first: one says whether more follow, the lowest of the number is its sign.
fn numbers(segment: &str) -> Option<Vec<i64>> {
    const DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut found = Vec::new();
    let (mut value, mut shift) = (0_i64, 0_u32);
    for digit in segment.chars() {
        let bits = i64::try_from(DIGITS.find(digit)?).ok()?;
        value += (bits & 31).checked_shl(shift)?;
        shift += 5;
        if bits & 32 == 0 {
            found.push(if value & 1 == 1 {
                -(value >> 1)
            } else {
                value >> 1
            });
            (value, shift) = (0, 0);
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::{SourceLines, numbers};

    #[test]
    fn a_place_of_what_was_transformed_is_that_of_its_source() {
        assert_eq!(numbers("AAgBC"), Some(vec![0, 0, 16, 1]));
        assert_eq!(numbers("D"), Some(vec![-1]));
        // The second row is the fourth line of the source.
        let map = STANDARD.encode(r#"{"sources": ["a.ts"], "mappings": ";AAGA,IAAI"}"#);
        let mut lines = SourceLines::default();
        let url = format!("data:application/json;charset=utf-8;base64,{map}");
        lines.add("a".to_owned(), "file:///w/a.ts", &url);
        lines.add("b".to_owned(), "/w/b.js", "");
        lines.add("c".to_owned(), "node:internal/timers", "");
        assert_eq!(lines.place("a", 1, 6), Some(("/w/a.ts".to_owned(), 4, 5)));
        assert_eq!(lines.place("a", 1, 0), Some(("/w/a.ts".to_owned(), 4, 1)));
        assert_eq!(lines.place("b", 6, 1), Some(("/w/b.js".to_owned(), 7, 2)));
        assert_eq!(lines.place("c", 1, 1), None);
        assert_eq!(lines.place("d", 1, 1), None);
    }
}
