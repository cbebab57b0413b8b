/// What a name says about the value that is given to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameKind {
    /// A person may have made the value up.
    Password,
    /// A machine made the value.
    Token,
    /// Some kind of key; most are no secrets.
    Key,
    /// A list of what a machine made, or of people's passwords.
    Several,
}

/// Judges the name of a variable, field, attribute, header or flag by the words it is made of.
pub(super) fn name_kind(name: &[u8]) -> Option<NameKind> {
    let words = words(name);
    if words.first().is_some_and(|word| word == "encrypted") {
        return Some(NameKind::Token);
    }
    let at = words.iter().rposition(|word| word_kind(word).is_some())?;
    let kind = word_kind(words.get(at)?)?;
    let about = |word: &String| ABOUT.contains(&word.as_str());
    if words.iter().skip(at + 1).any(about)
        || words.iter().any(|word| NEVER.contains(&word.as_str()))
    {
        return None;
    }
    // How many there are, or may be.
    if kind == NameKind::Several && words.iter().any(about) {
        return None;
    }
    let before = at.checked_sub(1).and_then(|before| words.get(before));
    let owned = before.is_some_and(|word| SECRET_KEYS.contains(&word.as_str()));
    match words.get(at).map(String::as_str) {
        Some("keys") => owned.then_some(kind),
        _ if owned && kind == NameKind::Key => Some(NameKind::Token),
        _ => Some(kind),
    }
}

// The word after which nothing about the value changes: `tokenType` is about a token.
#[rustfmt::skip]
const ABOUT: &[&str] = &[
    "age", "alg", "algo", "algorithm", "arn", "at", "attempts", "audience", "balance", "board",
    "body", "budget", "builder", "button", "by", "callback", "chain", "charset", "check",
    "checksum", "choices", "class", "code", "codes", "col", "column", "component", "config",
    "cost", "count", "counter", "created", "date", "dir", "directory", "down", "enabled",
    "encoding", "end", "endpoint", "entry", "env", "error", "errors", "event", "exists", "exp",
    "expiration", "expired", "expires", "expiry", "factory", "field", "fields", "file",
    "filename", "fingerprint", "fn", "for", "form", "format", "frame", "frames", "func",
    "function", "generator", "group", "handler", "header", "headers", "helper", "hash",
    "hasher", "hashers", "hint", "host", "icon", "id", "ids", "index", "info", "input",
    "invalid", "is", "issuer", "items", "kind", "label", "length", "len", "level", "limit",
    "line", "list", "listener", "location", "manager", "map", "max", "message", "messages",
    "method", "min", "missing", "mode", "model", "msg", "name", "names", "namespace", "none",
    "object", "of", "offset", "option", "options", "order", "page", "pair", "param",
    "parameter", "params", "parser", "path", "paths", "pattern", "placeholder", "policy", "pos",
    "position", "prefix", "press", "price", "prompt", "property", "props", "provider", "range",
    "reader", "ref", "reference", "regex", "regexp", "region", "required", "reset", "resolver",
    "ring", "role", "rotation", "route", "rule", "rules", "schema", "scheme", "scope", "scopes",
    "score", "screen", "selector", "service", "set", "size", "sort", "source", "start", "state",
    "status", "store", "strategy", "strength", "stream", "style", "suffix", "text", "time",
    "timeout", "timestamp", "title", "to", "toggle", "ttl", "type", "types", "up", "uri", "url",
    "urls", "usage", "user", "username", "valid", "validator", "var", "variable", "version",
    "view", "visibility", "visible", "warning", "width", "with",
];

// Words that make a secret out of no name that holds them.
#[rustfmt::skip]
const NEVER: &[&str] = &[
    "public", "pub", "primary", "foreign", "partition", "cache", "i18n", "locale",
    "translation", "integrity", "checksum", "sha", "sha1", "sha256", "sha512", "md5", "digest",
    "revision", "commit", "fingerprint", "publishable", "hashed", "jsonwebtoken",
];

// `key` after one of these is a secret.
#[rustfmt::skip]
const SECRET_KEYS: &[&str] = &[
    "access", "account", "admin", "aes", "api", "app", "application", "auth", "authentication",
    "cipher", "client", "consumer", "crypto", "deploy", "encrypt", "encryption", "hmac", "host",
    "ingest", "ingestion", "integration", "jwt", "license", "master", "nonce", "priv", "private", "root",
    "secret", "server", "service", "session", "shared", "sign", "signing", "ssh", "storage",
    "subscription", "token", "webhook", "write", "decryption", "instrumentation", "personal",
    "security", "wep", "wpa",
];

// Before `pass` and `pw` written in one word; most other such words are about passing.
#[rustfmt::skip]
const PASS_OWNERS: &[&str] = &[
    "", "admin", "app", "auth", "bind", "db", "email", "ftp", "http", "imap", "irc", "key",
    "ldap", "login", "mail", "master", "my", "mysql", "pg", "proxy", "redis", "root", "smtp",
    "sql", "ssh", "store", "sudo", "trust", "user", "vnc", "wifi",
];

fn word_kind(word: &str) -> Option<NameKind> {
    let ends = |ends: &[&str]| ends.iter().any(|end| word.ends_with(end));
    if matches!(word, "pass" | "pw" | "passcode" | "userpass" | "dbpass")
        || ends(&["password", "passwd", "passphrase", "pwd"])
    {
        return Some(NameKind::Password);
    }
    let owner = word
        .strip_suffix("pass")
        .or_else(|| word.strip_suffix("pw"));
    if owner.is_some_and(|owner| PASS_OWNERS.contains(&owner)) {
        return Some(NameKind::Password);
    }
    let token = [
        "auth",
        "authorization",
        "credential",
        "credentials",
        "cred",
        "creds",
        "bearer",
        "jwt",
        "salt",
        "webhook",
        "dsn",
        "encrypted",
        "pat",
        "signing",
        "mnemonic",
        "seedphrase",
    ];
    if token.contains(&word)
        || ends(&[
            "token",
            "secret",
            "apikey",
            "secretkey",
            "accesskey",
            "privatekey",
            "authkey",
        ])
    {
        return Some(NameKind::Token);
    }
    if word == "keys" || ends(&["tokens", "secrets", "passwords", "apikeys"]) {
        return Some(NameKind::Several);
    }
    let key = matches!(
        word,
        "key" | "signature" | "sig" | "cookie" | "sid" | "sessionid" | "session"
    );
    key.then_some(NameKind::Key)
}

// Splits `DBPassword_old-2` into db, password, old; digits separate and are dropped, except inside
// the names of hashes.
fn words(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut previous = 0_u8;
    for (at, byte) in name.iter().copied().enumerate() {
        let next = name.get(at + 1).copied().unwrap_or(0);
        let starts = byte.is_ascii_uppercase()
            && (previous.is_ascii_lowercase()
                || (previous.is_ascii_uppercase() && next.is_ascii_lowercase()));
        let hash = matches!(word.as_str(), "sha" | "md" | "i") || word.starts_with("sha");
        let ends = !byte.is_ascii_alphanumeric() || starts || (byte.is_ascii_digit() && !hash);
        if ends && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if byte.is_ascii_alphabetic() || (byte.is_ascii_digit() && hash) {
            word.push(char::from(byte.to_ascii_lowercase()));
        }
        previous = byte;
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{NameKind, name_kind};

    #[test]
    fn names_are_judged_by_their_words() {
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
            "tokenizer",
            "keyboard",
            "passenger",
            "author",
            "passwordField",
            "token_type",
            "secretName",
            "public_key",
            "SECRET_KEY_FILE",
            "tokenId",
            "bypass",
            "keys",
            "object_keys",
            "num_tokens_max",
            "maxTokens",
            "authenticate",
            "sha256_key",
            "PASSWORD_HASHERS",
        ] {
            assert_eq!(name_kind(name.as_bytes()), None, "{name}");
        }
    }
}
