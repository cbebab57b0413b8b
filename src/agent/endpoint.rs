/// A model behind an address that speaks the chat completions of `OpenAI`, as `openai:URL#MODEL` names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatEndpoint {
    /// The address above `/chat/completions`, such as `https://api.openai.com/v1`.
    pub url: String,
    /// The model, by the endpoint's own name.
    pub model: String,
}

impl ChatEndpoint {
    /// What `URL#MODEL` names; `None` when it is no address with a model behind it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (url, model) = text.trim().split_once('#')?;
        let host = ["http://", "https://"]
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme))?;
        // Nothing that a shell or a header would read as something else.
        let plain = |text: &str| {
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/@+[]".contains(&byte);
            !text.is_empty() && text.bytes().all(fits)
        };
        (plain(host) && plain(model)).then(|| Self {
            url: url.trim_end_matches('/').to_owned(),
            model: model.to_owned(),
        })
    }

    /// Its name, as [`ChatEndpoint::parse`] reads it.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}#{}", self.url, self.model)
    }
}

/// Asks the model once and gives what it says. `key` is sent as a bearer token.
///
/// # Errors
/// One line: no connection, another status than success with what came beside it, or an answer in
/// another shape.
#[cfg(feature = "http")]
pub fn ask_endpoint(
    endpoint: &ChatEndpoint,
    key: Option<&str>,
    prompt: &str,
) -> Result<String, String> {
    use serde_json::{Value, json};

    // Fails only when a provider is there already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    let body = json!({
        "model": endpoint.model,
        "messages": [{ "role": "user", "content": prompt }],
        "stream": false,
    });
    let text = runtime.block_on(async {
        let client = reqwest::Client::builder()
            .connect_timeout(CONNECT)
            .build()?;
        let mut request = client
            .post(format!("{}/chat/completions", endpoint.url))
            .header("content-type", "application/json")
            .body(body.to_string());
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        let answer = request.send().await?;
        let status = answer.status();
        let again = answer.headers().get("retry-after");
        let again = again.and_then(|it| it.to_str().ok()).map(str::to_owned);
        Ok::<_, reqwest::Error>((status, again, answer.text().await?))
    });
    let (status, again, text) = text.map_err(|error| {
        let mut message = format!("{} cannot be asked: {error}", endpoint.url);
        let mut cause = std::error::Error::source(&error);
        while let Some(inner) = cause {
            message.push_str(&format!(": {inner}"));
            cause = inner.source();
        }
        message
    })?;
    if !status.is_success() {
        let head: String = text.chars().take(MOST_SAID).collect();
        let again = again.map_or_else(String::new, |it| format!(" (Retry-After: {it})"));
        return Err(format!("HTTP {}{again}: {}", status.as_u16(), head.trim()));
    }
    let answer: Value = serde_json::from_str(&text).unwrap_or_default();
    let content = answer.pointer("/choices/0/message/content");
    content
        .and_then(Value::as_str)
        .map(str::to_owned)
        .ok_or_else(|| {
            let head: String = text.chars().take(MOST_SAID).collect();
            format!("the answer holds no message: {}", head.trim())
        })
}

#[cfg(feature = "http")]
const CONNECT: std::time::Duration = std::time::Duration::from_secs(20);
// Characters of an answer that is no reply.
#[cfg(feature = "http")]
const MOST_SAID: usize = 600;

#[cfg(test)]
mod tests {
    use super::ChatEndpoint;

    #[test]
    fn an_endpoint_is_an_address_and_a_model() {
        let named = ChatEndpoint::parse("http://localhost:11434/v1/#qwen2.5-coder:7b").unwrap();
        assert_eq!(named.name(), "http://localhost:11434/v1#qwen2.5-coder:7b");
        for wrong in [
            "",
            "http://a",
            "#m",
            "ftp://a#m",
            "http://a#",
            "http://#m",
            "http://a/$(b)#m",
            "http://a#m'; b",
        ] {
            assert_eq!(ChatEndpoint::parse(wrong), None, "{wrong}");
        }
    }
}
