//! Decides whether a repository's file may set a value. It may only tighten rules, because a pull
//! request may have written it.

use std::path::{Component, Path};

use toml::Value;

use super::table::Trust;

/// Why a repository's own file may not give a setting this value; `None` when it may. `before` is
/// the value that weaker sources gave it.
pub(super) fn refusal_reason(
    trust: Trust,
    before: Option<&Value>,
    value: &Value,
    root: &Path,
) -> Option<String> {
    match trust {
        Trust::Free => None,
        Trust::Person(why) => Some(why.to_owned()),
        Trust::Inside => value_texts(value)
            .find(|path| leads_out(root, path))
            .map(|_| "names a path outside the repository".to_owned()),
        Trust::Stricter(words) => {
            let rank = |value: Option<&Value>| {
                let word = value_word(value?);
                words.iter().position(|known| **known == word)
            };
            (rank(Some(value)) < rank(before)).then(|| {
                format!(
                    "is less strict than the current {}",
                    before.map_or_else(String::new, value_word)
                )
            })
        }
        Trust::Narrower => {
            let before: Vec<&str> = before.into_iter().flat_map(value_texts).collect();
            let more = value_texts(value).count() == 0
                || value_texts(value).any(|text| !before.contains(&text));
            (!before.is_empty() && more).then(|| "has more than your own list".to_owned())
        }
    }
}

fn value_word(value: &Value) -> String {
    match value {
        Value::String(word) => word.clone(),
        value => serde_json::to_string(value).unwrap_or_default(),
    }
}

fn value_texts(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().map_or(&[][..], Vec::as_slice).iter().filter_map(Value::as_str)
}

// By its words, or by a link on the way. Git's own folder counts as outside.
fn leads_out(root: &Path, text: &str) -> bool {
    let path = Path::new(text);
    if text.starts_with('~')
        || text.contains('\\')
        || !path.components().all(|part| match part {
            Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            Component::CurDir => true,
            _ => false,
        })
    {
        return true;
    }
    let Ok(real) = root.canonicalize() else {
        return true;
    };
    let place = root.join(path);
    let there = place.ancestors().find(|folder| folder.symlink_metadata().is_ok());
    !there.is_some_and(|folder| folder.canonicalize().is_ok_and(|path| path.starts_with(&real)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use toml::Value;

    use super::refusal_reason;
    use crate::config::table::Trust;

    fn list(items: &[&str]) -> Value {
        Value::from(items.to_vec())
    }

    #[test]
    fn paths_stay_inside() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("root");
        std::fs::create_dir_all(root.join("inside")).unwrap();
        for (to, name) in [("..", "up"), ("inside", "in"), ("nowhere", "lost")] {
            std::os::unix::fs::symlink(to, root.join(name)).unwrap();
        }
        let free =
            |path: &str| refusal_reason(Trust::Inside, None, &list(&[path]), &root).is_none();
        for path in ["inside", "./inside/x", "new/folder"] {
            assert!(free(path), "{path}");
        }
        for path in [
            "/etc", "~/x", "~", "../x", "inside/../../x", ".git", "a/.GIT/x", "..\\x",
        ] {
            assert!(!free(path), "{path}");
        }
        assert!(free("in") && !free("up") && !free("up/x") && !free("lost"));
    }

    #[test]
    fn rules_are_only_made_stricter() {
        let sandbox = Trust::Stricter(&["off", "auto", "require"]);
        let free = |trust, before: Value, value: Value| {
            refusal_reason(trust, Some(&before), &value, Path::new(".")).is_none()
        };
        for (before, value, expected) in [
            ("auto", "require", true),
            ("auto", "auto", true),
            ("auto", "off", false),
            ("require", "auto", false),
            ("off", "auto", true),
        ] {
            assert_eq!(
                free(sandbox, before.into(), value.into()),
                expected,
                "{before} {value}"
            );
        }
        let switch = Trust::Stricter(&["false", "true"]);
        assert!(free(switch, false.into(), true.into()));
        assert!(!free(switch, true.into(), false.into()));
        for (before, value, expected) in [
            (&[][..], &["src/**"][..], true),
            (&["src/**", "lib/**"], &["src/**"], true),
            (&["src/**"], &["**"], false),
            (&["src/**"], &[], false),
        ] {
            let free = free(Trust::Narrower, list(before), list(value));
            assert_eq!(free, expected, "{before:?} {value:?}");
        }
        assert!(!free(
            Trust::Person("is a command"),
            false.into(),
            true.into()
        ));
    }
}
