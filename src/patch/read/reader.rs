//! Finds the format of an input and reads it.

use super::amid::{find_amid, read_whole};
use super::blocks::read_blocks;
use super::claims::{Claims, Form, add_others, first_form, weigh_prose};
use super::clean::{READINGS, build_mend, clean_input};
use super::diff::read_diff;
use super::envelope::read_envelope;
use super::fenced::{headed_fence, read_fenced};
use super::json::Packet;
use crate::model::{Code, Mend, Refusal, refuse};
use crate::patch::PatchSet;
use crate::patch::set::FilePatch;
use crate::patch::text::Text;

/// Finds the patch in `input` and hands it to `take`.
///
/// Text of the patch is borrowed, so it is handed over rather than given back.
///
/// # Errors
/// A [`Refusal`] when there is no patch to speak of. What is wrong inside a patch is in
/// [`PatchSet::problems`].
pub fn read<T>(input: &[u8], take: impl FnOnce(PatchSet<'_>) -> T) -> Result<T, Refusal> {
    // A larger input is refused, as git refuses it.
    let max_input_bytes = 1 << 30;
    if input.len() > max_input_bytes {
        let message = format!("the input has more than {max_input_bytes} bytes");
        return refuse(Code::P705, message);
    }
    if input.iter().all(u8::is_ascii_whitespace) {
        return refuse(Code::P102, "the input is empty");
    }
    let (bytes, mends) = clean_input(input).map_err(refuse_encoding)?;
    let bytes = &*bytes;
    if let Some(packet) = read_whole(bytes) {
        return unpack_packet(packet, take);
    }
    let lines = Text::new(bytes);
    let plain = find_patch(&lines, mends.clone());
    let is_read = plain.as_ref().is_ok_and(counts_hold);
    // What takes away indentation is for inputs in which nothing was found.
    let others = READINGS.iter().skip(usize::from(plain.is_ok()));
    for (rewrite, message) in others.filter(|_| !is_read) {
        let Some(other) = rewrite(bytes) else {
            continue;
        };
        let mends = [&mends[..], &[build_mend(message)]].concat();
        if let Some(set) = find_patch(&Text::new(&other), mends).ok().filter(counts_hold) {
            return Ok(take(set));
        }
    }
    match plain {
        Err(refusal) if refusal.code == Code::P102 => without_marks(bytes, &lines, mends, take),
        found => found.map(take),
    }
}

/// Whether nothing speaks against a reading: no problem, and no count that does not hold.
fn counts_hold(set: &PatchSet<'_>) -> bool {
    let mut hunks = set.files.iter().flat_map(FilePatch::hunks);
    let is_sound = set.problems.is_empty() && !set.files.is_empty();
    is_sound && hunks.all(|hunk| hunk.counts_hold || hunk.old.is_none())
}

// A reply in which no text form of a patch shows its marks.
fn without_marks<T>(
    bytes: &[u8],
    lines: &Text<'_>,
    mends: Vec<Mend>,
    take: impl FnOnce(PatchSet<'_>) -> T,
) -> Result<T, Refusal> {
    if let Some((packet, spans)) = find_amid(bytes).filter(|found| found.0.is_read()) {
        return unpack_packet(packet, |set| take(add_others(lines, Claims { set, spans })));
    }
    if let Some(files) = read_fenced(lines, &|_| false).and_then(|found| found.claim_files(mends)) {
        return Ok(take(add_others(lines, files)));
    }
    Err(headed_fence(lines).map_or_else(no_patch, refuse_fence))
}

fn refuse_fence((line, name): (u32, &[u8])) -> Refusal {
    let name = String::from_utf8_lossy(name);
    let message = format!(
        "there is no patch in the input: the fence at line {line} is headed by `{name}`, but it is unclear which lines of that file it replaces"
    );
    Refusal::new(Code::P102, message).hint(format!(
        "write `{name}` on a line of its own, followed by a SEARCH/REPLACE block or the whole file in a fence"
    ))
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
            let mut set = find_patch(&Text::new(&bytes), mends)?;
            weigh_prose(&mut set, &prose);
            set.unread.extend(unread);
            Ok(take(set))
        }
        Packet::Nothing | Packet::Unread(_) => Err(no_patch()),
    }
}

fn find_patch<'a>(lines: &Text<'a>, mends: Vec<Mend>) -> Result<PatchSet<'a>, Refusal> {
    Ok(add_others(lines, find_claims(lines, mends)?))
}

fn find_claims<'a>(lines: &Text<'a>, mends: Vec<Mend>) -> Result<Claims<'a>, Refusal> {
    let claims = match first_form(lines).map(|(_, form)| form) {
        Some(Form::Blocks) => read_blocks(lines, &mends),
        Some(Form::Envelope) => Some(read_envelope(lines, mends.clone())),
        Some(Form::Diff) | None => None,
    };
    if let Some(claims) =
        claims.filter(|claims| !claims.set.files.is_empty() || !claims.set.problems.is_empty())
    {
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
