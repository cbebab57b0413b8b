//! Reads and changes files that configure MCP servers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::span::span_of;
use super::{Endpoint, HealError, Probe, Target, Transport};
use crate::policy::{Redactor, is_secret_name};

/// A file that names MCP servers, as hosts write it: `mcpServers`, or `servers`.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    text: String,
    key: &'static str,
    servers: Map<String, Value>,
    endpoints: BTreeMap<String, Endpoint>,
}

impl ServerConfig {
    /// Reads it. `file` is for messages. Comments and trailing commas are understood.
    ///
    /// # Errors
    /// [`HealError::Config`] that says what is wrong.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self, HealError> {
        let wrong = |reason: String| HealError::Config(file.to_owned(), reason);
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| wrong(error.to_string()))?;
        let plain = strip_comments(text).map_err(|error| wrong(error.to_string()))?;
        let document: Value =
            serde_json::from_str(&plain).map_err(|error| wrong(error.to_string()))?;
        let found = ["mcpServers", "servers"].into_iter().find(|key| document[key].is_object());
        let key = found.ok_or_else(|| wrong("no object `mcpServers`".to_owned()))?;
        let mut endpoints = BTreeMap::new();
        for (name, entry) in document[key].as_object().into_iter().flatten() {
            let endpoint = endpoint(entry).map_err(|why| wrong(format!("`{name}` has {why}")))?;
            endpoints.insert(name.clone(), endpoint);
        }
        Ok(Self {
            text: text.to_owned(),
            key,
            servers: document[key].as_object().cloned().unwrap_or_default(),
            endpoints,
        })
    }

    /// The servers' names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.servers.keys().map(String::as_str)
    }

    /// Every server's entry, under the key of the file.
    pub fn document(&self) -> Map<String, Value> {
        let servers = Value::Object(self.servers.clone());
        std::iter::once((self.key.to_owned(), servers)).collect()
    }

    /// The probe of a server.
    ///
    /// # Errors
    /// [`HealError::UnknownServer`].
    pub fn probe(&self, name: &str, timeout: Duration) -> Result<Probe, HealError> {
        let endpoint = self.endpoints.get(name).ok_or_else(|| {
            let names = self.names().collect::<Vec<_>>().join(", ");
            HealError::UnknownServer(name.to_owned(), names)
        })?;
        Ok(Probe {
            name: name.to_owned(),
            target: Target::Server(endpoint.clone()),
            timeout,
        })
    }

    /// Takes over a changed probe: its entry changes, all else in the file stays byte for byte.
    pub fn replace(&mut self, probe: &Probe) {
        let Target::Server(endpoint) = &probe.target else {
            return;
        };
        let Some(Value::Object(entry)) = self.servers.get_mut(&probe.name) else {
            return;
        };
        put_endpoint(entry, endpoint);
        let plain = strip_comments(&self.text).unwrap_or_default();
        let Some(span) = span_of(&plain, &[self.key, &probe.name]) else {
            return;
        };
        let line = self.text.get(..span.start).unwrap_or("").rsplit('\n').next().unwrap_or("");
        let indent: String = line.chars().take_while(|letter| letter.is_whitespace()).collect();
        let written = serde_json::to_string_pretty(entry).unwrap_or_default();
        self.text.replace_range(span, &written.replace('\n', &format!("\n{indent}")));
    }

    /// Names and values of every variable and header in it.
    pub fn variables(&self) -> impl Iterator<Item = (String, String)> {
        let endpoints = self.endpoints.values().cloned();
        endpoints.flat_map(|endpoint| endpoint.env.into_iter().chain(endpoint.headers))
    }

    /// The file as it shall be written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

fn strip_comments(text: &str) -> std::io::Result<String> {
    let mut plain = text.to_owned();
    json_strip_comments::strip(&mut plain)?;
    Ok(plain)
}

/// An entry as hosts write it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    command: Option<String>,
    args: Vec<String>,
    env: BTreeMap<String, Value>,
    cwd: Option<String>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    headers: BTreeMap<String, Value>,
    #[serde(rename = "type", alias = "transport")]
    transport: Option<String>,
}

fn endpoint(entry: &Value) -> Result<Endpoint, String> {
    let entry: Entry = serde_json::from_value(entry.clone()).map_err(|error| error.to_string())?;
    let command = entry.command.filter(|command| !command.trim().is_empty());
    let by_url = match entry.transport.as_deref() {
        Some("stdio") | None => command.is_none(),
        Some(_) => entry.url.is_some(),
    };
    if (by_url && entry.url.is_none()) || (!by_url && command.is_none()) {
        return Err("neither a `command` nor a `url`".to_owned());
    }
    let mut words: Vec<String> = command.into_iter().collect();
    if !words.is_empty() {
        words.extend(entry.args);
    }
    Ok(Endpoint {
        transport: if by_url { Transport::Http } else { Transport::Stdio },
        command: words,
        env: text_values(entry.env),
        cwd: entry.cwd,
        url: entry.url,
        headers: text_values(entry.headers),
    })
}

fn text_values<C: FromIterator<(String, String)>>(pairs: BTreeMap<String, Value>) -> C {
    pairs.into_iter().map(|(name, value)| (name, value_text(&value))).collect()
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn put_endpoint(entry: &mut Map<String, Value>, endpoint: &Endpoint) {
    let url = ["url", "serverUrl", "httpUrl"].into_iter().find(|key| entry.contains_key(*key));
    match endpoint.transport {
        Transport::Stdio => {
            if let Some((command, args)) = endpoint.command.split_first() {
                entry.insert("command".to_owned(), json!(command));
                entry.insert("args".to_owned(), json!(args));
            }
            if url.is_some() || entry.contains_key("type") {
                entry.insert("type".to_owned(), json!("stdio"));
            }
        }
        Transport::Http => {
            entry.insert(url.unwrap_or("url").to_owned(), json!(endpoint.url));
            entry.insert("type".to_owned(), json!("http"));
        }
    }
}

/// A configuration as it may be shown: values that are secrets, or whose names say so, are masked.
pub fn masked(document: &Map<String, Value>, redactor: &Redactor) -> Map<String, Value> {
    let rows = document.iter();
    rows.map(|(name, value)| (name.clone(), mask(name, value, redactor))).collect()
}

fn mask(name: &str, value: &Value, redactor: &Redactor) -> Value {
    match value {
        Value::Object(inner) => Value::Object(masked(inner, redactor)),
        Value::Array(items) => items.iter().map(|item| mask("", item, redactor)).collect(),
        Value::String(text) if text.starts_with("${") && text.ends_with('}') => value.clone(),
        Value::String(text) => {
            let named = format!("{name}={text}");
            if is_secret_name(name) || !redactor.redact(&named).findings.is_empty() {
                "[REDACTED]".into()
            } else {
                redactor.redact(text).text.into()
            }
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::{ServerConfig, masked};
    use crate::heal::Target;
    use crate::policy::Redactor;

    #[test]
    fn replaces_an_entry_and_keeps_the_rest() {
        let text = "{\n  // mine\n  \"z\": 1,\n  \"mcpServers\": {\n    \"a\": {\"command\": \"old\", \"env\": {\"K\": \"v\"}},\n    \"b\": {\"url\": \"http://x\"},\n  }\n}\n";
        let mut config = ServerConfig::parse("f", text.as_bytes()).unwrap();
        assert_eq!(config.names().collect::<Vec<_>>(), ["a", "b"]);
        let probe = config.probe("a", Duration::ZERO).unwrap();
        config.replace(&probe.with_front(&["new", "old"]).unwrap());
        let expected = "{\n  // mine\n  \"z\": 1,\n  \"mcpServers\": {\n    \"a\": {\n      \"args\": [\n        \"old\"\n      ],\n      \"command\": \"new\",\n      \"env\": {\n        \"K\": \"v\"\n      }\n    },\n    \"b\": {\"url\": \"http://x\"},\n  }\n}\n";
        assert_eq!(config.text(), expected);
        let again = ServerConfig::parse("f", config.text().as_bytes()).unwrap();
        let target = again.probe("a", Duration::ZERO).unwrap().target;
        assert!(matches!(target, Target::Server(server) if server.command == ["new", "old"]));
    }

    #[test]
    fn rejects_a_file_without_servers() {
        for (text, reason) in [
            ("[", "EOF"),
            ("{}", "no object `mcpServers`"),
            ("{\"mcpServers\": {\"a\": {}}}", "`a` has neither"),
            (
                "{\"mcpServers\": {\"a\": {\"type\": \"http\"}}}",
                "`a` has neither",
            ),
        ] {
            let error = ServerConfig::parse("f", text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(reason), "{text}: {error}");
        }
    }

    #[test]
    fn masks_secrets_by_name_and_by_value() {
        let document = json!({"a": {"command": "x", "args": ["-v", "ghp_0123456789abcdefABCDEF0123456789abcd"],
            "env": {"MY_TOKEN": "short", "API_KEY": "${KEY}", "MODE": "fast"},
            "headers": {"Authorization": "Bearer abc"}}});
        let Value::Object(document) = document else {
            unreachable!()
        };
        let shown = Value::Object(masked(&document, &Redactor::new([]))).to_string();
        for secret in ["short", "ghp_", "Bearer abc"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(shown.contains("${KEY}") && shown.contains("fast") && shown.contains("\"-v\""));
    }
}
