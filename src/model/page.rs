use schemars::JsonSchema;
use serde::Serialize;

use super::{Code, CodePage, explain};

/// A page about a code, or about a word that documents use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Page {
    /// Of a code.
    Code(CodePage),
    /// Of a word.
    Word(WordPage),
}

/// The page of `mendit explain` for a kind, category, level, stop reason or verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WordPage {
    /// The word as documents spell it.
    pub word: &'static str,
    /// What it is one of: `kind`, `category`, `level`, `stop` or `verdict`.
    pub family: &'static str,
    /// One line: what it means.
    pub title: &'static str,
    /// Markdown: more about it.
    pub body: &'static str,
}

impl Page {
    /// The code or word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Code(page) => page.code.as_str(),
            Self::Word(page) => page.word,
        }
    }

    /// One line.
    #[must_use]
    pub fn title(&self) -> &'static str {
        match self {
            Self::Code(page) => page.title,
            Self::Word(page) => page.title,
        }
    }

    /// Markdown.
    #[must_use]
    pub fn body(&self) -> &'static str {
        match self {
            Self::Code(page) => page.body,
            Self::Word(page) => page.body,
        }
    }
}

/// The page of a code, kind, category, level, stop reason or verdict, however it is typed: `p401`,
/// `test-failure`, `level 2`.
#[must_use]
pub fn page(word: &str) -> Option<Page> {
    if let Some(page) = explain(word) {
        return Some(Page::Code(page));
    }
    let typed = plain(word);
    word_pages()
        .find(|page| page.word == typed || format!("{}_{}", page.family, page.word) == typed)
        .map(Page::Word)
}

/// The code or word that is most like what was typed; `None` when none is close.
#[must_use]
pub fn nearest_page(word: &str) -> Option<&'static str> {
    let typed = plain(word);
    let allowed = (typed.len() / 3).max(1);
    let codes = Code::ALL.iter().map(|code| code.as_str());
    codes
        .chain(word_pages().map(|page| page.word))
        .map(|known| {
            let distance = strsim::damerau_levenshtein(&typed, &known.to_ascii_lowercase());
            (distance, known)
        })
        .filter(|(distance, known)| *distance <= allowed && *distance < known.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

fn plain(word: &str) -> String {
    let word = word.trim().to_ascii_lowercase();
    word.replace(['-', ' '], "_")
}

/// Every page of a word, families together.
pub fn word_pages() -> impl Iterator<Item = WordPage> {
    include_str!("codes/words.md")
        .split("\n## ")
        .skip(1)
        .filter_map(|page| {
            let (head, body) = page.split_once('\n')?;
            let (name, title) = head.split_once(": ")?;
            let (family, word) = name.split_once(' ')?;
            Some(WordPage {
                word,
                family,
                title,
                body: body.trim(),
            })
        })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::{JsonSchema, schema_for};

    use super::{nearest_page, page, word_pages};
    use crate::model::{Category, FailureKind, Level, StopReason, Verdict};

    // The words that a type is written with.
    fn words<T: JsonSchema>() -> Vec<String> {
        let schema = schema_for!(T).to_value();
        // Words without a description of their own stand together, the others alone.
        let groups = schema["oneOf"].as_array().cloned().unwrap_or_default();
        let groups = std::iter::once(&schema).chain(&groups);
        let words = groups.flat_map(|group| {
            let together = group["enum"].as_array().cloned().unwrap_or_default();
            together.into_iter().chain([group["const"].clone()])
        });
        let words: Vec<_> = words.collect();
        let words = words.into_iter();
        words
            .filter_map(|word| Some(word.as_str()?.to_owned()))
            .collect()
    }

    #[test]
    fn every_word_has_one_page_and_no_page_is_for_nothing() {
        let kinds = words::<FailureKind>();
        let verdicts = words::<Verdict>();
        assert!(
            kinds.len() > 25 && verdicts.len() > 7,
            "{kinds:?}{verdicts:?}"
        );
        let levels = (0..).map_while(Level::from_number).map(|it| it.to_string());
        let named = |family: &'static str| move |word: String| format!("{family} {word}");
        let known: BTreeSet<String> = kinds
            .into_iter()
            .map(named("kind"))
            .chain(verdicts.into_iter().map(named("verdict")))
            .chain(words::<Category>().into_iter().map(named("category")))
            .chain(words::<StopReason>().into_iter().map(named("stop")))
            .chain(levels.map(named("level")))
            .collect();
        let pages: Vec<String> = word_pages()
            .map(|page| format!("{} {}", page.family, page.word))
            .collect();
        assert_eq!(pages.len(), known.len());
        assert_eq!(pages.into_iter().collect::<BTreeSet<_>>(), known);
        assert!(word_pages().all(|page| page.title.len() > 5 && page.body.len() > 10));
    }

    #[test]
    fn pages_are_found_however_they_are_typed() {
        for (typed, name) in [
            ("p401", "P401"),
            (" Test-Failure ", "test_failure"),
            ("level 2", "2"),
            ("2", "2"),
            ("applies_mended", "applies_mended"),
            ("stop no_patch", "no_patch"),
            ("category timeout", "timeout"),
            ("tool error", "tool_error"),
        ] {
            assert_eq!(page(typed).map(|page| page.name()), Some(name), "{typed}");
        }
        assert_eq!(page("C999"), None);
    }

    #[test]
    fn what_is_close_is_meant_and_what_is_not_is_not() {
        for (typed, meant) in [
            ("P40l", Some("P401")),
            ("test_failur", Some("test_failure")),
            ("ambigous", Some("ambiguous")),
            ("banana", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest_page(typed), meant, "{typed}");
        }
    }
}
