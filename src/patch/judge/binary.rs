use super::super::bodies::apply_delta;
use super::super::set::{Binary, FilePatch};
use super::section::refuse;
use crate::model::{BlobId, Code, Refusal};

// The content that a binary patch leads to; both ids have to prove it.
pub(super) fn binary(
    file: &FilePatch<'_>,
    before: &[u8],
    data: &Binary,
) -> Result<Vec<u8>, Refusal> {
    let id = |text: &[u8]| {
        let full = text.len() == 40 && text.iter().all(u8::is_ascii_hexdigit);
        full.then(|| String::from_utf8_lossy(text).to_ascii_lowercase())
    };
    let Some((old, new)) = file.headers.index.and_then(|it| id(it.old).zip(id(it.new))) else {
        return refuse(
            Code::P603,
            "a binary patch needs full blob ids in its index line",
        );
    };
    let zero = "0".repeat(40);
    let is = |bytes: &[u8], id: &str| {
        BlobId::of(bytes).to_string() == id || (bytes.is_empty() && id == zero)
    };
    if !is(before, &old) {
        return refuse(
            Code::P604,
            "the file is not the one the binary patch was made for",
        );
    }
    let after = match data {
        Binary::Literal(bytes) => Some(bytes.clone()),
        Binary::Delta(delta) => apply_delta(before, delta),
    };
    match after {
        Some(after) if is(&after, &new) => Ok(after),
        Some(_) => refuse(
            Code::P605,
            "the binary patch does not lead to the content it announces",
        ),
        None => refuse(Code::P601, "the binary delta is damaged"),
    }
}
