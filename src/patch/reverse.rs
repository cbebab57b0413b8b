use super::content::reverse_hunk;
use super::set::{Body, Edit, FilePatch, IndexLine, PatchSet, Side};
use crate::model::Operation;

/// The patch that undoes a patch; its sections are in reverse order.
pub(super) fn reverse(mut set: PatchSet<'_>) -> PatchSet<'_> {
    set.files.reverse();
    set.files = set.files.into_iter().map(reverse_file).collect();
    set
}

fn reverse_file(mut file: FilePatch<'_>) -> FilePatch<'_> {
    let headers = &mut file.headers;
    std::mem::swap(&mut headers.minus, &mut headers.plus);
    std::mem::swap(&mut headers.rename_from, &mut headers.rename_to);
    std::mem::swap(&mut headers.old_mode, &mut headers.new_mode);
    std::mem::swap(&mut headers.new_file_mode, &mut headers.deleted_file_mode);
    headers.index = headers.index.map(|index| IndexLine {
        old: index.new,
        new: index.old,
        mode: index.mode,
    });
    headers.explicit = headers.explicit.map(|operation| match operation {
        Operation::Create => Operation::Delete,
        Operation::Delete => Operation::Create,
        other => other,
    });
    // Undoing a copy deletes what it made.
    if let Some(to) = headers.copy_to.take() {
        headers.copied_from = headers.copy_from.take();
        headers.explicit = Some(Operation::Delete);
        headers.minus = Some(Side::Name(to));
        headers.plus = Some(Side::Null);
    }
    // The names of this line do not swap; beside others it would seem spoofed.
    if headers.minus.is_some() || headers.rename_from.is_some() {
        headers.git_line = None;
    }
    file.body = match file.body {
        Body::Hunks(hunks) => Body::Hunks(hunks.iter().rev().map(reverse_hunk).collect()),
        Body::Binary(forward, Some(backward)) => Body::Binary(backward, Some(forward)),
        Body::Binary(..) => Body::BinaryWithoutData,
        Body::Edits(edits) => Body::Edits(
            edits
                .into_iter()
                .rev()
                .map(|edit| Edit {
                    old: edit.new,
                    new: edit.old,
                    line: edit.line,
                    all: edit.all,
                    after: None,
                })
                .collect(),
        ),
        other => other,
    };
    file
}
