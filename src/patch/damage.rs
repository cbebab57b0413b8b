use super::set::{FilePatch, HunkLine, LineKind};
use super::text::Text;
use crate::model::{BlobId, Code, Refusal};

// Whether the blob id that the patch announces is that of the result.
pub(super) fn proven(sections: &[&FilePatch<'_>], bytes: &[u8]) -> bool {
    let announced = sections.last().and_then(|section| section.headers.index);
    announced.is_some_and(|index| {
        index.new.len() >= 7
            && BlobId::from_content(bytes)
                .to_string()
                .as_bytes()
                .starts_with(&index.new.to_ascii_lowercase())
    })
}

pub(super) fn newline_lost() -> Refusal {
    let message = "what the patch does to the newline at the end of the file is in doubt, and no blob id confirms it";
    let mut failure = Refusal::new(Code::P306, message);
    failure.hint = Some(
        "leave `\\ No newline at end of file` out, or send the output of `git diff`".to_owned(),
    );
    failure
}

// Added lines that carry a damage which the old lines of the same hunks cannot show.
pub(super) fn damaged(
    text: &Text<'_>,
    hunks: &[&[HunkLine<'_>]],
    sections: &[&FilePatch<'_>],
) -> Option<(u64, Refusal)> {
    if let Some(line) = hunks.iter().find_map(|lines| lost_indent(lines)) {
        let message = "the new lines have lost the indentation of the lines that they replace";
        return Some((u64::from(line), Refusal::new(Code::P311, message)));
    }
    let lines = || hunks.iter().copied().flatten();
    let added = || lines().filter(|line| line.kind == LineKind::Add);
    let path = sections.first()?.headers.plus.as_ref()?.name()?;
    let markup = [
        &b".html"[..],
        b".htm",
        b".xml",
        b".svg",
        b".md",
        b".mdx",
        b".rst",
        b".tsx",
        b".jsx",
        b".vue",
        b".svelte",
        b".po",
    ];
    if markup.iter().any(|end| path.ends_with(end)) {
        return None;
    }
    let entity = |text: &[u8]| {
        [&b"&lt;"[..], b"&gt;", b"&amp;"]
            .iter()
            .any(|it| memchr::memmem::find(text, it).is_some())
    };
    let bare = |text: &[u8]| text.contains(&b'<') || text.contains(&b'>');
    let line = added().find(|line| entity(line.text()))?;
    if lines().any(|line| bare(line.text())) || (0..text.len()).any(|at| entity(text.line(at))) {
        return None;
    }
    let message = "added lines have HTML entities, and nothing else in the patch or the file has";
    Some((u64::from(line.at), Refusal::new(Code::P311, message)))
}

// The first line of a block whose two sides begin with the same words, the new one less indented, where not
// all lines are moved alike.
fn lost_indent(lines: &[HunkLine<'_>]) -> Option<u32> {
    let side = |gone: LineKind| {
        let lines = lines.iter().filter(move |line| line.kind != gone);
        lines.filter(|line| !line.prefixed && !line.text().trim_ascii().is_empty())
    };
    let (old, new) = (side(LineKind::Add).next()?, side(LineKind::Remove).next()?);
    let alike = old.text().trim_ascii() == new.text().trim_ascii();
    let words = |gone| side(gone).map(|line| line.text().trim_ascii());
    let moved = words(LineKind::Add).eq(words(LineKind::Remove));
    (alike && new.text().len() < old.text().len() && !moved).then_some(new.at)
}
