use super::place::{Kind, foreign_kind};
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

// Added lines that all stand one space further in than anything around them, where the hunks remove
// nothing that could show whether that is meant; the first of them.
fn space_too_many(text: &Text<'_>, hunks: &[&[HunkLine<'_>]]) -> Option<u32> {
    let odd = |line: &[u8]| {
        let blanks = line.iter().take_while(|byte| **byte == b' ').count();
        // ` * ` goes on with a comment.
        blanks % 2 == 1 && line.get(blanks).is_some_and(|byte| *byte != b'*')
    };
    let mut first = None;
    for hunk in hunks {
        let mut added = hunk.iter().filter(|it| it.kind == LineKind::Add);
        let solid = |line: &&HunkLine<'_>| !line.text().trim_ascii().is_empty();
        let adds_alone = hunk.iter().all(|it| it.kind != LineKind::Remove);
        if adds_alone && let Some(line) = added.clone().find(solid) {
            if !added.all(|line| !solid(&line) || odd(line.text())) {
                return None;
            }
            first = first.or(Some(line.at));
        }
    }
    first.filter(|_| (0..text.len()).all(|row| !odd(text.line(row))))
}

// Added lines that carry a damage which the old lines of the same hunks cannot show.
pub(super) fn damaged(
    text: &Text<'_>,
    hunks: &[&[HunkLine<'_>]],
    sections: &[&FilePatch<'_>],
) -> Option<(u64, Refusal)> {
    let lines = || hunks.iter().copied().flatten();
    let added = || lines().filter(|line| line.kind == LineKind::Add);
    let refuse =
        |line: u32, code, message: &str| Some((u64::from(line), Refusal::new(code, message)));
    if let Some((kind, line)) = foreign_kind(text, &lines().collect::<Vec<_>>()) {
        let message = match kind {
            Kind::Tabs => "added lines are indented with tabs, and the file with spaces",
            Kind::Blanks => "added lines are indented with spaces, and the file with tabs",
        };
        return refuse(line.at, Code::P310, message);
    }
    if let Some(line) = space_too_many(text, hunks) {
        let message = "every added line has a space before it that no line of the file has";
        return refuse(line, Code::P310, message);
    }
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
    refuse(
        line.at,
        Code::P311,
        "added lines have HTML entities, and nothing else in the patch or the file has",
    )
}
