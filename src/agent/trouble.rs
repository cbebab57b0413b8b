//! Recognizes a login, credit or rate limit error in an agent's output, so that the user sees that
//! cause and not a failed fix.

use crate::model::TroubleKind;

/// What an agent lacks, by the words that it and its service use for it. `None` when they say
/// nothing of the kind.
pub fn find_trouble(output: &str) -> Option<TroubleKind> {
    let lines = output.lines().rev().filter(|line| !line.trim().is_empty());
    // What is told last is what it ended with; a line of source or of a log is longer.
    let last = lines.take(LAST_LINES).filter(|line| line.len() < MAX_LINE);
    let last: Vec<String> = last.map(str::to_ascii_lowercase).collect();
    WORDS
        .iter()
        .find(|(_, words)| {
            last.iter()
                .any(|line| words.iter().any(|word| line.contains(word)))
        })
        .map(|(kind, _)| *kind)
}

const LAST_LINES: usize = 20;
const MAX_LINE: usize = 1000;

// The first row with a word in it decides, because a service that wants money often says 429 or 403, too.
#[rustfmt::skip]
const WORDS: &[(TroubleKind, &[&str])] = &[
    (TroubleKind::Credit, &[
        "credit balance", "insufficient credit", "insufficient_quota", "insufficient balance",
        "insufficient funds", "not enough credit", "out of credit", "no credits",
        "exceeded your current quota", "payment required", "billing_hard_limit",
        "billing hard limit", "billing details", "http 402", "status 402", "error 402",
        "status code 402", "402 {", "requires more credits", "spending limit", "spend limit",
    ]),
    (TroubleKind::RateLimit, &[
        "rate limit", "rate_limit", "ratelimit", "too many requests", "http 429", "status 429",
        "error 429", "status code 429", "code: 429", "429 {", "usage limit", "limit reached",
        "resource_exhausted", "resource exhausted", "quota exceeded", "overloaded", "http 529",
        "error 529", "status 529", "status code 529", "529 {", "over capacity",
    ]),
    (TroubleKind::Login, &[
        "/login", "not logged in", "please log in", "please login", "please sign in",
        "login required", "log in again", "login again", "login failed", "must be logged in",
        "invalid api key", "invalid_api_key", "invalid x-api-key", "incorrect api key",
        "api key not valid", "api_key_invalid", "no api key", "missing api key",
        "api key not found", "api key is required", "api key is missing", "api key is not set",
        "provide an api key", "provide your api key", "set an auth method",
        "no key found", "no auth type is selected", "invalid auth method", "no authentication information",
        "authentication_", "authenticationerror", "authentication failed",
        "authentication required", "failed to authenticate", "not authenticated",
        "no auth credentials", "invalid bearer token", "token has expired", "token expired",
        "expired token", "401 unauthorized", "403 forbidden", "http 401", "status 401",
        "error 401", "error: 401", "status code 401", "code: 401", "_api_key environment variable",
        "_api_key must be set", "_api_key is not set", "auth login",
    ]),
    (TroubleKind::TooLong, &[
        "prompt is too long", "context_length_exceeded", "context length exceeded",
        "maximum context length", "context window exceeded", "exceeds the context window",
        "input is too long", "request too large", "request_too_large", "too many tokens",
        "exceeds the maximum number of tokens",
    ]),
];

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
    fn what_agents_say_of_their_own_trouble() {
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
