//! A section of a patch, as git reads it.

use super::white_space::Rules;
use crate::patch::canonical::quote_path;
use crate::patch::set::Binary;

/// What the patch says about one file.
#[derive(Debug, Clone, Default)]
pub(in crate::patch) struct Section<'a> {
    pub(in crate::patch) old_name: Option<String>,
    pub(in crate::patch) new_name: Option<String>,
    /// The name of the `diff --git` line, when both sides agree on one.
    pub(in crate::patch) default_name: Option<String>,
    /// Modes; 0 when not said.
    pub(in crate::patch) old_mode: u32,
    pub(in crate::patch) new_mode: u32,
    /// `None` while it is unknown.
    pub(in crate::patch) is_new: Option<bool>,
    pub(in crate::patch) is_delete: Option<bool>,
    pub(in crate::patch) is_rename: bool,
    pub(in crate::patch) is_copy: bool,
    pub(in crate::patch) is_binary: bool,
    /// Names count from the root, not from the user's directory.
    pub(in crate::patch) from_root: bool,
    pub(in crate::patch) old_id: &'a [u8],
    pub(in crate::patch) new_id: &'a [u8],
    /// How much of the file stays, or of a rewritten one goes, in hundredths.
    pub(in crate::patch) score: u32,
    pub(in crate::patch) hunks: Vec<Hunk<'a>>,
    pub(in crate::patch) binary: Option<(Binary, Option<Binary>)>,
    pub(in crate::patch) rules: Rules,
    pub(in crate::patch) cr_in_old: bool,
    /// The line of the first header that says new, deleted, renamed or copied.
    pub(in crate::patch) extension_line: usize,
}

/// One hunk as it is in the patch.
#[derive(Debug, Clone, Default)]
pub(in crate::patch) struct Hunk<'a> {
    pub(in crate::patch) old_start: usize,
    pub(in crate::patch) old_lines: usize,
    pub(in crate::patch) new_start: usize,
    pub(in crate::patch) new_lines: usize,
    pub(in crate::patch) leading: usize,
    pub(in crate::patch) trailing: usize,
    /// From its `@@` line to its last line.
    pub(in crate::patch) text: &'a [u8],
    /// The line of the patch it starts at.
    pub(in crate::patch) line: usize,
}

const TYPE: u32 = 0o170_000;

/// Whether a mode is that of a symbolic link.
pub(in crate::patch) fn is_link(mode: u32) -> bool {
    mode & TYPE == 0o120_000
}

/// Whether a mode is that of a submodule.
pub(in crate::patch) fn is_submodule(mode: u32) -> bool {
    mode & TYPE == 0o160_000
}

/// Whether two modes are of different types.
pub(in crate::patch) fn differ_in_type(one: u32, two: u32) -> bool {
    (one ^ two) & TYPE != 0
}

impl Section<'_> {
    pub(in crate::patch) fn creates(&self) -> bool {
        self.is_new == Some(true)
    }

    pub(in crate::patch) fn deletes(&self) -> bool {
        self.is_delete == Some(true)
    }

    /// The name for messages about what is read.
    pub(in crate::patch) fn name(&self) -> &str {
        self.old_name.as_deref().or(self.new_name.as_deref()).unwrap_or_default()
    }

    /// The name for messages about what is written.
    pub(in crate::patch) fn target(&self) -> &str {
        self.new_name.as_deref().or(self.old_name.as_deref()).unwrap_or_default()
    }

    /// Whether something changes besides content.
    pub(in crate::patch) fn changes_metadata(&self) -> bool {
        let mode = self.old_mode != 0 && self.new_mode != 0 && self.old_mode != self.new_mode;
        self.is_rename || self.is_copy || self.creates() || self.deletes() || mode
    }

    /// Turns the section round. The lines of hunks are read the other way when they are placed.
    pub(in crate::patch) fn reverse(&mut self) {
        std::mem::swap(&mut self.old_name, &mut self.new_name);
        if self.new_mode != 0 {
            std::mem::swap(&mut self.old_mode, &mut self.new_mode);
        }
        std::mem::swap(&mut self.is_new, &mut self.is_delete);
        std::mem::swap(&mut self.old_id, &mut self.new_id);
        for hunk in &mut self.hunks {
            std::mem::swap(&mut hunk.old_start, &mut hunk.new_start);
            std::mem::swap(&mut hunk.old_lines, &mut hunk.new_lines);
        }
    }
}

/// The names of a section in messages: both when they differ.
pub(in crate::patch) fn said_name(section: &Section<'_>) -> String {
    match (&section.old_name, &section.new_name) {
        (Some(old), Some(new)) if old != new => {
            format!("{} => {}", quote_path("", old), quote_path("", new))
        }
        _ => quote_path("", section.target()),
    }
}

impl<'a> From<Section<'a>> for SectionResult<'a> {
    fn from(section: Section<'a>) -> Self {
        Self {
            section,
            ..Self::default()
        }
    }
}

/// A validated section.
#[derive(Debug, Default)]
pub(in crate::patch) struct SectionResult<'a> {
    pub(in crate::patch) section: Section<'a>,
    /// It was refused, and nothing in it is written.
    pub(in crate::patch) refused: bool,
    /// The content after it, as the repository has it.
    pub(in crate::patch) after: Vec<u8>,
    /// Which hunks were left out.
    pub(in crate::patch) rejected: Vec<bool>,
    /// Base, ours and theirs of a merge that left conflicts; a created file has no base.
    pub(in crate::patch) conflict: Option<[Option<Vec<u8>>; 3]>,
}

#[cfg(test)]
mod tests {
    use super::{differ_in_type, is_link, is_submodule};

    #[test]
    fn knows_types_of_modes() {
        for (mode, link, submodule) in [
            (0o100_644, false, false),
            (0o120_000, true, false),
            (0o160_000, false, true),
        ] {
            assert_eq!((is_link(mode), is_submodule(mode)), (link, submodule));
        }
        assert!(differ_in_type(0o100_644, 0o120_000) && !differ_in_type(0o100_644, 0o100_755));
    }
}
