//! Merges settings from flags, environment and files, each value with its origin.

use super::file::{ConfigError, File, printable_text, user_file};
use super::table::{KEYS, Key, Sections};
use super::trust::refusal_reason;
use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::path::PathBuf;

/// The settings in force: every value by section, each with where it comes from.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settings {
    sections: Sections,
    origins: BTreeMap<String, Origin>,
}

/// Where a value comes from. A list that adds up names the strongest source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    #[default]
    Default,
    /// A configuration file.
    File(PathBuf),
    /// An environment variable, by name.
    Environment(String),
    /// A flag of the command line.
    Flag,
}

impl Settings {
    /// Merges defaults, the user's own file, another file and the environment, in rising order of
    /// strength. The environment also says where the user's own file is.
    ///
    /// # Errors
    /// A [`ConfigError`] for an unreadable file, an unknown key, a wrong value, or one that may not
    /// are in a repository's file.
    pub fn load(
        file: Option<&File>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let environment: BTreeMap<String, String> = environment.into_iter().collect();
        let mut settings = Self::default();
        if let Some(own) =
            user_file(|name| environment.get(name).cloned()).filter(|path| path.exists())
        {
            settings.merge_file(&File::Trusted(own))?;
        }
        if let Some(file) = file {
            settings.merge_file(file)?;
        }
        settings.merge_environment(&environment)?;
        Ok(settings)
    }

    /// Every key with its value in TOML and its origin, in the order of [`KEYS`]; keys without a
    /// value included.
    pub fn rows(&self) -> impl Iterator<Item = (&'static Key, Option<toml::Value>, Origin)> {
        let mut all = flatten_table(self.to_table());
        KEYS.iter().map(move |key| {
            let origin = self.origins.get(&key.name()).cloned();
            (key, all.remove(&key.name()), origin.unwrap_or_default())
        })
    }

    /// Notes that the value of a key comes from a flag.
    pub fn say_flag(&mut self, name: &str) {
        self.origins.insert(name.to_owned(), Origin::Flag);
    }

    fn merge_file(&mut self, file: &File) -> Result<(), ConfigError> {
        let path = file.path();
        let shown = printable_text(&path.display().to_string());
        let place = format!("`{shown}`");
        let text = file.read()?;
        let table = text.parse::<toml::Table>().map_err(|error| {
            let reason = place_in(&text, &error);
            ConfigError::new(format!("`{shown}` is not valid TOML: {reason}"), "")
        })?;
        for (name, value) in flatten_table(table) {
            let key = KEYS.iter().find(|key| key.name() == name);
            let key = key.ok_or_else(|| unknown_key(&name, &place))?;
            if let File::Repository { root, .. } = file {
                let before = flatten_table(self.to_table()).remove(&name);
                if let Some(why) = refusal_reason(key.trust, before.as_ref(), &value, root) {
                    return Err(ConfigError::untrusted(&name, &place, &why));
                }
            }
            self.put_value(key, value, Origin::File(path.to_owned()))
                .map_err(|reason| wrong_value(key, &place, &reason))?;
        }
        Ok(())
    }

    fn merge_environment(
        &mut self,
        environment: &BTreeMap<String, String>,
    ) -> Result<(), ConfigError> {
        for key in KEYS {
            let variable = key.variable();
            let Some(text) = environment.get(&variable) else {
                continue;
            };
            let mut reason = String::new();
            let fits = value_readings(text).into_iter().any(|value| {
                let is_text = value.is_str();
                let put = self.put_value(key, value, Origin::Environment(variable.clone()));
                put.map_err(|error| reason = if is_text { error } else { reason.clone() })
                    .is_ok()
            });
            if !fits {
                return Err(wrong_value(
                    key,
                    &format!("the environment (`{variable}`)"),
                    &reason,
                ));
            }
        }
        Ok(())
    }

    // Sets a value, or adds it to a list that adds up; the error is serde's reason why it does not fit.
    fn put_value(&mut self, key: &Key, value: toml::Value, origin: Origin) -> Result<(), String> {
        let name = key.name();
        let (section, field) = name.split_once('.').unwrap_or_default();
        let mut all = self.to_table();
        let fields = all.entry(section).or_insert(toml::Table::new().into());
        let Some(fields) = fields.as_table_mut() else {
            return Err("it is not a table".to_owned());
        };
        match (fields.get_mut(field), value) {
            (Some(toml::Value::Array(before)), toml::Value::Array(more)) if key.adds => {
                before.extend(more);
            }
            (_, value) => drop(fields.insert(field.to_owned(), value)),
        }
        let read = all.try_into();
        self.sections = read.map_err(|error: toml::de::Error| printable_text(error.message()))?;
        self.origins.insert(name, origin);
        Ok(())
    }

    fn to_table(&self) -> toml::Table {
        toml::Table::try_from(&self.sections).unwrap_or_default()
    }
}

impl Deref for Settings {
    type Target = Sections;

    fn deref(&self) -> &Sections {
        &self.sections
    }
}

impl DerefMut for Settings {
    fn deref_mut(&mut self) -> &mut Sections {
        &mut self.sections
    }
}

// What a variable's text can mean; the first that fits the setting's type is taken.
fn value_readings(text: &str) -> Vec<toml::Value> {
    let trimmed = text.trim();
    let mut values = Vec::new();
    values.extend(trimmed.parse().map(toml::Value::Integer));
    values.extend(trimmed.parse().map(toml::Value::Float));
    values.extend(trimmed.parse().map(toml::Value::Boolean));
    values.push(toml::Value::String(trimmed.to_owned()));
    let items = trimmed.split(',').map(str::trim).filter(|item| !item.is_empty());
    values.push(items.map(str::to_owned).collect::<Vec<_>>().into());
    values
}

fn flatten_table(table: toml::Table) -> BTreeMap<String, toml::Value> {
    let mut rows = BTreeMap::new();
    for (section, value) in table {
        match value {
            toml::Value::Table(fields) => {
                let fields = fields.into_iter();
                rows.extend(fields.map(|(field, value)| (format!("{section}.{field}"), value)));
            }
            value => drop(rows.insert(section, value)),
        }
    }
    rows
}

fn place_in(text: &str, error: &toml::de::Error) -> String {
    let said = printable_text(error.message());
    match error.span().and_then(|span| text.get(..span.start)) {
        Some(before) => format!("line {}: {said}", before.matches('\n').count() + 1),
        None => said,
    }
}

fn wrong_value(key: &Key, place: &str, reason: &str) -> ConfigError {
    let message = format!("`{}` in {place} is wrong: {reason}", key.name());
    ConfigError::new(message, "")
}

fn unknown_key(name: &str, place: &str) -> ConfigError {
    let keys = KEYS.iter().map(|key| {
        let known = key.name();
        let whole = strsim::normalized_damerau_levenshtein(name, &known);
        // The right key in another section, or in none.
        let is_same = last_part(name) == last_part(&known);
        (if is_same { whole.max(0.9) } else { whole }, known)
    });
    let nearest = keys
        .filter(|(similarity, _)| *similarity > 0.7)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = match nearest {
        Some((_, key)) => format!("did you mean `{key}`?"),
        None => "`mendit config show` lists every setting".to_owned(),
    };
    let message = format!("unknown setting `{}` in {place}", printable_text(name));
    ConfigError::new(message, hint)
}

fn last_part(name: &str) -> Option<String> {
    name.rsplit('.').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{ConfigError, File, KEYS, Origin, Settings};
    use crate::config::Bytes;
    use crate::model::{Profile, SandboxMode};

    fn file(directory: &Path, name: &str, text: &str) -> std::path::PathBuf {
        let path = directory.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn load(text: &str, environment: &[(&str, &str)]) -> Result<Settings, ConfigError> {
        let directory = tempfile::tempdir().unwrap();
        let path = file(directory.path(), "mendit.toml", text);
        let environment = environment
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Settings::load(Some(&File::Trusted(path)), environment)
    }

    fn found(user: &str, text: &str) -> Result<Settings, ConfigError> {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("root");
        file(directory.path(), "user/mendit/config.toml", user);
        let path = file(&root, "mendit.toml", text);
        let user = directory.path().join("user").display().to_string();
        Settings::load(
            Some(&File::Repository { path, root }),
            [("XDG_CONFIG_HOME".to_owned(), user)],
        )
    }

    fn origin(settings: &Settings, name: &str) -> Origin {
        let mut rows = settings.rows();
        rows.find(|(key, ..)| key.name() == name).unwrap().2
    }

    #[test]
    fn stronger_sources_win() {
        let settings = load(
            "[context]\nmax-files = 3\nprofile = \"spec\"\n",
            &[("MENDIT_CONTEXT_MAX_FILES", "7"), ("OTHER", "/x")],
        )
        .unwrap();
        assert_eq!(settings.context.max_files, Some(7));
        assert_eq!(settings.context.profile, Profile::Spec);
        assert_eq!(settings.limits.max_output, Bytes(256 << 20));
        let variable = "MENDIT_CONTEXT_MAX_FILES".to_owned();
        assert_eq!(
            origin(&settings, "context.max-files"),
            Origin::Environment(variable)
        );
        assert!(matches!(
            origin(&settings, "context.profile"),
            Origin::File(_)
        ));
        assert_eq!(origin(&settings, "limits.max-output"), Origin::Default);
        let settings = found(
            "[context]\nmax-files = 1\nmax-tokens = 2\n[test]\ncommand = \"make check\"\n",
            "[context]\nmax-files = 3\n",
        )
        .unwrap();
        assert_eq!(settings.context.max_files, Some(3));
        assert_eq!(settings.context.max_tokens, Some(2));
        assert_eq!(settings.test.command.0, ["make check"]);
    }

    #[test]
    fn lists_that_protect_add_up() {
        let settings = found(
            "[context]\ndeny = [\"a\"]\nallow = [\"src/**\", \"lib/**\"]\n",
            "[context]\ndeny = [\"b\"]\nallow = [\"src/**\"]\n",
        )
        .unwrap();
        assert_eq!(settings.context.deny, ["a", "b"]);
        assert_eq!(settings.context.allow, ["src/**"]);
    }

    #[test]
    fn texts_are_read_by_the_type_of_the_setting() {
        let settings = load(
            "[test]\ncommand = [\"a\", \"b, c\"]\n[limits]\ntimeout = 90\nbudget-seconds = \"1h\"\n",
            &[
                ("MENDIT_LIMITS_MAX_OUTPUT", "2M"),
                ("MENDIT_AGENT_TIMEOUT", "2.5"),
                ("MENDIT_AGENT_COMMAND", "true"),
                ("MENDIT_SANDBOX_NO_NET", "true"),
                ("MENDIT_SANDBOX_MODE", "require"),
                ("MENDIT_CONTEXT_DENY", " a, b ,"),
            ],
        )
        .unwrap();
        assert_eq!(settings.test.command.0, ["a", "b, c"]);
        assert_eq!(settings.limits.timeout.unwrap().0.as_secs(), 90);
        assert_eq!(settings.limits.budget_seconds.0.as_secs(), 3600);
        assert_eq!(settings.limits.max_output, Bytes(2 << 20));
        assert_eq!(settings.agent.timeout.0.as_millis(), 2500);
        assert_eq!(settings.agent.command.as_deref(), Some("true"));
        assert!(settings.sandbox.no_net && settings.sandbox.mode == SandboxMode::Require);
        assert_eq!(settings.context.deny, ["a", "b"]);
    }

    #[test]
    fn names_wrong_setting() {
        for (text, suggestion) in [
            ("[context]\nmax-flies = 3\n", Some("context.max-files")),
            ("max-tokens = 3\n", Some("context.max-tokens")),
            ("[pathc]\nstrict = true\n", Some("patch.strict")),
            ("[zebra]\nstripes = 3\n", None),
            ("x = 3\n", None),
        ] {
            let error = load(text, &[]).unwrap_err();
            let hint = match suggestion {
                Some(key) => format!("did you mean `{key}`?"),
                None => "`mendit config show` lists every setting".to_owned(),
            };
            assert_eq!(error.hint, hint, "{text}: {error}");
        }
        for (text, part) in [
            ("[context]\nmax-files = \"3\"\n", "expected u64"),
            ("[context]\nmax-files = -1\n", "expected u64"),
            ("[limits]\ntimeout = \"soon\"\n", "a number of seconds"),
            ("[limits]\nbudget-usd = nan\n", "at least 0"),
            ("\n\n[", "line 3"),
        ] {
            let error = load(text, &[]).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
        let error = load("", &[("MENDIT_CONTEXT_PROFILE", "x")]).unwrap_err();
        assert!(
            error.to_string().contains("expected `ranked` or `spec`"),
            "{error}"
        );
        let error = load("\"\\u001b]0;x\" = 1\n", &[]).unwrap_err().to_string();
        assert!(!error.contains('\u{1b}'), "{error:?}");
    }

    #[test]
    fn repository_file_cannot_loosen() {
        for (text, part) in [
            ("[test]\ncommand = \"touch x\"\n", "command to run"),
            ("[test]\nsetup = \"touch x\"\n", "command to run"),
            ("[agent]\ncommand = \"touch x\"\n", "command to run"),
            ("[agent]\nenv = [\"TOKEN\"]\n", "passes your variables"),
            ("[test]\nenv = [\"TOKEN\"]\n", "passes your variables"),
            ("[patch]\nallow-protected = [\"**\"]\n", "loosens"),
            ("[sandbox]\nallow-write = [\".\"]\n", "loosens"),
            ("[sandbox]\nworkplace = \"in-place\"\n", "loosens"),
            ("[sandbox]\nmode = \"off\"\n", "less strict"),
            ("[sandbox]\nshare = [\"../x\"]\n", "outside"),
            ("[limits]\nbudget-usd = 1000.0\n", "money"),
        ] {
            let error = found("", text).unwrap_err();
            assert_eq!(error.code.as_str(), "U106", "{text}");
            assert!(error.hint.contains("--trust-config"));
            assert!(error.to_string().contains(part), "{text}: {error}");
            assert!(load(text, &[]).is_ok(), "{text}");
        }
        for (user, text) in [
            (
                "[sandbox]\nmode = \"require\"\n",
                "[sandbox]\nmode = \"auto\"\n",
            ),
            ("[sandbox]\nno-net = true\n", "[sandbox]\nno-net = false\n"),
            (
                "[context]\nallow = [\"src/**\"]\n",
                "[context]\nallow = []\n",
            ),
        ] {
            assert!(
                found(user, text).is_err() && found("", text).is_ok(),
                "{text}"
            );
        }
        let fine = "[limits]\nmax-attempts = 50\n[sandbox]\nshare = [\"vendor\"]\nmode = \"require\"\n\
                    [patch]\nprotected = [\"api/**\"]\nstrict = true\n";
        assert!(found("", fine).is_ok());
    }

    #[test]
    fn reads_file_with_serde() {
        let text = "[context]\nmax-files = 3\n[limits]\ntimeout = \"10m\"\n";
        let sections: super::Sections = toml::from_str(text).unwrap();
        assert_eq!(sections, load(text, &[]).unwrap().sections);
        assert!(toml::from_str::<super::Sections>("[context]\nmax-flies = 3\n").is_err());
        assert!(KEYS.len() <= 36);
    }
}
