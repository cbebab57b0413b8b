use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::keys::{KEYS, Key, Kind};

/// The settings in force, frozen: every value with where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    values: BTreeMap<&'static str, (Value, Origin)>,
}

/// A setting's value.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum Value {
    /// See [`Kind::Integer`].
    Integer(u64),
    /// See [`Kind::Word`].
    Word(String),
    /// See [`Kind::Globs`] and [`Kind::Names`].
    List(Vec<String>),
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// A configuration file.
    File(PathBuf),
    /// An environment variable, by name.
    Environment(String),
}

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read `{file}`: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        reason: String,
    },
    /// The file is not TOML.
    #[error("`{file}` is not valid TOML: {reason}")]
    Syntax {
        /// The file.
        file: String,
        /// The parser's words.
        reason: String,
    },
    /// A key that does not exist.
    #[error("unknown setting `{key}` in {place}")]
    UnknownKey {
        /// The key.
        key: String,
        /// File or environment.
        place: String,
        /// The key that was perhaps meant.
        suggestion: Option<&'static str>,
    },
    /// A value of the wrong type.
    #[error("`{key}` in {place} must be {expected}")]
    WrongValue {
        /// The key.
        key: &'static str,
        /// File or environment.
        place: String,
        /// What it must be.
        expected: String,
    },
}

impl Settings {
    /// Merges defaults, an optional file and the environment, in rising order of strength.
    ///
    /// # Errors
    /// A [`ConfigError`] for an unreadable file, an unknown key or a wrong value.
    pub fn load(
        file: Option<&Path>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let mut settings = Self {
            values: BTreeMap::new(),
        };
        for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
            let parsed = format!("v = {}", key.default)
                .parse::<toml::Table>()
                .ok()
                .and_then(|table| value_of(key, table.get("v")?));
            if let Some(value) = parsed {
                settings.values.insert(key.name, (value, Origin::Default));
            }
        }
        if let Some(file) = file {
            settings.merge_file(file)?;
        }
        settings.merge_environment(environment)?;
        Ok(settings)
    }

    /// Every key with its value and origin, in the order of [`KEYS`]; unset keys included.
    pub fn rows(&self) -> impl Iterator<Item = (&'static Key, Option<&(Value, Origin)>)> {
        KEYS.iter().map(|key| (key, self.values.get(key.name)))
    }

    /// The number behind a key, when it is set.
    #[must_use]
    pub fn integer(&self, key: &str) -> Option<u64> {
        match self.values.get(key)?.0 {
            Value::Integer(number) => Some(number),
            _ => None,
        }
    }

    /// The word behind a key; `""` when it is not set.
    #[must_use]
    pub fn word(&self, key: &str) -> &str {
        match self.values.get(key) {
            Some((Value::Word(word), _)) => word,
            _ => "",
        }
    }

    /// The list behind a key; empty when it is not set.
    #[must_use]
    pub fn list(&self, key: &str) -> &[String] {
        match self.values.get(key) {
            Some((Value::List(list), _)) => list,
            _ => &[],
        }
    }

    fn merge_file(&mut self, file: &Path) -> Result<(), ConfigError> {
        let place = format!("`{}`", file.display());
        let text = std::fs::read_to_string(file).map_err(|error| ConfigError::Unreadable {
            file: file.display().to_string(),
            reason: error.kind().to_string(),
        })?;
        let table = text
            .parse::<toml::Table>()
            .map_err(|error| ConfigError::Syntax {
                file: file.display().to_string(),
                reason: error.message().to_owned(),
            })?;
        for (name, value) in flatten(&table) {
            let key = KEYS
                .iter()
                .find(|key| key.name == name)
                .ok_or_else(|| unknown(&name, &place))?;
            let value = value_of(key, value).ok_or_else(|| wrong(key, &place))?;
            self.values
                .insert(key.name, (value, Origin::File(file.to_owned())));
        }
        Ok(())
    }

    fn merge_environment(
        &mut self,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), ConfigError> {
        for (variable, text) in environment {
            let Some(key) = KEYS.iter().find(|key| variable_of(key) == variable) else {
                continue;
            };
            let place = format!("the environment (`{variable}`)");
            let value = match key.kind {
                Kind::Integer => text.trim().parse().ok().map(Value::Integer),
                Kind::Word(words) => words
                    .contains(&text.as_str())
                    .then(|| Value::Word(text.clone())),
                Kind::Globs | Kind::Names => Some(Value::List(
                    text.split(',')
                        .map(str::trim)
                        .filter(|glob| !glob.is_empty())
                        .map(str::to_owned)
                        .collect(),
                )),
            };
            let value = value.ok_or_else(|| wrong(key, &place))?;
            self.values
                .insert(key.name, (value, Origin::Environment(variable)));
        }
        Ok(())
    }
}

/// `context.max-files` is set by `MENDIT_CONTEXT_MAX_FILES`.
fn variable_of(key: &Key) -> String {
    format!(
        "MENDIT_{}",
        key.name.replace(['.', '-'], "_").to_ascii_uppercase()
    )
}

fn flatten(table: &toml::Table) -> Vec<(String, &toml::Value)> {
    let mut rows = Vec::new();
    for (section, value) in table {
        match value {
            toml::Value::Table(inner) => {
                rows.extend(
                    inner
                        .iter()
                        .map(|(name, v)| (format!("{section}.{name}"), v)),
                );
            }
            value => rows.push((section.clone(), value)),
        }
    }
    rows
}

fn value_of(key: &Key, value: &toml::Value) -> Option<Value> {
    match key.kind {
        Kind::Integer => u64::try_from(value.as_integer()?).ok().map(Value::Integer),
        Kind::Word(words) => value
            .as_str()
            .filter(|word| words.contains(word))
            .map(|word| Value::Word(word.to_owned())),
        Kind::Globs | Kind::Names => value
            .as_array()?
            .iter()
            .map(|glob| glob.as_str().map(str::to_owned))
            .collect::<Option<_>>()
            .map(Value::List),
    }
}

fn wrong(key: &Key, place: &str) -> ConfigError {
    ConfigError::WrongValue {
        key: key.name,
        place: place.to_owned(),
        expected: key.kind.expected(),
    }
}

fn unknown(name: &str, place: &str) -> ConfigError {
    let suggestion = KEYS
        .iter()
        .map(|key| (strsim::jaro_winkler(name, key.name), key.name))
        .filter(|(similarity, _)| *similarity > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, key)| key);
    ConfigError::UnknownKey {
        key: name.to_owned(),
        place: place.to_owned(),
        suggestion,
    }
}

#[cfg(test)]
mod tests {
    use super::{ConfigError, Origin, Settings, Value};

    fn load(text: &str, environment: &[(&str, &str)]) -> Result<Settings, ConfigError> {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mendit.toml");
        std::fs::write(&file, text).unwrap();
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Settings::load(Some(&file), environment)
    }

    #[test]
    fn stronger_sources_win() {
        let settings = load(
            "[context]\nmax-files = 3\nprofile = \"spec\"\n",
            &[("MENDIT_CONTEXT_MAX_FILES", "7"), ("HOME", "/x")],
        )
        .unwrap();
        assert_eq!(settings.integer("context.max-files"), Some(7));
        assert_eq!(settings.word("context.profile"), "spec");
        let (_, row) = settings
            .rows()
            .find(|(key, _)| key.name == "context.max-log-bytes")
            .unwrap();
        assert_eq!(row, Some(&(Value::Integer(32768), Origin::Default)));
    }

    #[test]
    fn names_what_is_wrong() {
        let error = load("[context]\nmax-flies = 3\n", &[]).unwrap_err();
        assert!(matches!(
            error,
            ConfigError::UnknownKey {
                suggestion: Some("context.max-files"),
                ..
            }
        ));
        let error = load("[context]\nmax-files = \"3\"\n", &[]).unwrap_err();
        assert!(error.to_string().contains("must be a whole number"));
        assert!(matches!(load("[", &[]), Err(ConfigError::Syntax { .. })));
        let error = load("", &[("MENDIT_CONTEXT_PROFILE", "x")]).unwrap_err();
        assert!(error.to_string().contains("one of ranked, spec"));
    }
}
