//! Recognizes a login, credit or rate limit error in an agent's output, so that the user sees that
//! cause and not a failed fix.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::model::{TroubleKind, parse_rows};

/// Recognizes why an agent failed by the words that it and its service use. `None` when no row
/// matches.
pub fn find_trouble(output: &str) -> Option<TroubleKind> {
    let lines = output.lines().rev().filter(|line| !line.trim().is_empty());
    // Only the last lines; lines of 1000 bytes or more are data.
    let last: Vec<String> = lines
        .take(20)
        .filter(|line| line.len() < 1000)
        .map(str::to_ascii_lowercase)
        .collect();
    let mut rows = ROWS
        .iter()
        .filter(|row| row.words.iter().any(|word| last.iter().any(|line| line.contains(word))));
    Some(rows.next()?.kind)
}

#[derive(Deserialize)]
struct Row {
    kind: TroubleKind,
    words: Vec<String>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| parse_rows(embedded!("agent/trouble.toml")));

/// What an agent lacks, in words that a sentence begins with.
pub fn in_words(kind: TroubleKind) -> &'static str {
    match kind {
        TroubleKind::Login => "the agent's login failed",
        TroubleKind::Credit => "the agent's credit is used up",
        TroubleKind::RateLimit => "the agent's service refused the call for now (rate limit)",
        TroubleKind::TooLong => "the packet exceeds the context window of the agent's model",
        TroubleKind::Crash => "the agent failed",
    }
}

#[cfg(test)]
mod tests {
    use super::find_trouble;
    use crate::model::TroubleKind as T;

    #[test]
    fn classifies_agent_trouble() {
        for (output, kind) in [
            ("Invalid API key \u{b7} Please run /login", Some(T::Login)),
            ("Not logged in. Run codex login first.", Some(T::Login)),
            (
                "No auth type is selected. Please configure an auth type (e.g. via settings or `--auth-type`)",
                Some(T::Login),
            ),
            (
                "  \u{2022} Start 'copilot' and run the '/login' command",
                Some(T::Login),
            ),
            (
                "Error: No key found - add one using 'llm keys set openai'",
                Some(T::Login),
            ),
            (
                "Please set an Auth method in your settings.json or specify GEMINI_API_KEY",
                Some(T::Login),
            ),
            (
                "litellm.AuthenticationError: OpenAIException - The api_key client option must be set",
                Some(T::Login),
            ),
            (
                "openai.AuthenticationError: Error code: 401 - {'error': {...}}",
                Some(T::Login),
            ),
            (
                "stream error: unexpected status 401 Unauthorized",
                Some(T::Login),
            ),
            ("Credit balance is too low", Some(T::Credit)),
            (
                "Error code: 429 - You exceeded your current quota, please check your plan and billing details",
                Some(T::Credit),
            ),
            (
                "Error: 402 {\"message\":\"This request requires more credits\"}",
                Some(T::Credit),
            ),
            (
                "API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}",
                Some(T::RateLimit),
            ),
            (
                "You've hit your usage limit. Try again in 3 hours.",
                Some(T::RateLimit),
            ),
            ("HTTP 429 Too Many Requests", Some(T::RateLimit)),
            ("status: RESOURCE_EXHAUSTED", Some(T::RateLimit)),
            (
                "API Error: prompt is too long: 212000 tokens > 200000 maximum",
                Some(T::TooLong),
            ),
            ("TypeError: Cannot read properties of undefined", None),
            ("expected 401, got 402", None),
            ("", None),
        ] {
            assert_eq!(find_trouble(output), kind, "{output}");
        }
    }

    #[test]
    fn only_the_end_counts() {
        let early = format!("invalid api key\n{}", "working\n".repeat(40));
        assert_eq!(find_trouble(&early), None);
    }
}
