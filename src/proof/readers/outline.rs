/// What a line of an indented list of tests is.
pub(super) enum OutlineLine<'l, E> {
    /// A suite or test that holds others.
    Heading(&'l str),
    /// A test and how it ended.
    Test(&'l str, E),
    /// Nothing of the list.
    Other,
}

/// The tests of an indented list with the path of headings above each. What is indented by less than
/// `least` heads nothing.
pub(super) fn outline<'l, E>(
    lines: impl Iterator<Item = &'l str>,
    least: usize,
    read: impl Fn(&'l str) -> OutlineLine<'l, E>,
) -> Vec<(Vec<&'l str>, E)> {
    let mut above: Vec<(usize, &str)> = Vec::new();
    let mut found = Vec::new();
    for line in lines {
        let bare = line.trim_start();
        let depth = line.len() - bare.len();
        match read(bare) {
            OutlineLine::Heading(title) => {
                above.retain(|(at, _)| *at < depth);
                if depth >= least {
                    above.push((depth, title));
                }
            }
            OutlineLine::Test(title, end) => {
                above.retain(|(at, _)| *at < depth);
                let mut path: Vec<&str> = above.iter().map(|(_, title)| *title).collect();
                path.push(title);
                found.push((path, end));
            }
            OutlineLine::Other => {}
        }
    }
    found
}
