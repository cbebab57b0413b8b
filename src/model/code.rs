//! Codes and their pages. The pages are Markdown files, so that prose is edited as prose.

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Exit, Severity, StopReason, Verdict, read_table};

macro_rules! codes {
    ($($code:ident)+) => {
        /// The stable name of one reason why something was refused, omitted or corrected.
        ///
        /// The first letter is the family (P patch, M correction, C context, R runner, L loop,
        /// F fixtures, U usage and environment), the first digit the group inside it. Every code
        /// has a page that `mendit explain CODE` prints.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        #[schemars(with = "String", extend("pattern" = "^[A-Z][0-9]{3}$"))]
        #[non_exhaustive]
        pub enum Code {
            $(#[doc = concat!("`mendit explain ", stringify!($code), "`")] $code,)+
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$code),+];

            /// Returns the name, such as `C101`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$code => stringify!($code),)+
                }
            }
        }
    };
}

codes! {
    P102 P103 P104 P106 P107 P201 P202 P205 P206 P208 P303 P305 P306 P307 P308
    P309 P311 P312 P313 P401 P402 P403 P406 P410 P501 P502 P503 P504 P505 P506 P507
    P508 P509 P511 P601 P604 P701 P702 P703 P704 P705 P706 P707 P713
    P708 P709 P711 P712 P801 P802 P901 P902 P903 P904 P905 P906 M101 M104 M201 M205 M301
    M303 M304 M401 M403 M410 M411 M416 M417 C101 C102 C103 C105 C110 C201 C203 C204 C205
    C301 C302 C305 C307 C310 C311 C320 C312 R103 R104 R105 R107 R201 R203 R206 R208 R210
    R211 R212 R213 R214 R301 R303 L101 L103 L105 L106 F101 F301 F302 F304 F305
    F307 F309 F401 U101 U103 U106 U201 U203 U204 U301 U302 U303 U305 U306 U308 U309 U310 U311
}

/// The consequences of a code: a row of `codes.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Consequence {
    codes: Vec<Code>,
    verdict: Option<Verdict>,
    exit: Option<Exit>,
    stop: Option<StopReason>,
    advice: String,
}

#[derive(Deserialize)]
struct Consequences {
    row: Vec<Consequence>,
}

impl Code {
    /// Finds its row; a code without one is a note.
    fn consequence(self) -> &'static Consequence {
        static TABLE: LazyLock<Consequences> = LazyLock::new(|| {
            let table = read_table(embedded!("model/codes.toml"));
            table.expect("the table of codes is read by the tests")
        });
        static NOTE: LazyLock<Consequence> = LazyLock::new(Consequence::default);
        TABLE.row.iter().find(|row| row.codes.contains(&self)).unwrap_or(&NOTE)
    }

    /// Whether it stops something or is only worth knowing.
    pub fn severity(self) -> Severity {
        let row = self.consequence();
        match row.verdict.is_some() || row.exit.is_some() {
            true => Severity::Error,
            false => Severity::Warning,
        }
    }

    /// The verdict on a patch that is refused with it; `None` when it refuses no patch.
    pub fn verdict(self) -> Option<Verdict> {
        self.consequence().verdict
    }

    /// How a command exits that ends with it.
    pub fn exit(self) -> Exit {
        let row = self.consequence();
        row.exit.or(row.verdict.map(Verdict::exit)).unwrap_or(Exit::Yes)
    }

    /// How an attempt at a repair ends that ends with it; `None` when it ends none.
    pub fn stop_reason(self) -> Option<StopReason> {
        let row = self.consequence();
        row.stop.or(row.verdict.map(Verdict::stop_reason))
    }

    /// What to send instead, in a sentence for whoever wrote the patch; empty when it refuses none.
    pub fn advice(self) -> &'static str {
        &self.consequence().advice
    }
}

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
    include_str!("codes/words.md"),
    include_str!("codes/context.md"),
    include_str!("codes/fixtures.md"),
    include_str!("codes/policy.md"),
    include_str!("codes/mend.md"),
    include_str!("codes/patch.md"),
    include_str!("codes/runner.md"),
    include_str!("codes/usage.md"),
    include_str!("codes/loop.md"),
];

fn pages() -> impl Iterator<Item = Page> {
    FILES.iter().flat_map(|file| file.split("\n## ").skip(1)).filter_map(|page| {
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

/// Returns the pages of codes and of kinds of failure, by name.
pub fn code_pages() -> Vec<Page> {
    let mut codes: Vec<Page> =
        pages().filter(|page| ["code", "kind"].contains(&page.family)).collect();
    codes.sort_by_key(|page| page.name);
    codes
}

/// Finds the page of a code or word, however it is typed: `p401`, `test-failure`, `level 2`.
pub fn page(word: &str) -> Option<Page> {
    let typed = plain_word(word);
    pages().find(|page| {
        let rest = typed.strip_prefix(page.family).and_then(|rest| rest.strip_prefix('_'));
        page.name.eq_ignore_ascii_case(&typed)
            || rest.is_some_and(|rest| page.name.eq_ignore_ascii_case(rest))
    })
}

fn plain_word(word: &str) -> String {
    word.trim().to_ascii_lowercase().replace(['-', ' '], "_")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use schemars::{JsonSchema, schema_for};

    use super::{Code, Page, code_pages, page, pages};
    use crate::model::{Category, Exit, FailureKind, Level, Severity, StopReason, Verdict};

    #[test]
    fn exit_row_follows_code() {
        for (code, verdict, exit, stop) in [
            (
                Code::P102,
                Some(Verdict::Malformed),
                Exit::Environment,
                Some(StopReason::NoPatch),
            ),
            (
                Code::P104,
                Some(Verdict::Malformed),
                Exit::No,
                Some(StopReason::PatchInvalid),
            ),
            (
                Code::P401,
                Some(Verdict::ContextNotFound),
                Exit::No,
                Some(StopReason::ApplyFailed),
            ),
            (
                Code::P504,
                Some(Verdict::Unsafe),
                Exit::Refused,
                Some(StopReason::PolicyRejected),
            ),
            (
                Code::P509,
                Some(Verdict::Ambiguous),
                Exit::No,
                Some(StopReason::ApplyFailed),
            ),
            (
                Code::P702,
                Some(Verdict::Refused),
                Exit::Refused,
                Some(StopReason::PolicyRejected),
            ),
            (Code::M401, None, Exit::Yes, None),
            (Code::C110, None, Exit::Refused, None),
            (
                Code::R203,
                None,
                Exit::TimedOut,
                Some(StopReason::CommandTimeout),
            ),
        ] {
            assert_eq!(
                (code.verdict(), code.exit(), code.stop_reason()),
                (verdict, exit, stop),
                "{code}"
            );
        }
    }

    #[test]
    fn refusing_codes_have_advice() {
        for code in Code::ALL.iter().filter(|code| code.verdict().is_some()) {
            assert_eq!(code.severity(), Severity::Error, "{code}");
            assert!(code.advice().ends_with(['.', '`']), "{code}");
            assert_ne!(code.exit(), Exit::Yes, "{code}");
            assert!(!code.verdict().is_some_and(Verdict::applies), "{code}");
        }
    }

    fn words() -> impl Iterator<Item = Page> {
        pages().filter(|page| page.family != "code")
    }

    // The words that a type is written with.
    fn words_of<T: JsonSchema>() -> Vec<String> {
        let schema = schema_for!(T).to_value();
        // Values without a description of their own share one entry.
        let groups = schema["oneOf"].as_array().cloned().unwrap_or_default();
        let groups = std::iter::once(&schema).chain(&groups);
        let words = groups.flat_map(|group| {
            let together = group["enum"].as_array().cloned().unwrap_or_default();
            together.into_iter().chain([group["const"].clone()])
        });
        let words: Vec<_> = words.collect();
        let words = words.into_iter();
        words.filter_map(|word| Some(word.as_str()?.to_owned())).collect()
    }

    #[test]
    fn every_code_has_one_page() {
        let kinds = words_of::<FailureKind>();
        let verdicts = words_of::<Verdict>();
        assert!(
            kinds.len() > 25 && verdicts.len() > 7,
            "{kinds:?}{verdicts:?}"
        );
        let levels = (0..).map_while(Level::from_number).map(|level| level.to_string());
        let named = |family: &'static str| move |word: String| format!("{family} {word}");
        let known: BTreeSet<String> = kinds
            .into_iter()
            .map(named("kind"))
            .chain(verdicts.into_iter().map(named("verdict")))
            .chain(words_of::<Category>().into_iter().map(named("category")))
            .chain(words_of::<StopReason>().into_iter().map(named("stop")))
            .chain(levels.map(named("level")))
            .collect();
        let pages: Vec<String> =
            words().map(|page| format!("{} {}", page.family, page.name)).collect();
        assert_eq!(pages.len(), known.len());
        assert_eq!(pages.into_iter().collect::<BTreeSet<_>>(), known);
        assert!(words().all(|page| page.title.len() > 5 && page.body.len() > 10));
        assert!(code_pages().iter().all(|page| page.title.len() > 2 && page.body.len() > 10));
    }

    #[test]
    fn finds_page_in_any_case() {
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
}
