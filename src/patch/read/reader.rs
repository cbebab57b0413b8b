use super::blocks::blocks;
use super::clean::clean;
use super::diff::diff;
use super::envelope::envelope;
use super::foreign::foreign;
use super::json::{Packet, amid, whole};
use super::lines::Lines;
use crate::model::{Code, Mend, PatchProblem, Severity};
use crate::patch::PatchSet;

/// Limits of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOptions {
    /// Bytes of the input.
    pub max_bytes: u64,
    /// Bytes of one inflated binary.
    pub max_binary_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            max_bytes: 1 << 30,
            max_binary_bytes: 64 << 20,
        }
    }
}

/// Why an input is no patch at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// Nothing but white space.
    #[error("the input is empty")]
    Empty,
    /// No diff, block, envelope or JSON in it.
    #[error("there is no patch in the input")]
    NoPatch,
    /// A diff of a kind that is not applied.
    #[error("this is {0}, which cannot be applied; send a unified diff")]
    Foreign(&'static str),
    /// More than the limit.
    #[error("the input has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// Not UTF-8 or a superset of ASCII.
    #[error("the input is {0}; send UTF-8")]
    Encoding(&'static str),
}

impl Unread {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Empty => Code::P101,
            Self::NoPatch => Code::P102,
            Self::Foreign(_) => Code::P103,
            Self::TooLarge { .. } => Code::P105,
            Self::Encoding(_) => Code::P106,
        }
    }
}

/// Finds the patch in `input` and hands it to `take`.
///
/// Text of the patch is borrowed, so it is handed over rather than given back.
///
/// # Errors
/// An [`Unread`] when there is no patch to speak of. What is wrong inside a patch is in
/// [`PatchSet::problems`].
pub fn read<T>(
    input: &[u8],
    options: &ReadOptions,
    take: impl FnOnce(PatchSet<'_>) -> T,
) -> Result<T, Unread> {
    let bytes = input.len() as u64;
    if bytes > options.max_bytes {
        let limit = options.max_bytes;
        return Err(Unread::TooLarge { bytes, limit });
    }
    if input.iter().all(u8::is_ascii_whitespace) {
        return Err(Unread::Empty);
    }
    let cleaned = clean(input).map_err(Unread::Encoding)?;
    if let Some(packet) = whole(&cleaned.bytes) {
        return unpack(packet, options, take);
    }
    let lines = Lines::new(&cleaned.bytes);
    match find(&lines, cleaned.mends, options) {
        Err(Unread::NoPatch) => match amid(&cleaned.bytes) {
            Some(packet) => unpack(packet, options, take),
            None => Err(Unread::NoPatch),
        },
        found => found.map(take),
    }
}

// The text of a packet is no packet again.
fn unpack<T>(
    packet: Packet,
    options: &ReadOptions,
    take: impl FnOnce(PatchSet<'_>) -> T,
) -> Result<T, Unread> {
    match packet {
        Packet::Changes(set) => Ok(take(set)),
        Packet::Text(text) => {
            let cleaned = clean(text.as_bytes()).map_err(Unread::Encoding)?;
            find(&Lines::new(&cleaned.bytes), cleaned.mends, options).map(take)
        }
        Packet::Nothing => Err(Unread::NoPatch),
    }
}

fn find<'a>(
    lines: &Lines<'a>,
    mends: Vec<Mend>,
    options: &ReadOptions,
) -> Result<PatchSet<'a>, Unread> {
    let starts = |start: &[u8]| (0..lines.len()).any(|at| lines.get(at).starts_with(start));
    let set = diff(lines, mends, options.max_binary_bytes);
    if !set.files.is_empty() {
        return Ok(set);
    }
    if starts(b"*** Begin Patch") {
        return Ok(envelope(lines, set.mends));
    }
    if let Some(blocks) = blocks(lines, &set.mends) {
        return Ok(blocks);
    }
    if let Some(format) = foreign(lines) {
        return Err(Unread::Foreign(format));
    }
    if set.problems.is_empty() {
        return Err(Unread::NoPatch);
    }
    Ok(set)
}

/// A problem that stops the patch.
pub(super) fn problem(code: Code, patch_line: u32, message: impl Into<String>) -> PatchProblem {
    PatchProblem {
        code,
        severity: Severity::Error,
        path: None,
        patch_line: u64::from(patch_line),
        message: message.into(),
        hint: None,
    }
}
