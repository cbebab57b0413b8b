use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

/// The stable name of one reason why something was refused, left out or mended.
///
/// The first letter is the family (P patch, M mend, C context, D diagnose, R runner, L loop,
/// F fixtures, U usage and environment), the first digit the group inside it. Every code has a
/// page that `mendit explain CODE` prints; `tests/tidy.rs` holds the two together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(&'static str);

impl Code {
    /// Names a code. Its page must stand in one of the files under `src/model/codes/`.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// The name, such as `C101`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0)
    }
}

impl JsonSchema for Code {
    fn schema_name() -> Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A stable code; `mendit explain CODE` says what it means.",
            "type": "string",
            "pattern": "^[A-Z][0-9]{3}$",
        })
    }
}

/// What `mendit explain` prints for one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CodePage {
    /// The code itself.
    pub code: &'static str,
    /// One line: what happened.
    pub title: &'static str,
    /// Markdown: why, and what to do.
    pub body: &'static str,
}

// One Markdown file per family; a page starts with `## CODE title`.
const PAGES: &[&str] = &[
    include_str!("codes/context.md"),
    include_str!("codes/fixtures.md"),
    include_str!("codes/policy.md"),
    include_str!("codes/mend.md"),
    include_str!("codes/patch.md"),
    include_str!("codes/runner.md"),
    include_str!("codes/usage.md"),
    include_str!("codes/loop.md"),
];

/// Every page, in the order of the codes.
#[must_use]
pub fn code_pages() -> Vec<CodePage> {
    let mut pages: Vec<CodePage> = PAGES.iter().flat_map(|file| parse_pages(file)).collect();
    pages.sort_by_key(|page| page.code);
    pages
}

/// The page of one code, whatever the case it is typed in.
#[must_use]
pub fn explain(code: &str) -> Option<CodePage> {
    code_pages()
        .into_iter()
        .find(|page| page.code.eq_ignore_ascii_case(code.trim()))
}

fn parse_pages(file: &'static str) -> impl Iterator<Item = CodePage> {
    file.split("\n## ").skip(1).map(|page| {
        let (head, body) = page.split_once('\n').unwrap_or((page, ""));
        let (code, title) = head.split_once(' ').unwrap_or((head, ""));
        CodePage {
            code,
            title: title.trim(),
            body: body.trim(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{code_pages, explain};

    #[test]
    fn every_page_has_a_title_and_a_remedy() {
        for page in code_pages() {
            assert!(!page.title.is_empty(), "{} has no title", page.code);
            assert!(page.body.len() > 40, "{} says too little", page.code);
        }
    }

    #[test]
    fn codes_are_found_in_any_case() {
        assert_eq!(explain("c101").unwrap().code, "C101");
        assert!(explain("C999").is_none());
    }
}
