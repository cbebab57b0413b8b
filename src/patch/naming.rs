/// How names are turned into paths.
#[derive(Debug, Clone, Default)]
pub(super) struct Naming<'a> {
    /// Leading components to strip; `None` finds out.
    pub(super) strip: Option<usize>,
    /// Put before every path.
    pub(super) directory: &'a str,
    /// Nothing is mended.
    pub(super) strict: bool,
}
