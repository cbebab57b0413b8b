pub use gix::merge::blob::builtin_driver::text::Conflict as MergeConflict;
use gix::merge::blob::builtin_driver::text::{Labels, Options};

use super::Repository;

impl Repository {
    /// Merges what leads from `base` to `theirs` into `ours`, with conflicts settled or else marked as the
    /// configuration says; gives the text, and whether conflicts are left.
    #[must_use]
    pub fn merge_texts(
        &self,
        [ours, base, theirs]: [&[u8]; 3],
        settled: Option<MergeConflict>,
    ) -> (Vec<u8>, bool) {
        let options = self.local().blob_merge_options();
        let mut options = options.map_or_else(|_| Options::default(), |options| options.text);
        options.conflict = settled.unwrap_or(options.conflict);
        let labels = Labels {
            ancestor: Some("base".into()),
            current: Some("ours".into()),
            other: Some("theirs".into()),
        };
        let (mut out, mut input) = (Vec::new(), gix::diff::blob::InternedInput::default());
        let resolution = gix::merge::blob::builtin_driver::text(
            &mut out, &mut input, labels, ours, base, theirs, options,
        );
        (out, resolution == gix::merge::blob::Resolution::Conflict)
    }
}
