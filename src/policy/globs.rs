//! Globs that do not regard case: tables whose rows are about paths, and the globs of a person.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet, GlobSetBuilder};

/// A row of a table of paths.
pub(super) trait PathRow {
    /// The globs of the row; any of them counts.
    fn globs(&self) -> &[String];

    /// Globs that take a path out again.
    fn exceptions(&self) -> &[String] {
        &[]
    }
}

/// The rows of a built-in table, in the order in which they decide. A glob is compiled when a path
/// has its literal part, because all of them at once cost more than to check a small patch.
pub(super) struct PathTable<R> {
    rows: Vec<R>,
    literals: Option<AhoCorasick>,
    globs: Vec<TableGlob>,
}

/// A glob of a table.
struct TableGlob {
    pattern: String,
    row: usize,
    is_exception: bool,
    compiled: OnceLock<Option<GlobMatcher>>,
}

impl TableGlob {
    fn is_match(&self, path: &str) -> bool {
        let compile = || Some(compile_glob(&self.pattern).ok()?.compile_matcher());
        let compiled = self.compiled.get_or_init(compile).as_ref();
        compiled.is_some_and(|glob| glob.is_match(path))
    }
}

impl<R: PathRow> PathTable<R> {
    /// Reads a table; a test asks for each of its globs.
    pub(super) fn new(rows: Vec<R>) -> Self {
        let mut globs = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let meant = row.globs().iter().map(|glob| (glob, false));
            let exceptions = row.exceptions().iter().map(|glob| (glob, true));
            globs.extend(
                meant
                    .chain(exceptions)
                    .map(|(glob, is_exception)| TableGlob {
                        pattern: glob.to_lowercase(),
                        row: at,
                        is_exception,
                        compiled: OnceLock::new(),
                    }),
            );
        }
        let literals = globs.iter().map(|glob| literal_part(&glob.pattern));
        // The kind that is built fastest; a few hundred words are always built.
        let mut builder = AhoCorasick::builder();
        builder.kind(Some(AhoCorasickKind::NoncontiguousNFA));
        let literals = builder.build(literals).ok();
        Self {
            rows,
            literals,
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
        let hits = self.literals.as_ref()?.find_overlapping_iter(&path);
        let mut hits: Vec<usize> = hits.map(|hit| hit.pattern().as_usize()).collect();
        hits.sort_unstable();
        hits.dedup();
        let globs = hits.into_iter().map(|hit| &self.globs[hit]);
        let found: Vec<(usize, bool)> = globs
            .filter(|glob| glob.is_match(&path))
            .map(|glob| (glob.row, glob.is_exception))
            .collect();
        let is_meant = |hit: &&(usize, bool)| !hit.1 && !found.contains(&(hit.0, true));
        let mut rows = found
            .iter()
            .filter(is_meant)
            .map(|(row, _)| &self.rows[*row]);
        rows.find(|row| is_wanted(row))
    }

    /// Counts the rows and globs, and the globs that could not be compiled.
    #[cfg(test)]
    pub(super) fn count(&self) -> (usize, usize, usize) {
        let all = self
            .rows
            .iter()
            .flat_map(|row| row.globs().iter().chain(row.exceptions()));
        let broken = all.filter(|glob| compile_glob(glob).is_err()).count();
        (self.rows.len(), self.globs.len(), broken)
    }
}

/// The longest part of a glob that every path has that it matches.
fn literal_part(glob: &str) -> &str {
    let closing = |open| if open == '{' { '}' } else { ']' };
    let (mut longest, mut rest) = ("", glob);
    while !rest.is_empty() {
        let end = rest.find(['*', '?', '{', '[']).unwrap_or(rest.len());
        let part = rest[..end].trim_matches('/');
        if part.len() > longest.len() {
            longest = part;
        }
        let (_, special) = rest.split_at(end);
        let open = special.chars().next().filter(|open| "{[".contains(*open));
        let end = open.map_or(0, |open| {
            special.find(closing(open)).unwrap_or(special.len())
        });
        rest = special.get(end + 1..).unwrap_or_default();
    }
    longest
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
    builder
        .build()
        .map_err(|error| (String::new(), error.kind().to_string()))
}

/// Compiles a glob: without a slash it means any folder, with one at its end all below, with one at
/// its start the root. Lower case on both sides keeps globset's fast literal matching.
fn compile_glob(glob: &str) -> Result<Glob, (String, String)> {
    let plain = glob.strip_prefix("./").unwrap_or(glob).to_lowercase();
    let pattern = match plain.strip_suffix('/') {
        Some(folder) => format!("{}/**", folder.trim_start_matches('/')),
        None if plain.starts_with('/') => plain[1..].to_owned(),
        None if plain.contains('/') => plain,
        None => format!("**/{plain}"),
    };
    let compiled = GlobBuilder::new(&pattern).literal_separator(true).build();
    compiled.map_err(|error| (glob.to_owned(), error.kind().to_string()))
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
