use schemars::JsonSchema;
use serde::Serialize;

use super::AppError;
use crate::diagnose::{rule_page, subkind_page};
use crate::model::{Code, Page, nearest_page, page};
use crate::policy::secret_rule_page;

/// What a word means.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Explained {
    /// A code, kind, category, level, stop reason or verdict.
    Page(Page),
    /// A rule or the finer word of a kind, as masks and diagnoses name it.
    Rule(RulePage),
}

/// What a rule looks for, and why.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RulePage {
    /// Its name.
    pub rule: String,
    /// Its page, as text.
    pub page: String,
}

impl Explained {
    /// The page as text.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Page(page) => {
                format!("{}: {}\n\n{}\n", page.name, page.title, page.body)
            }
            Self::Rule(rule) => rule.page.clone(),
        }
    }
}

/// Says what a code, kind, category, level, stop reason, verdict or rule means.
///
/// # Errors
/// `U101` for what has no page, with the nearest word when one is near.
pub fn explain_word(word: &str) -> Result<Explained, AppError> {
    if let Some(page) = page(word) {
        return Ok(Explained::Page(page));
    }
    let id = word.trim();
    let pages = [secret_rule_page, rule_page, subkind_page];
    if let Some(page) = pages.iter().find_map(|page| page(id)) {
        let rule = id.to_owned();
        return Ok(Explained::Rule(RulePage { rule, page }));
    }
    let error = AppError::new(Code::U101, format!("`{word}` is not a code"));
    Err(match nearest_page(word) {
        Some(nearest) => error.hint(format!(
            "did you mean `{nearest}`? `mendit explain` lists all codes"
        )),
        None => error.hint("`mendit explain` lists all codes"),
    })
}
