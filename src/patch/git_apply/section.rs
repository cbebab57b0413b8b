use super::super::set::Binary;
use super::white_space::Rules;

/// What the patch says about one file.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "they vary independently")]
pub(super) struct Section<'a> {
    pub(super) old_name: Option<String>,
    pub(super) new_name: Option<String>,
    /// The name of the `diff --git` line, when both sides agree on one.
    pub(super) default_name: Option<String>,
    /// Modes; 0 when not said.
    pub(super) old_mode: u32,
    pub(super) new_mode: u32,
    /// `None` until something tells.
    pub(super) is_new: Option<bool>,
    pub(super) is_delete: Option<bool>,
    pub(super) is_rename: bool,
    pub(super) is_copy: bool,
    pub(super) is_binary: bool,
    /// Names count from the root, not from the user's directory.
    pub(super) from_root: bool,
    pub(super) old_id: &'a [u8],
    pub(super) new_id: &'a [u8],
    pub(super) score: u32,
    pub(super) added: usize,
    pub(super) deleted: usize,
    pub(super) hunks: Vec<Hunk<'a>>,
    pub(super) binary: Option<(Binary, Option<Binary>)>,
    pub(super) rules: Rules,
    pub(super) cr_in_old: bool,
    /// The line of the first header that says new, deleted, renamed or copied.
    pub(super) extension_line: usize,
}

/// One hunk as it stands in the patch.
#[derive(Debug, Clone, Default)]
pub(super) struct Hunk<'a> {
    pub(super) old_start: usize,
    pub(super) old_lines: usize,
    pub(super) new_start: usize,
    pub(super) new_lines: usize,
    pub(super) leading: usize,
    pub(super) trailing: usize,
    /// From its `@@` line to its last line.
    pub(super) text: &'a [u8],
    /// The line of the patch it starts at.
    pub(super) line: usize,
}

const TYPE: u32 = 0o170_000;

/// Whether a mode is that of a symbolic link.
pub(super) fn is_link(mode: u32) -> bool {
    mode & TYPE == 0o120_000
}

/// Whether a mode is that of a submodule.
pub(super) fn is_submodule(mode: u32) -> bool {
    mode & TYPE == 0o160_000
}

/// Whether two modes are of different types.
pub(super) fn differ_in_type(one: u32, two: u32) -> bool {
    (one ^ two) & TYPE != 0
}

impl Section<'_> {
    pub(super) fn creates(&self) -> bool {
        self.is_new == Some(true)
    }

    pub(super) fn deletes(&self) -> bool {
        self.is_delete == Some(true)
    }

    /// The name for messages about what is read.
    pub(super) fn name(&self) -> &str {
        self.old_name
            .as_deref()
            .or(self.new_name.as_deref())
            .unwrap_or_default()
    }

    /// The name for messages about what is written.
    pub(super) fn target(&self) -> &str {
        self.new_name
            .as_deref()
            .or(self.old_name.as_deref())
            .unwrap_or_default()
    }

    /// Whether something changes besides content.
    pub(super) fn changes_metadata(&self) -> bool {
        let mode = self.old_mode != 0 && self.new_mode != 0 && self.old_mode != self.new_mode;
        self.is_rename || self.is_copy || self.creates() || self.deletes() || mode
    }

    /// Turns the section round. The lines of hunks are read the other way when they are placed.
    pub(super) fn reverse(&mut self) {
        std::mem::swap(&mut self.old_name, &mut self.new_name);
        if self.new_mode != 0 {
            std::mem::swap(&mut self.old_mode, &mut self.new_mode);
        }
        std::mem::swap(&mut self.is_new, &mut self.is_delete);
        std::mem::swap(&mut self.added, &mut self.deleted);
        std::mem::swap(&mut self.old_id, &mut self.new_id);
        for hunk in &mut self.hunks {
            std::mem::swap(&mut hunk.old_start, &mut hunk.new_start);
            std::mem::swap(&mut hunk.old_lines, &mut hunk.new_lines);
        }
    }
}

/// The names of a section in messages: both when they differ.
pub(super) fn said_name(section: &Section<'_>) -> String {
    match (&section.old_name, &section.new_name) {
        (Some(old), Some(new)) if old != new => format!("{} => {}", quoted(old), quoted(new)),
        _ => quoted(section.target()),
    }
}

/// A name in C quotes when it needs them.
pub(super) fn quoted(name: &str) -> String {
    super::super::canonical::quote("", name)
}

/// A section that has been judged.
#[derive(Debug, Default)]
pub(super) struct SectionResult<'a> {
    pub(super) section: Section<'a>,
    /// The whole section was refused, and is not written.
    pub(super) refused: bool,
    /// The content after it, as the repository has it.
    pub(super) after: Vec<u8>,
    /// Which hunks were left out.
    pub(super) rejected: Vec<bool>,
    /// The sides of a merge that left conflicts.
    pub(super) conflict: Option<Sides>,
    /// Nothing else looks at the content, and nobody wants it written.
    pub(super) judged_only: bool,
    pub(super) straight_to_merge: bool,
}

/// Base, ours and theirs of a merge with conflicts; a created file has no base.
#[derive(Debug, Clone)]
pub(super) struct Sides {
    pub(super) base: Option<Vec<u8>>,
    pub(super) ours: Vec<u8>,
    pub(super) theirs: Vec<u8>,
}
