//! Converts line ends by `core.autocrlf` and attributes.

use std::borrow::Cow;

use crate::git::Attribute;
use crate::patch::canonical::is_binary;
use crate::patch::text::with_line_ends;

/// How the line ends of a path differ between repository and worktree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LineEnds {
    /// Carriage returns go on the way into the repository.
    text: bool,
    /// Only when the content looks like text.
    auto: bool,
    /// Carriage returns come on the way out.
    crlf: bool,
}

/// The settings `core.autocrlf` and `core.eol`.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    pub(super) auto_crlf: Option<String>,
    pub(super) eol: Option<String>,
}

impl LineEnds {
    /// Works out what the attributes `text`, `eol` and `crlf` of a path say, then the settings.
    pub(super) fn choose(
        text: &Attribute,
        eol: &Attribute,
        crlf: &Attribute,
        all: &Settings,
    ) -> Self {
        let auto_crlf = all.auto_crlf.as_deref().unwrap_or_default();
        let converts_out = matches!(auto_crlf, "true" | "yes" | "on" | "1")
            || (auto_crlf != "input"
                && all.eol.as_deref().is_some_and(|eol| eol.eq_ignore_ascii_case("crlf")));
        let asked = if *text == Attribute::Unspecified { crlf } else { text };
        let (auto, mut crlf) = match asked {
            Attribute::Unset => return Self::default(),
            Attribute::Set => (false, converts_out),
            Attribute::Value(value) if value == "auto" => (true, converts_out),
            Attribute::Value(value) if value == "input" => (false, false),
            _ => match (eol, auto_crlf) {
                (Attribute::Value(_), _) => (false, false),
                (_, "true" | "yes" | "on" | "1") => (true, true),
                (_, "input") => (true, false),
                _ => return Self::default(),
            },
        };
        if let Attribute::Value(value) = eol {
            crlf = value == "crlf";
        }
        Self {
            text: true,
            auto,
            crlf,
        }
    }

    /// The bytes as the repository has them.
    pub(super) fn to_git(self, bytes: &[u8]) -> Vec<u8> {
        if !self.text || (self.auto && is_binary(bytes)) {
            return bytes.to_vec();
        }
        with_line_ends(bytes, b"\n")
    }

    /// The bytes as the worktree has them.
    pub(super) fn to_worktree(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        let leave =
            !self.text || !self.crlf || (self.auto && (is_binary(bytes) || bytes.contains(&b'\r')));
        if leave {
            return Cow::Borrowed(bytes);
        }
        Cow::Owned(with_line_ends(bytes, b"\r\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::{LineEnds, Settings};
    use crate::git::Attribute;

    #[test]
    fn converts_as_attributes_and_settings_say() {
        let none = Attribute::Unspecified;
        let auto = Attribute::Value("auto".to_owned());
        let plain = Settings::default();
        assert_eq!(
            LineEnds::choose(&none, &none, &none, &plain),
            LineEnds::default()
        );
        let ends = LineEnds::choose(&auto, &none, &none, &plain);
        assert_eq!(ends.to_git(b"a\r\nb\n"), b"a\nb\n");
        assert_eq!(ends.to_git(b"a\0\r\n"), b"a\0\r\n");
        assert_eq!(*ends.to_worktree(b"a\n"), *b"a\n");
        let out = Settings {
            auto_crlf: Some("true".to_owned()),
            eol: None,
        };
        let ends = LineEnds::choose(&none, &none, &none, &out);
        assert_eq!(*ends.to_worktree(b"a\nb\n"), *b"a\r\nb\r\n");
        assert_eq!(*ends.to_worktree(b"a\r\nb\n"), *b"a\r\nb\n");
    }
}
