//! Chooses the environment variables of a command. Credentials are left out, because the command may be
//! untrusted code.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Which variables a command sees: those that tools need to work (search paths, locale, directories of
/// toolchains and caches, proxies; none is named like a secret), and more by name. Everything else of this
/// process's environment stays here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// More variables: `NAME` hands on this process's own, `NAME=VALUE` sets one.
    pub allow: Vec<String>,
}

impl Environment {
    /// The default one with more variables.
    pub fn with(allow: Vec<String>) -> Self {
        Self { allow }
    }

    /// The variables a command gets, of those that `parent` has. Sorted by name.
    pub fn variables(
        &self,
        parent: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let named: Vec<&str> = self
            .allow
            .iter()
            .filter(|name| !name.contains('='))
            .map(String::as_str)
            .collect();
        let mut variables = BTreeMap::new();
        variables.insert("TERM".into(), "dumb".into());
        for (name, value) in parent {
            let is_named = name.to_str().is_some_and(|name| named.contains(&name));
            if is_named || (is_default(&name) && !has_login(&value)) {
                variables.insert(name, value);
            }
        }
        for pair in &self.allow {
            if let Some((name, value)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) {
                variables.insert(name.into(), value.into());
            }
        }
        variables
    }
}

fn is_default(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    name.starts_with("LC_") || defaults().any(|known| known == name)
}

// Addresses of proxies and registries may carry a user name and a password.
fn has_login(value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    value.match_indices("://").any(|(at, found)| {
        let rest = value.get(at + found.len()..).unwrap_or("");
        rest.split(['/', ' ', ',', '?', '#']).next().unwrap_or("").contains('@')
    })
}

fn defaults() -> impl Iterator<Item = &'static str> {
    let rows = include_str!("variables.txt").lines();
    rows.filter(|row| !row.starts_with('#')).flat_map(str::split_whitespace)
}

#[cfg(test)]
mod tests {
    use super::Environment;

    fn names(environment: &Environment, parent: &[(&str, &str)]) -> Vec<String> {
        let parent = parent.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        environment
            .variables(parent)
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect()
    }

    #[test]
    fn passes_only_listed_variables() {
        let parent = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("TERM", "xterm"),
            ("GITHUB_TOKEN", "s3cret"),
            ("DATABASE_URL", "postgres://u:p@h/d"),
            ("HTTP_PROXY", "http://user:pass@proxy:1"),
            ("https_proxy", "http://proxy:1"),
        ];
        let plain = Environment::default();
        let usual = [
            "LC_ALL=C", "PATH=/bin", "TERM=dumb", "https_proxy=http://proxy:1",
        ];
        assert_eq!(names(&plain, &parent), usual);
        let more = Environment {
            allow: ["DATABASE_URL", "A=b=c", "GONE", "=x"].map(str::to_owned).to_vec(),
        };
        let named = ["A=b=c", "DATABASE_URL=postgres://u:p@h/d"];
        assert_eq!(names(&more, &parent), [&named[..], &usual[..]].concat());
    }

    #[test]
    fn no_default_is_named_like_a_secret() {
        for name in super::defaults() {
            for word in ["TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "PRIVATE"] {
                assert!(!name.to_ascii_uppercase().contains(word), "{name}");
            }
        }
    }
}
