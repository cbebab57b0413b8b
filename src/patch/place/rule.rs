use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use crate::model::{Code, Safety};
use crate::patch::set::{HunkLine, LineKind};

/// How far a line of the patch may differ from the line of the file it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "they vary independently")]
pub(in crate::patch) struct Rule {
    /// A context line may have lost the space that marks it.
    space: bool,
    /// White space at the end does not count.
    trailing: bool,
    /// In context, typographic quotes, dashes and spaces stand for plain ones.
    punctuation: bool,
    /// White space at the start does not count.
    indent: bool,
    /// The mend that using it amounts to.
    pub(super) mend: Option<MendNote>,
}

/// What a mend is called and how far it can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::patch) struct MendNote {
    pub(in crate::patch) code: Code,
    pub(in crate::patch) safety: Safety,
    pub(in crate::patch) message: &'static str,
}

impl MendNote {
    pub(super) const fn safe(code: Code, message: &'static str) -> Self {
        Self {
            code,
            safety: Safety::Safe,
            message,
        }
    }

    pub(super) const fn lossy(code: Code, message: &'static str) -> Self {
        Self {
            code,
            safety: Safety::Lossy,
            message,
        }
    }
}

/// Byte for byte.
pub(super) const EXACT: Rule = Rule {
    space: false,
    trailing: false,
    punctuation: false,
    indent: false,
    mend: None,
};

/// All but the indentation.
pub(super) const INDENTED: Rule = Rule {
    indent: true,
    ..EXACT
};

/// The rules after [`EXACT`], the strictest first.
pub(super) const LENIENT: &[Rule] = &[
    Rule {
        space: true,
        mend: Some(MendNote::safe(
            Code::M303,
            "put back the space that marks context lines",
        )),
        ..EXACT
    },
    Rule {
        trailing: true,
        mend: Some(MendNote::safe(
            Code::M403,
            "took white space at line ends from the file",
        )),
        ..EXACT
    },
    Rule {
        trailing: true,
        punctuation: true,
        mend: Some(MendNote::safe(
            Code::M403,
            "took quotes, dashes and spaces of context from the file",
        )),
        ..EXACT
    },
];

impl Rule {
    /// Whether it lets nothing differ but white space at line ends and the marks of context.
    pub(super) fn keeps_every_word(&self) -> bool {
        !self.punctuation
    }

    /// Whether a line of the patch stands for this line of the file.
    pub(super) fn same(&self, line: &HunkLine<'_>, file: &[u8]) -> bool {
        let text = line.text();
        if text == file {
            return true;
        }
        if self.indent {
            let (text, file) = (text.trim_ascii_start(), file.trim_ascii_start());
            return text == file || self.trailing && text.trim_ascii_end() == file.trim_ascii_end();
        }
        let is_context = line.kind == LineKind::Context;
        if self.trailing && trim_end(text) == trim_end(file) {
            return true;
        }
        if !is_context {
            return false;
        }
        if self.space && line.prefixed {
            let raw = &*line.line;
            if raw == file || (self.trailing && trim_end(raw) == trim_end(file)) {
                return true;
            }
        }
        self.punctuation && plain(trim_end(text)) == plain(trim_end(file))
    }
}

// A carriage return is no white space here: line ends are not mixed.
pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let end = line
        .iter()
        .rposition(|byte| !matches!(byte, b' ' | b'\t'))
        .map_or(0, |at| at + 1);
    line.get(..end).unwrap_or_default()
}

/// With plain quotes, dashes and spaces for typographic ones.
pub(super) fn plain(line: &[u8]) -> Cow<'_, [u8]> {
    if line.is_ascii() {
        return Cow::Borrowed(line);
    }
    let Ok(text) = std::str::from_utf8(line) else {
        return Cow::Borrowed(line);
    };
    let mut out = String::with_capacity(text.len());
    for letter in text.nfc() {
        match letter {
            '\u{2018}' | '\u{2019}' | '\u{201a}' => out.push('\''),
            '\u{201c}' | '\u{201d}' | '\u{201e}' => out.push('"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => out.push('-'),
            '\u{2026}' => out.push_str("..."),
            '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\u{3000}' => out.push(' '),
            other => out.push(other),
        }
    }
    Cow::Owned(out.into_bytes())
}
