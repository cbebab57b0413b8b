use gix::merge::blob::Resolution;
use gix::merge::blob::builtin_driver::text::{Conflict, ConflictStyle, Labels, Options};

/// What becomes of conflicts in a merge of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflicts {
    /// They are marked with both sides.
    Mark,
    /// They are marked with both sides and what they came from.
    MarkWithBase,
    /// The same, with common lines at the edges outside the marks.
    MarkZealously,
    /// Our side is taken.
    Ours,
    /// Their side is taken.
    Theirs,
    /// Both are taken, one after the other.
    Union,
}

/// Merges what leads from `base` to `theirs` into `ours`; gives the text, and whether it has
/// conflicts left.
#[must_use]
pub fn merge_texts(
    ours: &[u8],
    base: &[u8],
    theirs: &[u8],
    conflicts: Conflicts,
) -> (Vec<u8>, bool) {
    let marked = |style| match Conflict::default() {
        Conflict::Keep { marker_size, .. } => Conflict::Keep { style, marker_size },
        other => other,
    };
    let conflict = match conflicts {
        Conflicts::Mark => marked(ConflictStyle::Merge),
        Conflicts::MarkWithBase => marked(ConflictStyle::Diff3),
        Conflicts::MarkZealously => marked(ConflictStyle::ZealousDiff3),
        Conflicts::Ours => Conflict::ResolveWithOurs,
        Conflicts::Theirs => Conflict::ResolveWithTheirs,
        Conflicts::Union => Conflict::ResolveWithUnion,
    };
    let labels = Labels {
        ancestor: Some("base".into()),
        current: Some("ours".into()),
        other: Some("theirs".into()),
    };
    let options = Options {
        conflict,
        ..Options::default()
    };
    let mut out = Vec::new();
    let mut input = gix::diff::blob::InternedInput::default();
    let resolution = gix::merge::blob::builtin_driver::text(
        &mut out, &mut input, labels, ours, base, theirs, options,
    );
    (out, resolution == Resolution::Conflict)
}

#[cfg(test)]
mod tests {
    use super::{Conflicts, merge_texts};

    #[test]
    fn merges_and_marks() {
        let merge = |how| merge_texts(b"1\na\n3\n", b"1\n2\n3\n", b"1\nb\n3\n", how);
        let (text, left) = merge(Conflicts::Mark);
        assert!(left);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            "1\n<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n3\n"
        );
        assert_eq!(merge(Conflicts::Theirs), (b"1\nb\n3\n".to_vec(), false));
        assert_eq!(merge(Conflicts::Union), (b"1\na\nb\n3\n".to_vec(), false));
    }
}
