//! What the name of a variable, field, attribute, header or flag says about its value; and the word lists of
//! `rules/words.toml`, which the other sources use, too.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use foldhash::HashSet;

use super::scan::Anchor;

/// What a name says about the value given to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A person may have made the value up.
    Password,
    /// A machine made the value.
    Token,
    /// Some kind of key; most are no secrets.
    Key,
    /// A list of tokens or passwords.
    Several,
}

/// Classifies a name by the words it is made of; `None` for a name that speaks of no secret.
pub(super) fn name_kind(name: &[u8]) -> Option<NameKind> {
    let words = split_words(name);
    if words.first().is_some_and(|word| word == "encrypted") {
        return Some(NameKind::Token);
    }
    let at = words.iter().rposition(|word| word_kind(word).is_some())?;
    let kind = word_kind(&words[at])?;
    // A list is also counted before its word: `max_tokens`.
    let from = if kind == NameKind::Several { 0 } else { at + 1 };
    if words[from..].iter().any(|word| WORDS.about.contains(word.as_str()))
        || words.iter().any(|word| WORDS.never.contains(word.as_str()))
    {
        return None;
    }
    let is_secret_key = at > 0 && WORDS.secret_keys.contains(words[at - 1].as_str());
    match kind {
        NameKind::Several if words[at] == "keys" => is_secret_key.then_some(kind),
        NameKind::Key if is_secret_key => Some(NameKind::Token),
        _ => Some(kind),
    }
}

/// Whether a variable or a field of this name usually holds a secret.
pub fn is_secret_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    // Whoever knows the address of a webhook may post to it; a shell keeps its folder in PWD.
    let is_folder = matches!(lower.as_str(), "pwd" | "oldpwd") || lower.ends_with("sock");
    let is_webhook = lower.contains("webhook");
    is_webhook
        || !is_folder
            && name_kind(name.as_bytes())
                .is_some_and(|kind| kind != NameKind::Key || !lower.contains("session"))
}

fn word_kind(word: &str) -> Option<NameKind> {
    let ends = |ends: &HashSet<&str>| ends.iter().any(|end| word.ends_with(end));
    let owner = word.strip_suffix("pass").or(word.strip_suffix("pw"));
    if WORDS.password.contains(word)
        || ends(&WORDS.password_ends)
        || owner.is_some_and(|owner| WORDS.pass_owners.contains(owner))
    {
        return Some(NameKind::Password);
    }
    if WORDS.token.contains(word) || ends(&WORDS.token_ends) {
        return Some(NameKind::Token);
    }
    if word == "keys" || ends(&WORDS.several_ends) {
        return Some(NameKind::Several);
    }
    WORDS.key.contains(word).then_some(NameKind::Key)
}

/// Splits `DBPassword_old-2` into `db`, `password`, `old`. Digits separate words and are dropped,
/// except inside the names of hashes.
fn split_words(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut previous = 0_u8;
    for (at, byte) in name.iter().copied().enumerate() {
        let next = name.get(at + 1).copied().unwrap_or(0);
        let starts = byte.is_ascii_uppercase()
            && (previous.is_ascii_lowercase()
                || (previous.is_ascii_uppercase() && next.is_ascii_lowercase()));
        let in_hash = matches!(word.as_str(), "md" | "i") || word.starts_with("sha");
        let is_part = byte.is_ascii_alphabetic() || (byte.is_ascii_digit() && in_hash);
        if (starts || !is_part) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if is_part {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
        previous = byte;
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

/// The lists of `rules/words.toml`. The file is part of the program, and a test reads it.
pub(super) static WORDS: LazyLock<Words> = LazyLock::new(|| {
    crate::model::read_table(embedded!("policy/secrets/rules/words.toml")).unwrap_or_default()
});

#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    // For all of them: no text of the table is copied.
    #[serde(borrow)]
    password: HashSet<&'static str>,
    password_ends: HashSet<&'static str>,
    pass_owners: HashSet<&'static str>,
    token: HashSet<&'static str>,
    token_ends: HashSet<&'static str>,
    several_ends: HashSet<&'static str>,
    key: HashSet<&'static str>,
    secret_keys: HashSet<&'static str>,
    about: HashSet<&'static str>,
    never: HashSet<&'static str>,
    pub(super) placeholders: Vec<String>,
    pub(super) common: HashSet<&'static str>,
    pub(super) sentence: HashSet<&'static str>,
    pub(super) things: HashSet<&'static str>,
    pub(super) templates: Vec<String>,
    pub(super) public_starts: Vec<String>,
    pub(super) anchors: BTreeMap<Anchor, Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::{NameKind, name_kind};

    #[test]
    fn classifies_names_by_words() {
        for (name, kind) in [
            ("DB_PASSWORD", NameKind::Password),
            ("spring.datasource.passwd", NameKind::Password),
            ("sshUserPassword", NameKind::Password),
            ("rootpw", NameKind::Password),
            ("IRC_PASS", NameKind::Password),
            ("apiKey", NameKind::Token),
            ("OPENAIAPIKEY_TOKEN", NameKind::Token),
            ("secret_key_base", NameKind::Token),
            ("AUTH_KEY", NameKind::Token),
            ("encryptedUsername", NameKind::Token),
            ("x-api-key", NameKind::Token),
            ("mailchimp_key", NameKind::Key),
            ("API_TOKENS", NameKind::Several),
            ("apiKeys", NameKind::Several),
        ] {
            assert_eq!(name_kind(name.as_bytes()), Some(kind), "{name}");
        }
    }

    #[test]
    fn names_about_secrets_are_no_secrets() {
        for name in [
            "tokenizer", "keyboard", "passenger", "author", "passwordField", "token_type",
            "secretName", "public_key", "SECRET_KEY_FILE", "tokenId", "bypass", "keys",
            "object_keys", "num_tokens_max", "maxTokens", "authenticate", "sha256_key",
            "PASSWORD_HASHERS",
        ] {
            assert_eq!(name_kind(name.as_bytes()), None, "{name}");
        }
    }
}
