use std::sync::LazyLock;

/// The rules that have a pattern, in the order of the table.
pub(super) fn formats() -> impl Iterator<Item = &'static Rule> {
    TABLE.iter().filter(|rule| !rule.pattern.is_empty())
}

/// The page of a rule: what it masks, what that opens, an example and a look-alike.
#[must_use]
pub fn secret_rule_page(id: &str) -> Option<String> {
    let rule = TABLE.iter().find(|rule| rule.id == id)?;
    let mut page = format!(
        "{}\n\n{}\n\nMask: [REDACTED:{}]\n",
        rule.id, rule.why, rule.id
    );
    for (name, text) in [
        ("Format", rule.pattern.clone()),
        ("Masked", rule.example()),
        ("Kept", rule.lookalike()),
    ] {
        if !text.is_empty() {
            page.push_str(&format!("{name}: {}\n", text.replace('\n', "\n  ")));
        }
    }
    Some(page)
}

/// The ids of all rules, in the order of the table.
#[must_use]
pub fn secret_rule_ids() -> Vec<&'static str> {
    TABLE.iter().map(|rule| rule.id.as_str()).collect()
}

#[derive(serde::Deserialize)]
struct File {
    rule: Vec<Rule>,
}

// The files are part of the program, and a test reads each.
static TABLE: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let files = FILES
        .iter()
        .filter_map(|(_, text)| crate::model::read_table::<File>(text).ok());
    files.flat_map(|file| file.rule).collect()
});

macro_rules! table {
    ($name:literal) => {
        ($name, embedded!("policy/secrets/rules/", $name))
    };
}

const FILES: &[(&str, &str)] = &[
    table!("ai.toml"),
    table!("cloud.toml"),
    table!("formats.toml"),
    table!("hosts.toml"),
    table!("messages.toml"),
    table!("packages.toml"),
    table!("payments.toml"),
    table!("services.toml"),
    table!("surroundings.toml"),
];

/// One row of the table in `rules/*.toml`.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// The name that stands in the mask.
    pub(super) id: String,
    /// Fixed texts, any of which makes the rule worth asking. Compared with regard to case.
    #[serde(default)]
    pub(super) starts: Vec<String>,
    /// A regular expression of the whole secret, without anchors. Empty for a rule that judges the
    /// place of a value instead.
    #[serde(default)]
    pub(super) pattern: String,
    /// At most this many bytes of the secret stand before the fixed text.
    #[serde(default)]
    pub(super) back: usize,
    /// Whether a letter or digit right before the secret rules it out. Only for starts that turn up
    /// inside ordinary words or base64: logs often put a letter directly before a token.
    #[serde(default)]
    pub(super) word: bool,
    /// A secret of this format. A backtick in it is dropped; it keeps scanners from taking the
    /// example for a live token.
    #[serde(default)]
    pub(super) example: String,
    /// What looks like one and is none; a backtick is dropped here too.
    #[serde(default)]
    pub(super) lookalike: String,
    /// What the secret opens, in a sentence.
    pub(super) why: String,
}

impl Rule {
    /// The example as it stands in a text.
    pub(super) fn example(&self) -> String {
        self.example.replace('`', "")
    }

    /// The look-alike as it stands in a text.
    fn lookalike(&self) -> String {
        self.lookalike.replace('`', "")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{FILES, File, TABLE, formats, secret_rule_page};
    use crate::policy::Redactor;

    #[test]
    fn every_file_is_read() {
        for (_, text) in FILES {
            crate::model::read_table::<File>(text).unwrap();
        }
    }

    #[test]
    fn every_rule_masks_its_example_and_keeps_its_lookalike() {
        let redactor = Redactor::default();
        let mut wrong = Vec::new();
        for rule in TABLE.iter().filter(|rule| !rule.example.is_empty()) {
            let mask = format!("[REDACTED:{}]", rule.id);
            let example = rule.example();
            let whole = rule.pattern.is_empty();
            let dresses = [
                example.clone(),
                format!("at \"{example}\","),
                format!("log: {example}\n"),
            ];
            for text in dresses.iter().take(if whole { 1 } else { 3 }) {
                let redacted = redactor.redact(text).text;
                if redacted.contains(&example) || (whole && !redacted.contains(&mask)) {
                    wrong.push(format!("{} leaves {text}", rule.id));
                }
            }
            let lookalike = rule.lookalike();
            let text = if whole {
                lookalike.clone()
            } else {
                format!("see {lookalike} here")
            };
            if redactor.redact(&text).text != text {
                wrong.push(format!("{} takes {text}", rule.id));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn every_format_has_an_example_that_it_fits() {
        for rule in formats() {
            let pattern = regex::Regex::new(&format!("^(?:{})$", rule.pattern)).unwrap();
            assert!(pattern.is_match(&rule.example()), "{}", rule.id);
            let starts = rule.starts.iter();
            let started = |start: &String| rule.example().find(start.as_str());
            let at = starts.filter_map(started).min();
            assert!(at.is_some_and(|at| at <= rule.back), "{}", rule.id);
            assert!(!rule.lookalike.is_empty(), "{}", rule.id);
        }
    }

    #[test]
    fn ids_are_unique_and_start_no_rule() {
        let ids: BTreeSet<_> = TABLE.iter().map(|rule| &rule.id).collect();
        assert_eq!(ids.len(), TABLE.len());
        let redactor = Redactor::default();
        for id in ids {
            let mask = format!("[REDACTED:{id}]=[REDACTED:{id}]");
            assert_eq!(redactor.redact(&mask).text, mask);
        }
    }

    #[test]
    fn every_rule_has_a_page() {
        for rule in TABLE.iter() {
            let page = secret_rule_page(&rule.id).unwrap();
            assert!(
                page.contains(&rule.why) && rule.why.ends_with('.'),
                "{page}"
            );
        }
        assert_eq!(secret_rule_page("no-such-rule"), None);
    }
}
