use crate::patch::set::{Body, FilePatch, HunkLine, LineKind, PatchSet, Side};

/// Whether a section of one form makes no other changes than sections of another form make.
pub(super) fn repeats(file: &FilePatch<'_>, set: &PatchSet<'_>) -> bool {
    let others: Vec<Change<'_>> = same_file(file, set).flat_map(changes).collect();
    let here = changes(file);
    !here.is_empty() && here.iter().all(|change| others.contains(change))
}

// The lines that a hunk or an edit takes and adds, without the blanks at their edges.
#[derive(PartialEq, Eq)]
struct Change<'a> {
    removed: Vec<Vec<u8>>,
    added: Vec<Vec<u8>>,
    // A change of nothing but place or existence.
    operation: Option<(&'a [u8], bool)>,
}

fn same_file<'s, 'a>(
    file: &FilePatch<'_>,
    set: &'s PatchSet<'a>,
) -> impl Iterator<Item = &'s FilePatch<'a>> {
    let name = last_name(file).map(<[u8]>::to_vec);
    set.files
        .iter()
        .filter(move |other| name.is_some() && last_name(other) == name.as_deref())
}

fn last_name<'s>(file: &'s FilePatch<'_>) -> Option<&'s [u8]> {
    let headers = &file.headers;
    let side = |side: &'s Option<Side<'_>>| side.as_ref().and_then(Side::name);
    let name = side(&headers.plus).or_else(|| side(&headers.minus))?;
    name.rsplit(|byte| *byte == b'/').next()
}

fn changes<'s>(file: &'s FilePatch<'_>) -> Vec<Change<'s>> {
    match &file.body {
        Body::Hunks(hunks) => hunks
            .iter()
            .map(|hunk| {
                let of = |kind| {
                    let lines = hunk.lines.iter().filter(move |it| it.kind == kind);
                    trimmed(lines.map(HunkLine::text))
                };
                Change {
                    removed: of(LineKind::Remove),
                    added: of(LineKind::Add),
                    operation: None,
                }
            })
            .collect(),
        Body::Edits(edits) => edits
            .iter()
            .map(|edit| {
                let old = trimmed(edit.old.split(|byte| *byte == b'\n'));
                let new = trimmed(edit.new.split(|byte| *byte == b'\n'));
                let without = |lines: &[Vec<u8>], other: &[Vec<u8>]| {
                    let lines = lines.iter().filter(|it| !other.contains(it));
                    lines.cloned().collect::<Vec<_>>()
                };
                Change {
                    removed: without(&old, &new),
                    added: without(&new, &old),
                    operation: None,
                }
            })
            .collect(),
        Body::Whole(content) => vec![Change {
            removed: Vec::new(),
            added: vec![content.clone()],
            operation: None,
        }],
        Body::Empty => vec![Change {
            removed: Vec::new(),
            added: Vec::new(),
            operation: last_name(file).map(|name| (name, file.headers.plus == Some(Side::Null))),
        }],
        Body::Binary(..) | Body::BinaryWithoutData => Vec::new(),
    }
}

fn trimmed<'l>(lines: impl Iterator<Item = &'l [u8]>) -> Vec<Vec<u8>> {
    let lines = lines.map(<[u8]>::trim_ascii).filter(|it| !it.is_empty());
    lines.map(<[u8]>::to_vec).collect()
}
