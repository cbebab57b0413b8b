//! Reads JSON, TOML, YAML and requirements to values: to compare a manifest by its meaning, and to say why a file does
//! not parse.

use serde_json::{Map, Value};

use crate::model::file_name;

/// How a manifest is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    /// JSON; comments and trailing commas pass.
    Json,
    Toml,
    Yaml,
    /// pip's list of requirements.
    Requirements,
}

impl Format {
    /// Returns the format of a settings file by its name; `None` when it is a program or unknown.
    pub(super) fn from_settings_name(path: &str) -> Option<Self> {
        let name = file_name(path).to_ascii_lowercase();
        Some(match name.rsplit_once('.')?.1 {
            "json" | "jsonc" | "json5" => Self::Json,
            "toml" => Self::Toml,
            "yml" | "yaml" => Self::Yaml,
            _ => return None,
        })
    }

    /// Reads a manifest.
    ///
    /// # Errors
    /// Why it cannot be read, in words.
    pub(super) fn read(self, bytes: &[u8]) -> Result<Value, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
        let text = text.trim_start_matches('\u{feff}');
        match self {
            Self::Json => read_json(text),
            Self::Toml => toml::from_str(text).map_err(|error| error.message().to_owned()),
            Self::Yaml if text.trim().is_empty() => Ok(Value::Object(Map::new())),
            #[cfg(feature = "program")]
            Self::Yaml => {
                let checked = serde_yaml_ng::from_str::<serde_yaml_ng::Value>(text);
                let read = checked.and_then(|_| serde_yaml_ng::from_str(text));
                read.map_err(|error| error.to_string())
            }
            #[cfg(not(feature = "program"))]
            Self::Yaml => Err("this build reads no YAML".to_owned()),
            Self::Requirements => Ok(Value::String(
                text.replace("\\\r\n", " ").replace("\\\n", " "),
            )),
        }
    }
}

/// Why a file of JSON, TOML or YAML, as its name says, cannot be read; `None` for any other.
pub fn unreadable(path: &str, bytes: &[u8]) -> Option<String> {
    let format = match path.rsplit_once('.')?.1 {
        "ipynb" | "webmanifest" | "geojson" | "code-workspace" | "har" => Format::Json,
        _ => Format::from_settings_name(path)?,
    };
    format.read(bytes).err()
}

fn read_json(text: &str) -> Result<Value, String> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok(value);
    }
    let mut plain = text.to_owned();
    json_strip_comments::strip(&mut plain).map_err(|error| error.to_string())?;
    serde_json::from_str(&plain).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn equal_manifests_have_one_tree() {
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
        ] {
            let trees: Vec<_> =
                texts.iter().map(|text| format.read(text.as_bytes()).unwrap()).collect();
            assert!(trees.windows(2).all(|pair| pair[0] == pair[1]), "{trees:?}");
        }
    }

    #[test]
    fn rejects_ambiguous_manifest() {
        for (format, text) in [
            (Format::Json, "{"),
            (Format::Toml, "a = 1\na = 2\n"),
            (Format::Toml, "[a\n"),
            (Format::Yaml, "a: 1\na: 2\n"),
            (Format::Yaml, "a: !x {b: 1}\n"),
        ] {
            assert!(format.read(text.as_bytes()).is_err(), "{text}");
        }
        assert!(Format::Json.read(&"[".repeat(100_000).into_bytes()).is_err());
        let bomb = format!(
            "a: &a [x]\n{}",
            (0..40).fold(String::new(), |all, at| {
                let of = if at == 0 { "a".to_owned() } else { format!("b{}", at - 1) };
                all + &format!("b{at}: &b{at} [*{of}, *{of}, *{of}, *{of}]\n")
            })
        );
        assert!(Format::Yaml.read(bomb.as_bytes()).is_err());
    }
}
