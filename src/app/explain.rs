use super::AppError;
use crate::model::{Code, Page, nearest_page, page};

/// The page of a code, or of a kind, level, stop reason or verdict.
///
/// # Errors
/// `U102` for what has no page, with the nearest word when one is near.
pub fn explain_word(word: &str) -> Result<Page, AppError> {
    if let Some(page) = page(word) {
        return Ok(page);
    }
    let error = AppError::new(Code::U102, format!("`{word}` is not a code"));
    Err(match nearest_page(word) {
        Some(nearest) => error.hint(format!(
            "did you mean `{nearest}`? `mendit explain` lists all codes"
        )),
        None => error.hint("`mendit explain` lists all codes"),
    })
}
