//! git's rules for the headers of a patch: words, names, modes.

mod header;
mod naming;
mod section;
mod timestamp;
mod white_space;

pub(super) use header::{
    complete_names, git_header, is_header_word, read_header, read_traditional,
};
pub(super) use naming::{Naming, has_open_quote};
pub(super) use section::{Hunk, Section, SectionResult};
pub(super) use section::{differ_in_type, is_link, is_submodule, said_name};
pub(super) use white_space::{Errors, Rule, Rules, is_blank, same_but_for_space};

/// Nothing can go on: the words, and that the exit code is 128.
#[derive(Debug)]
pub(in crate::patch) struct Fatal(pub(in crate::patch) String);

/// The first line of a text with its newline.
pub(in crate::patch) fn line_of(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'\n', text).map_or(text.len(), |at| at + 1);
    text.get(..end).unwrap_or_default()
}
