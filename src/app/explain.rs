use super::AppError;
use crate::model::{Code, CodePage, code_pages, explain};

/// The page of a code, or all of them.
///
/// # Errors
/// `U102` for what is no code, with the nearest one when one is near.
pub fn explain_code(code: Option<&str>) -> Result<Vec<CodePage>, AppError> {
    let Some(code) = code else {
        return Ok(code_pages());
    };
    if let Some(page) = explain(code) {
        return Ok(vec![page]);
    }
    let error = AppError::new(Code::U102, format!("`{code}` is not a code"));
    let typed = code.trim().to_ascii_uppercase();
    let near = |known: &&Code| strsim::levenshtein(&typed, known.as_str()) <= 1;
    Err(match Code::ALL.iter().find(near) {
        Some(near) => error.hint(format!("did you mean `{near}`? `mendit explain` lists all")),
        None => error.hint("`mendit explain` lists all"),
    })
}
