use super::AppError;
use crate::model::{Page, nearest_page, page};

/// Explains a code, kind, category, level, stop reason or verdict.
///
/// # Errors
/// `U101` for what has no page, with the nearest word when one is near.
pub fn explain_word(word: &str) -> Result<Page, AppError> {
    page(word).ok_or_else(|| {
        let near = nearest_page(word).map(|nearest| format!("did you mean `{nearest}`? "));
        let near = near.unwrap_or_default();
        AppError::usage(format!("`{word}` is not a code"))
            .hint(format!("{near}`mendit explain` lists all codes"))
    })
}
