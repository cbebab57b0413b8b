use std::fmt::Write as _;

use super::keys::KEYS;

/// A configuration file with every setting, its help and its default, all commented out: it says
/// what there is and changes nothing.
#[must_use]
pub fn commented_defaults() -> String {
    let mut text = String::from(
        "# Settings of mendit. Flags and MENDIT_* variables go before what stands here;\n\
         # `mendit config show` prints what is in force and why.\n",
    );
    let mut open = "";
    for key in KEYS {
        let (section, name) = key.name.split_once('.').unwrap_or(("", key.name));
        // Writing to a String cannot fail.
        if section != open {
            let _ = writeln!(text, "\n[{section}]");
            open = section;
        }
        let _ = writeln!(text, "# {}: {}", key.help, key.kind.expected());
        let _ = writeln!(text, "#{name} = {}", key.default);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::commented_defaults;
    use crate::config::{KEYS, Settings};

    #[test]
    fn every_setting_is_named_once_and_none_is_set() {
        let text = commented_defaults();
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mendit.toml");
        std::fs::write(&file, &text).unwrap();
        let plain = Settings::load(None, []).unwrap();
        assert_eq!(Settings::load(Some(&file), []).unwrap(), plain);
        for key in KEYS {
            let (_, name) = key.name.split_once('.').unwrap();
            assert_eq!(text.matches(&format!("#{name} =")).count(), 1, "{name}");
        }
    }

    #[test]
    fn taking_the_marks_away_keeps_the_defaults() {
        let set = KEYS.iter().filter(|key| !key.default.is_empty());
        let set: Vec<&str> = set.filter_map(|key| key.name.split('.').nth(1)).collect();
        let lines = commented_defaults();
        let lines = lines.lines().map(|line| {
            let name = line.strip_prefix('#').and_then(|it| it.split(' ').next());
            match name {
                Some(name) if set.contains(&name) => &line[1..],
                _ => line,
            }
        });
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mendit.toml");
        std::fs::write(&file, lines.collect::<Vec<_>>().join("\n")).unwrap();
        let loaded = Settings::load(Some(&file), []).unwrap();
        let plain = Settings::load(None, []).unwrap();
        let values = |it: &Settings| {
            let rows = it.rows();
            rows.map(|(_, row)| row.map(|it| it.0.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(values(&loaded), values(&plain));
    }
}
