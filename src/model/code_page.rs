#[cfg(feature = "program")]
use schemars::JsonSchema;
use serde::Serialize;

use super::Code;

/// The page of `mendit explain` for one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "program", derive(JsonSchema))]
pub struct CodePage {
    /// The code itself.
    pub code: Code,
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
        .find(|page| page.code.as_str().eq_ignore_ascii_case(code.trim()))
}

fn parse_pages(file: &'static str) -> impl Iterator<Item = CodePage> {
    file.split("\n## ").skip(1).filter_map(|page| {
        let (head, body) = page.split_once('\n').unwrap_or((page, ""));
        let (code, title) = head.split_once(' ').unwrap_or((head, ""));
        let code = Code::ALL.iter().find(|it| it.as_str() == code)?;
        Some(CodePage {
            code: *code,
            title: title.trim(),
            body: body.trim(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{code_pages, explain};
    use crate::model::Code;

    #[test]
    fn every_page_has_a_title_and_a_remedy() {
        for page in code_pages() {
            assert!(!page.title.is_empty(), "{} has no title", page.code);
            assert!(page.body.len() > 40, "{} says too little", page.code);
        }
    }

    #[test]
    fn codes_are_found_in_any_case() {
        assert_eq!(explain("c101").unwrap().code, Code::C101);
        assert!(explain("C999").is_none());
    }
}
