use super::AppError;
use crate::agent::ChatEndpoint;

/// Asks a model behind `URL#MODEL` once: the prompt in, what it says out. The key is that of
/// `OPENAI_API_KEY`.
///
/// # Errors
/// `U301` with what the endpoint said; `R303` in a build without HTTP.
pub fn ask_model(endpoint: &str, prompt: &str) -> Result<String, AppError> {
    let Some(endpoint) = ChatEndpoint::parse(endpoint) else {
        return Err(AppError::usage(format!(
            "`{endpoint}` is no address with a model, such as http://localhost:11434/v1#qwen3"
        )));
    };
    answer(&endpoint, prompt)
}

#[cfg(feature = "http")]
fn answer(endpoint: &ChatEndpoint, prompt: &str) -> Result<String, AppError> {
    let key = std::env::var(KEY).ok().filter(|it| !it.is_empty());
    crate::agent::ask_endpoint(endpoint, key.as_deref(), prompt).map_err(AppError::environment)
}

#[cfg(not(feature = "http"))]
fn answer(_: &ChatEndpoint, _: &str) -> Result<String, AppError> {
    Err(AppError::not_built("http"))
}

/// The variable with the key of an endpoint.
pub(super) const KEY: &str = "OPENAI_API_KEY";
