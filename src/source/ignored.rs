//! Reads the `.gitignore` rules of a source.

use std::collections::HashMap;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::Source;
use crate::model::RepoPath;

/// The rules of a source's `.gitignore` files, also for paths that do not exist.
pub struct Ignored<'a> {
    source: &'a dyn Source,
    exclude: Gitignore,
    rules: HashMap<String, Gitignore>,
}

impl<'a> Ignored<'a> {
    /// Rules of `source`; `exclude` is the text of `.git/info/exclude`.
    pub fn new(source: &'a dyn Source, exclude: &str) -> Self {
        Self {
            source,
            exclude: parse_patterns(exclude),
            rules: HashMap::new(),
        }
    }

    /// Whether git would leave this file out, were it not tracked. As git does, nothing below an
    /// ignored folder is reverted.
    pub fn is_ignored(&mut self, path: &RepoPath) -> bool {
        let text = path.as_str();
        let mut ends: Vec<usize> = text.match_indices('/').map(|(at, _)| at).collect();
        ends.push(text.len());
        ends.into_iter().any(|end| {
            let (part, is_dir) = (text.get(..end).unwrap_or_default(), end < text.len());
            self.matches(part, is_dir)
        })
    }

    // The nearest file that says something of the path decides.
    fn matches(&mut self, path: &str, is_dir: bool) -> bool {
        let mut directory = path;
        while let Some(end) = directory.rfind('/') {
            directory = directory.get(..end).unwrap_or_default();
            let rest = path.get(end + 1..).unwrap_or_default();
            if let Some(said) = self.said(directory, rest, is_dir) {
                return said;
            }
        }
        if let Some(said) = self.said("", path, is_dir) {
            return said;
        }
        self.exclude.matched(path, is_dir).is_ignore()
    }

    fn said(&mut self, directory: &str, rest: &str, is_dir: bool) -> Option<bool> {
        if !self.rules.contains_key(directory) {
            let path = RepoPath::resolve(directory, ".gitignore").ok();
            let text = path.and_then(|path| self.source.read(&path).ok());
            let rules = text.map_or_else(Gitignore::empty, |text| {
                parse_patterns(&String::from_utf8_lossy(&text))
            });
            self.rules.insert(directory.to_owned(), rules);
        }
        match self.rules.get(directory)?.matched(rest, is_dir) {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        }
    }
}

// A line that is no pattern counts for nothing.
fn parse_patterns(text: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new("");
    for line in text.lines() {
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

#[cfg(test)]
mod tests {
    use super::Ignored;
    use crate::model::RepoPath;
    use crate::source::Memory;

    #[test]
    fn nearest_ignore_rule_decides() {
        let path = |text: &str| RepoPath::new(text).unwrap();
        let source = Memory::named([
            (".gitignore", "build/\n*.log\n!keep.log\n"),
            ("pkg/.gitignore", "/gen.py\n!*.log\n"),
        ]);
        let mut ignored = Ignored::new(&source, "notes.md\n");
        for (text, expected) in [
            ("build/a.py", true),
            ("pkg/build/a.py", true),
            ("a.log", true),
            ("keep.log", false),
            ("pkg/a.log", false),
            ("pkg/gen.py", true),
            ("pkg/sub/gen.py", false),
            ("notes.md", true),
            ("src/a.py", false),
        ] {
            assert_eq!(ignored.is_ignored(&path(text)), expected, "{text}");
        }
    }
}
