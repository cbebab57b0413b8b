//! Finds the format of an input and reads it.

use super::amid::{find_amid, read_whole};
use super::blocks::read_blocks;
use super::claims::{Claims, Form, add_others, first_form, weigh_prose};
use super::clean::clean_input;
use super::diff::read_diff;
use super::envelope::read_envelope;
use super::fenced::read_fenced;
use super::json::Packet;
use crate::model::{Code, Mend, PatchProblem, Refusal, refuse};
use crate::patch::PatchSet;

/// A larger input is refused, as git refuses it.
const MAX_INPUT_BYTES: usize = 1 << 30;

/// Finds the patch in `input` and hands it to `take`.
///
/// Text of the patch is borrowed, so it is handed over rather than given back.
///
/// # Errors
/// A [`Refusal`] when there is no patch to speak of. What is wrong inside a patch is in
/// [`PatchSet::problems`].
pub fn read<T>(input: &[u8], take: impl FnOnce(PatchSet<'_>) -> T) -> Result<T, Refusal> {
    if input.len() > MAX_INPUT_BYTES {
        let message = format!("the input has more than {MAX_INPUT_BYTES} bytes");
        return refuse(Code::P105, message);
    }
    if input.iter().all(u8::is_ascii_whitespace) {
        return refuse(Code::P101, "the input is empty");
    }
    let (bytes, mends) = clean_input(input).map_err(refuse_encoding)?;
    let bytes = &*bytes;
    if let Some(packet) = read_whole(bytes) {
        return unpack_packet(packet, take);
    }
    let lines = Lines::new(bytes);
    match find_patch(&lines, mends.clone()) {
        Err(refusal) if refusal.code == Code::P102 => without_marks(bytes, &lines, mends, take),
        found => found.map(take),
    }
}

// A reply in which no text form of a patch shows its marks.
fn without_marks<T>(
    bytes: &[u8],
    lines: &Lines<'_>,
    mends: Vec<Mend>,
    take: impl FnOnce(PatchSet<'_>) -> T,
) -> Result<T, Refusal> {
    if let Some((packet, spans)) = find_amid(bytes).filter(|found| found.0.is_read()) {
        return unpack_packet(packet, |set| take(add_others(lines, Claims { set, spans })));
    }
    if let Some(files) = read_fenced(lines, &|_| false).and_then(|found| found.claim_files(mends)) {
        return Ok(take(add_others(lines, files)));
    }
    Err(no_patch())
}

// The text of a packet is no packet again.
fn unpack_packet<T>(packet: Packet, take: impl FnOnce(PatchSet<'_>) -> T) -> Result<T, Refusal> {
    match packet {
        Packet::Changes(mut set, prose) => {
            weigh_prose(&mut set, &prose);
            Ok(take(set))
        }
        Packet::Text(text, unread, prose) => {
            let (bytes, mends) = clean_input(text.as_bytes()).map_err(refuse_encoding)?;
            let mut set = find_patch(&Lines::new(&bytes), mends)?;
            weigh_prose(&mut set, &prose);
            set.unread.extend(unread);
            Ok(take(set))
        }
        Packet::Nothing | Packet::Unread(_) => Err(no_patch()),
    }
}

fn find_patch<'a>(lines: &Lines<'a>, mends: Vec<Mend>) -> Result<PatchSet<'a>, Refusal> {
    Ok(add_others(lines, find_claims(lines, mends)?))
}

fn find_claims<'a>(lines: &Lines<'a>, mends: Vec<Mend>) -> Result<Claims<'a>, Refusal> {
    let claims = match first_form(lines).map(|(_, form)| form) {
        Some(Form::Blocks) => read_blocks(lines, &mends),
        Some(Form::Envelope) => Some(read_envelope(lines, mends.clone())),
        Some(Form::Diff) | None => None,
    };
    let claims_anything =
        |claims: &Claims<'_>| !claims.set.files.is_empty() || !claims.set.problems.is_empty();
    if let Some(claims) = claims.filter(claims_anything) {
        return Ok(claims);
    }
    let claims = read_diff(lines, mends);
    if !claims.set.files.is_empty() {
        return Ok(claims);
    }
    if let Some(blocks) = read_blocks(lines, &claims.set.mends) {
        return Ok(blocks);
    }
    if claims.set.problems.is_empty() {
        return Err(no_patch());
    }
    Ok(claims)
}

fn no_patch() -> Refusal {
    Refusal::new(Code::P102, "there is no patch in the input")
}

fn refuse_encoding(name: &str) -> Refusal {
    Refusal::new(Code::P106, format!("the input is {name}; send UTF-8"))
}

/// A problem that stops the patch.
pub(super) fn problem(code: Code, patch_line: u32, message: impl Into<String>) -> PatchProblem {
    PatchProblem::new(code, message).at(None, u64::from(patch_line))
}

/// The lines of an input, without their line feeds.
#[derive(Clone)]
pub(super) struct Lines<'a> {
    lines: Vec<&'a [u8]>,
    /// Whether the last line has no line feed.
    pub(super) cut: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let mut lines = Vec::with_capacity(bytes.len() / 32 + 1);
        let mut start = 0;
        for feed in memchr::memchr_iter(b'\n', bytes) {
            lines.push(bytes.get(start..feed).unwrap_or_default());
            start = feed + 1;
        }
        let rest = bytes.get(start..).unwrap_or_default();
        let cut = !rest.is_empty();
        if cut {
            lines.push(rest);
        }
        Self { lines, cut }
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// The line at this index; empty past the end.
    pub(super) fn get(&self, at: usize) -> &'a [u8] {
        self.lines.get(at).copied().unwrap_or_default()
    }

    /// Empties the line at this index.
    pub(super) fn blank_line(&mut self, at: usize) {
        if let Some(line) = self.lines.get_mut(at) {
            *line = &[];
        }
    }

    /// The line at this index, when there is one.
    pub(super) fn line(&self, at: usize) -> Option<&'a [u8]> {
        self.lines.get(at).copied()
    }
}

/// A line number as documents count them.
pub(super) fn line_number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}
