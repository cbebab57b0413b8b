//! Globs that do not regard case: tables whose rows are about paths, and the globs of a person.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use foldhash::{HashMap, HashMapExt as _};
use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

/// A row of a table of paths.
pub(super) trait PathRow {
    /// The globs of the row; any of them counts.
    fn globs(&self) -> &[&'static str];

    /// Globs that take a path out again.
    fn exceptions(&self) -> &[&'static str] {
        &[]
    }
}

/// The rows of a built-in table, in the order in which they decide. A glob is compiled for the first path that
/// has its literal part, because that costs more than to parse a small file.
pub(super) struct PathTable<R> {
    rows: Vec<R>,
    // Globs by the first four bytes of their literal part. Paths are short, and this is built faster than an automaton.
    starts: HashMap<u32, Vec<usize>>,
    globs: Vec<TableGlob>,
}

/// The key of globs whose literal part is shorter than four bytes; no path has it.
const ANY_START: u32 = 0;

/// A glob of a table.
struct TableGlob {
    pattern: &'static str,
    literal: &'static str,
    row: usize,
    is_exception: bool,
    matcher: OnceLock<Option<GlobMatcher>>,
}

impl TableGlob {
    fn matches(&self, path: &str) -> bool {
        self.matcher
            .get_or_init(|| compile_glob(self.pattern).ok().map(|glob| glob.compile_matcher()))
            .as_ref()
            .is_some_and(|matcher| matcher.is_match(path))
    }
}

impl<R: PathRow> PathTable<R> {
    /// Reads a table; a test asks for each of its globs.
    pub(super) fn new(rows: Vec<R>) -> Self {
        let (mut globs, mut starts) = (Vec::new(), HashMap::new());
        for (row, of) in rows.iter().enumerate() {
            let own = of.globs().iter().map(|glob| (glob, false));
            let exceptions = of.exceptions().iter().map(|glob| (glob, true));
            for (&pattern, is_exception) in own.chain(exceptions) {
                let literal = literal_part(pattern);
                let start = literal.as_bytes().first_chunk().copied().map(u32::from_ne_bytes);
                let start: &mut Vec<usize> = starts.entry(start.unwrap_or(ANY_START)).or_default();
                start.push(globs.len());
                globs.push(TableGlob {
                    pattern,
                    literal,
                    row,
                    is_exception,
                    matcher: OnceLock::new(),
                });
            }
        }
        Self {
            rows,
            starts,
            globs,
        }
    }

    /// Returns the first row that is about a path.
    pub(super) fn find(&self, path: &str) -> Option<&R> {
        self.find_where(path, |_| true)
    }

    /// Returns the first row of some that is about a path.
    pub(super) fn find_where(&self, path: &str, is_wanted: impl Fn(&R) -> bool) -> Option<&R> {
        let path = path.to_lowercase();
        let starts = path.as_bytes().windows(4).filter_map(<[u8]>::first_chunk).copied();
        let starts = starts.map(u32::from_ne_bytes).chain([ANY_START]);
        let hits = starts.filter_map(|start| self.starts.get(&start));
        let hits: BTreeSet<usize> = hits.flatten().copied().collect();
        let globs = hits.into_iter().map(|hit| &self.globs[hit]);
        let globs = globs.filter(|glob| is_wanted(&self.rows[glob.row]));
        let globs = globs.filter(|glob| path.contains(glob.literal));
        let found: Vec<(usize, bool)> = globs
            .filter(|glob| glob.matches(&path))
            .map(|glob| (glob.row, glob.is_exception))
            .collect();
        let mut hits = found.iter();
        let (row, _) = hits.find(|(row, not)| !not && !found.contains(&(*row, true)))?;
        Some(&self.rows[*row])
    }

    /// Counts the rows and globs, and the globs that could not be compiled.
    #[cfg(test)]
    pub(super) fn count(&self) -> (usize, usize, usize) {
        let all = self.rows.iter().flat_map(|row| row.globs().iter().chain(row.exceptions()));
        let broken =
            all.filter(|glob| compile_glob(glob).is_err() || glob.to_lowercase() != **glob);
        let broken = broken.count();
        (self.rows.len(), self.globs.len(), broken)
    }
}

/// The longest part of a glob that every path has that it matches.
fn literal_part(glob: &str) -> &str {
    let mut depth = 0;
    let parts = glob.split(|c| {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth -= 1,
            _ => return depth > 0 || matches!(c, '*' | '?'),
        }
        true
    });
    let parts = parts.map(|part| part.trim_matches('/'));
    parts.max_by_key(|part| part.len()).unwrap_or_default()
}

/// Compiles globs of a person.
///
/// # Errors
/// The first glob that cannot be read, and why.
pub(super) fn compile_globs(globs: &[String]) -> Result<GlobSet, (String, String)> {
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        builder.add(compile_glob(glob)?);
    }
    builder.build().map_err(|error| (String::new(), error.kind().to_string()))
}

/// Compiles a glob. Lower case on both sides keeps globset's fast literal matching.
fn compile_glob(glob: &str) -> Result<Glob, (String, String)> {
    let pattern = whole_glob(glob);
    let compiled = GlobBuilder::new(&pattern).literal_separator(true).build();
    compiled.map_err(|error| (glob.to_owned(), error.kind().to_string()))
}

/// A glob for whole paths: without a slash it means any folder, with one at its end all below, with one at its
/// start the root.
fn whole_glob(glob: &str) -> String {
    let plain = glob.strip_prefix("./").unwrap_or(glob).to_lowercase();
    match plain.strip_suffix('/') {
        Some(folder) => format!("{}/**", folder.trim_start_matches('/')),
        None if plain.starts_with('/') => plain[1..].to_owned(),
        None if plain.contains('/') => plain,
        None => format!("**/{plain}"),
    }
}

#[cfg(test)]
mod tests {
    use super::literal_part;

    #[test]
    fn literal_part_glob_outside_of_choices() {
        for (glob, expected) in [
            ("**/id_{rsa,ecdsa}[._-]*", "id_"),
            ("**/.gitlab/**/*.yml", ".gitlab"),
            ("jest.*.config.*", ".config."),
            ("**/.{bash,zsh}_history", "_history"),
        ] {
            assert_eq!(literal_part(glob), expected);
        }
    }
}
