use schemars::JsonSchema;
use serde::Serialize;

/// The page of `mendit explain` for a code, kind, category, level, stop reason or verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Page {
    /// The code or word as documents spell it.
    pub name: &'static str,
    /// `code`, `kind`, `category`, `level`, `stop` or `verdict`.
    pub family: &'static str,
    /// One line: what it means.
    pub title: &'static str,
    /// Markdown: why, and what to do.
    pub body: &'static str,
}

/// One Markdown file per family; a page starts with `## CODE title` or `## FAMILY WORD: title`.
const FILES: &[&str] = &[
    include_str!("codes/context.md"),
    include_str!("codes/fixtures.md"),
    include_str!("codes/policy.md"),
    include_str!("codes/mend.md"),
    include_str!("codes/patch.md"),
    include_str!("codes/runner.md"),
    include_str!("codes/usage.md"),
    include_str!("codes/loop.md"),
    include_str!("codes/words.md"),
];

fn pages() -> impl Iterator<Item = Page> {
    let pages = FILES.iter().flat_map(|file| file.split("\n## ").skip(1));
    pages.filter_map(|page| {
        let (head, body) = page.split_once('\n')?;
        let (first, rest) = head.split_once(' ')?;
        let (name, family, title) = match rest.split_once(": ") {
            Some((word, title)) if first.starts_with(char::is_lowercase) => (word, first, title),
            _ => (first, "code", rest),
        };
        Some(Page {
            name,
            family,
            title,
            body: body.trim(),
        })
    })
}

/// Returns the page of every code, by name.
pub fn code_pages() -> Vec<Page> {
    let mut codes: Vec<Page> = pages().filter(|page| page.family == "code").collect();
    codes.sort_by_key(|page| page.name);
    codes
}

/// Finds the page of a code or word, however it is typed: `p401`, `test-failure`, `level 2`.
pub fn page(word: &str) -> Option<Page> {
    let typed = plain(word);
    pages().find(|page| {
        let name = page.name.to_ascii_lowercase();
        name == typed || format!("{}_{name}", page.family) == typed
    })
}

/// Finds the code or word that is most like what was typed; `None` when none is close.
pub fn nearest_page(word: &str) -> Option<&'static str> {
    let typed = plain(word);
    let allowed = (typed.len() / 3).max(1);
    let names = pages().map(|page| {
        let known = page.name.to_ascii_lowercase();
        (strsim::damerau_levenshtein(&typed, &known), page.name)
    });
    let close = names.filter(|(distance, known)| *distance <= allowed && *distance < known.len());
    close
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

fn plain(word: &str) -> String {
    word.trim().to_ascii_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::{JsonSchema, schema_for};

    use super::{Page, code_pages, nearest_page, page, pages};
    use crate::model::{Category, FailureKind, Level, StopReason, Verdict};

    fn words() -> impl Iterator<Item = Page> {
        pages().filter(|page| page.family != "code")
    }

    // The words that a type is written with.
    fn words_of<T: JsonSchema>() -> Vec<String> {
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
        let kinds = words_of::<FailureKind>();
        let verdicts = words_of::<Verdict>();
        assert!(
            kinds.len() > 25 && verdicts.len() > 9,
            "{kinds:?}{verdicts:?}"
        );
        let levels = (0..).map_while(Level::from_number).map(|it| it.to_string());
        let named = |family: &'static str| move |word: String| format!("{family} {word}");
        let known: BTreeSet<String> = kinds
            .into_iter()
            .map(named("kind"))
            .chain(verdicts.into_iter().map(named("verdict")))
            .chain(words_of::<Category>().into_iter().map(named("category")))
            .chain(words_of::<StopReason>().into_iter().map(named("stop")))
            .chain(levels.map(named("level")))
            .collect();
        let pages: Vec<String> = words()
            .map(|page| format!("{} {}", page.family, page.name))
            .collect();
        assert_eq!(pages.len(), known.len());
        assert_eq!(pages.into_iter().collect::<BTreeSet<_>>(), known);
        assert!(words().all(|page| page.title.len() > 5 && page.body.len() > 10));
        assert!(
            code_pages()
                .iter()
                .all(|page| page.title.len() > 2 && page.body.len() > 40)
        );
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
            assert_eq!(page(typed).map(|page| page.name), Some(name), "{typed}");
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
