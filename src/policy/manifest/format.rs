use std::collections::BTreeMap;

use super::tree::Tree;
use crate::model::file_name;

/// How a manifest is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    /// JSON; comments and trailing commas pass.
    Json,
    /// TOML.
    Toml,
    /// Sections of `key = value`.
    Ini,
    /// YAML.
    Yaml,
    /// pip's list of requirements.
    Requirements,
}

impl Format {
    /// The format of a settings file by its name; `None` when it is a program or unknown.
    pub(super) fn of_settings(path: &str) -> Option<Self> {
        let name = file_name(path).to_ascii_lowercase();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        Some(match extension {
            "json" | "jsonc" | "json5" => Self::Json,
            "toml" => Self::Toml,
            "yml" | "yaml" => Self::Yaml,
            "ini" | "cfg" | "coveragerc" | "flake8" | "pylintrc" => Self::Ini,
            _ => return None,
        })
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub(super) fn read(self, bytes: &[u8]) -> Result<Tree, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let text = text.trim_start_matches('\u{feff}');
        match self {
            Self::Json => json(text),
            Self::Toml => toml::from_str(text).map_err(|error| error.message().to_owned()),
            Self::Yaml if text.trim().is_empty() => Ok(Tree::empty()),
            #[cfg(feature = "program")]
            Self::Yaml => serde_yaml_ng::from_str(text).map_err(|error| error.to_string()),
            #[cfg(not(feature = "program"))]
            Self::Yaml => Err("this build reads no YAML".to_owned()),
            Self::Ini => read_ini(text),
            Self::Requirements => Ok(read_requirements(text)),
        }
    }
}

/// Why a file of JSON, TOML or YAML, as its name says, cannot be read; `None` for any other.
#[must_use]
pub fn unreadable(path: &str, bytes: &[u8]) -> Option<String> {
    let format = match path.rsplit_once('.')?.1 {
        "ipynb" | "webmanifest" | "geojson" | "code-workspace" | "har" => Format::Json,
        _ => Format::of_settings(path).filter(|it| *it != Format::Ini)?,
    };
    format.read(bytes).err()
}

fn json(text: &str) -> Result<Tree, String> {
    if let Ok(tree) = serde_json::from_str(text) {
        return Ok(tree);
    }
    let mut plain = text.to_owned();
    json_strip_comments::strip(&mut plain).map_err(|error| error.to_string())?;
    serde_json::from_str(&plain).map_err(|error| error.to_string())
}

/// Reads sections of `key = value` as Python's configparser does: keys in any case, lines that
/// start with white space go on with the value above.
///
/// # Errors
/// A line that is neither, a section or key that stands twice.
fn read_ini(text: &str) -> Result<Tree, String> {
    let mut sections: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut section: Option<String> = None;
    let mut key: Option<String> = None;
    for (at, line) in text.lines().enumerate() {
        let content = line.trim();
        if content.is_empty() || content.starts_with(['#', ';']) {
            continue;
        }
        let number = at + 1;
        let goes_on = line.starts_with([' ', '\t']);
        if goes_on
            && let Some(value) = section
                .as_ref()
                .and_then(|section| sections.get_mut(section))
                .and_then(|keys| keys.get_mut(key.as_ref()?))
        {
            value.push('\n');
            value.push_str(content);
            continue;
        }
        if let Some(name) = content.strip_prefix('[') {
            let name = name
                .split_once(']')
                .map(|(name, _)| name)
                .ok_or_else(|| format!("the section of line {number} has no end"))?;
            if sections.insert(name.to_owned(), BTreeMap::new()).is_some() {
                return Err(format!("the section `{name}` stands twice"));
            }
            section = Some(name.to_owned());
            key = None;
            continue;
        }
        let keys = section
            .as_ref()
            .and_then(|section| sections.get_mut(section))
            .ok_or_else(|| format!("line {number} stands in no section"))?;
        let (name, value) = content.split_once(['=', ':']).unwrap_or((content, ""));
        let name = name.trim().to_ascii_lowercase();
        if keys.insert(name.clone(), value.trim().to_owned()).is_some() {
            return Err(format!("the key `{name}` stands twice"));
        }
        key = Some(name);
    }
    let tables = sections.into_iter().map(|(section, keys)| {
        let texts = keys
            .into_iter()
            .map(|(key, value)| (key, Tree::Text(value)));
        (section, Tree::Table(texts.collect()))
    });
    Ok(Tree::Table(tables.collect()))
}

/// Reads pip's list of requirements: `packages` has one entry for each requirement, `options` one
/// for each line that tells pip how to work.
fn read_requirements(text: &str) -> Tree {
    let mut packages = BTreeMap::new();
    let mut options = BTreeMap::new();
    for line in text.replace("\\\r\n", " ").replace("\\\n", " ").lines() {
        let line = line.trim();
        let end = line
            .match_indices('#')
            .find(|(at, _)| {
                *at == 0
                    || line
                        .as_bytes()
                        .get(at - 1)
                        .is_some_and(u8::is_ascii_whitespace)
            })
            .map_or(line.len(), |(at, _)| at);
        let words: Vec<&str> = line.get(..end).unwrap_or(line).split_whitespace().collect();
        let Some(first) = words.first() else {
            continue;
        };
        if first.starts_with('-') {
            let option = words.join(" ");
            options.insert(option.clone(), Tree::Text(option));
            continue;
        }
        // Hashes only narrow what is taken.
        let plain: Vec<&str> = words
            .into_iter()
            .filter(|word| !word.starts_with("--hash=sha256:"))
            .collect();
        let (name, marker) = plain.iter().position(|word| word.contains(';')).map_or(
            (plain.concat(), String::new()),
            |at| {
                (
                    plain.get(..at).unwrap_or_default().concat(),
                    plain.get(at..).unwrap_or_default().join(" "),
                )
            },
        );
        let requirement = format!("{name}{marker}");
        packages.insert(requirement.clone(), Tree::Text(requirement));
    }
    let named = [("packages", packages), ("options", options)];
    let tables = named
        .into_iter()
        .filter(|(_, table)| !table.is_empty())
        .map(|(name, table)| (name.to_owned(), Tree::Table(table)));
    Tree::Table(tables.collect())
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn one_meaning_has_one_tree() {
        for (format, texts) in [
            (
                Format::Toml,
                &[
                    "[tool.pytest]\na = 1\n",
                    "[ tool . \"pytest\" ] # why\n\"a\"=1",
                    "tool.pytest.a = 1",
                    "tool = {pytest = {a = 1}}",
                ][..],
            ),
            (
                Format::Json,
                &[
                    r#"{"scripts":{"test":"a"}}"#,
                    "\u{feff}{ // why\n\"scr\\u0069pts\": {\"test\": \"a\",},}",
                ],
            ),
            (Format::Yaml, &["a:\n  - b\n", "# why\n\"a\": [b]"]),
            (
                Format::Ini,
                &["[a]\nb = c\n  d\n", "; why\n[a]\nB: c\n\td\n\n"],
            ),
            (
                Format::Requirements,
                &["a==1\nb>=2\n", "b >= 2 # why\n\n# none\na == 1"],
            ),
        ] {
            let trees: Vec<_> = texts
                .iter()
                .map(|text| format.read(text.as_bytes()).unwrap())
                .collect();
            assert!(trees.windows(2).all(|pair| pair[0] == pair[1]), "{trees:?}");
        }
    }

    #[test]
    fn what_readers_may_understand_differently_cannot_be_read() {
        for (format, text) in [
            (Format::Json, r#"{"a":1,"\u0061":2}"#),
            (Format::Json, r#"{"a":{"b":1,"b":2}}"#),
            (Format::Json, "{"),
            (Format::Toml, "a = 1\na = 2\n"),
            (Format::Toml, "[a\n"),
            (Format::Yaml, "a: 1\na: 2\n"),
            (Format::Yaml, "a: !x {b: 1}\n"),
            (Format::Ini, "[a]\nb = 1\nB = 2\n"),
            (Format::Ini, "[a]\n[a]\n"),
            (Format::Ini, "b = 1\n"),
        ] {
            assert!(format.read(text.as_bytes()).is_err(), "{text}");
        }
        assert!(
            Format::Json
                .read(&"[".repeat(100_000).into_bytes())
                .is_err()
        );
        let bomb = format!(
            "a: &a [x]\n{}",
            (0..40).fold(String::new(), |all, at| {
                let of = if at == 0 {
                    "a".to_owned()
                } else {
                    format!("b{}", at - 1)
                };
                all + &format!("b{at}: &b{at} [*{of}, *{of}, *{of}, *{of}]\n")
            })
        );
        assert!(Format::Yaml.read(bomb.as_bytes()).is_err());
    }
}
