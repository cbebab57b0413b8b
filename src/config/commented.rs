use std::fmt::Write as _;

use super::table::KEYS;

/// A configuration file with every setting, its help and its default, all commented out: it says
/// what there is and changes nothing.
#[must_use]
pub fn commented_defaults() -> String {
    let mut text = String::from(
        "# Settings of mendit. Flags and MENDIT_* variables go before what stands here;\n\
         # `mendit config show` prints what is in force and why.\n",
    );
    let mut open = String::new();
    for key in KEYS {
        let (section, name) = key.parts();
        // Writing to a String cannot fail.
        if section != open {
            let _ = writeln!(text, "\n[{section}]");
            open = section;
        }
        let _ = writeln!(text, "# {}: {}", key.help(), key.expected());
        let _ = match key.default() {
            Some(default) => writeln!(text, "#{name} = {default}"),
            None => writeln!(text, "#{name} ="),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::commented_defaults;
    use crate::config::{File, KEYS, Settings};

    fn load(text: &str) -> Settings {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("mendit.toml");
        std::fs::write(&file, text).unwrap();
        Settings::load(Some(&File::Trusted(file)), []).unwrap()
    }

    #[test]
    fn every_setting_is_named_once_and_none_is_set() {
        let text = commented_defaults();
        assert_eq!(load(&text), Settings::default());
        let names = text.lines().filter_map(|line| line.strip_prefix('#'));
        let names = names.filter(|line| !line.starts_with(' '));
        let names: Vec<&str> = names.filter_map(|line| line.split(' ').next()).collect();
        let keys: Vec<String> = KEYS.iter().map(|key| key.parts().1).collect();
        assert_eq!(names, keys);
    }

    #[test]
    fn taking_the_marks_away_keeps_the_defaults() {
        let mut text = String::new();
        for line in commented_defaults().lines() {
            let set = line.strip_prefix('#').filter(|it| !it.starts_with(' '));
            text.push_str(set.filter(|it| !it.ends_with('=')).unwrap_or(line));
            text.push('\n');
        }
        let values = |it: &Settings| it.rows().map(|row| row.1).collect::<Vec<_>>();
        let loaded = load(&text);
        assert_eq!(values(&loaded), values(&Settings::default()));
        assert_ne!(loaded, Settings::default(), "the file set nothing");
    }
}
