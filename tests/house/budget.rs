//! The caps of `budget.toml`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::sources::{module_of, sources};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Budget {
    /// Groups of modules that were rewritten: these stay below their cap.
    enforced: Vec<String>,
    /// Code lines by group: names of modules with spaces between, or `everything`.
    caps: BTreeMap<String, usize>,
}

#[test]
fn enforced_modules_stay_below_their_cap() {
    let budget: Budget = toml::from_str(include_str!("../../budget.toml")).unwrap();
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for (path, text) in sources() {
        let count = code_lines(&text);
        *lines.entry("everything").or_default() += count;
        let Some(module) = module_of(&path) else {
            continue;
        };
        let group = budget.caps.keys().find(|group| group.split(' ').any(|name| name == module));
        let group = group.unwrap_or_else(|| panic!("{module} has no cap in budget.toml"));
        *lines.entry(group).or_default() += count;
    }
    for group in &budget.enforced {
        let cap = budget.caps[group];
        let count = lines.get(group.as_str()).copied().unwrap_or_default();
        assert!(
            count <= cap,
            "{group}: {count} code lines, its cap is {cap}"
        );
    }
}

#[test]
fn code_lines_exclude_blanks_comments_and_tests() {
    let text = "// a comment\n\nfn f() {\n    // why\n    1\n}\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
    assert_eq!(code_lines(text), 3);
}

/// Counts lines that are neither blank, nor comments, nor items under `#[cfg(test)]`.
fn code_lines(text: &str) -> usize {
    let mut lines = text.lines();
    let mut count = 0;
    while let Some(line) = lines.next() {
        let bare = line.trim();
        if bare.starts_with("#[cfg(test)]") {
            // rustfmt puts the closing brace of an item below its first word.
            let end = format!("{}}}", &line[..line.len() - bare.len()]);
            let mut is_open = false;
            for line in lines.by_ref() {
                is_open |= line.ends_with('{');
                let is_whole = !is_open && line.ends_with([';', '}', ',']);
                if is_whole || is_open && line.trim_end_matches([';', ',']) == end {
                    break;
                }
            }
        } else if !bare.is_empty() && !bare.starts_with("//") {
            count += 1;
        }
    }
    count
}
