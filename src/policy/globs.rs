//! Globs that do not regard case: tables whose rows are about paths, and the globs of a person.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// A row of a table of paths.
pub(super) trait PathRow {
    /// The globs of the row; any of them counts.
    fn globs(&self) -> &[String];

    /// Globs that take a path out again.
    fn exceptions(&self) -> &[String] {
        &[]
    }
}

/// The rows of a built-in table, in the order in which they decide.
pub(super) struct PathTable<R> {
    rows: Vec<R>,
    globs: GlobSet,
    /// For each glob its row, and whether it is an exception.
    meanings: Vec<(usize, bool)>,
}

impl<R: PathRow> PathTable<R> {
    /// Compiles a table; a test asks for each of its globs.
    pub(super) fn new(rows: Vec<R>) -> Self {
        let mut builder = GlobSetBuilder::new();
        let mut meanings = Vec::new();
        for (at, row) in rows.iter().enumerate() {
            let globs = row.globs().iter().map(|glob| (glob, false));
            let exceptions = row.exceptions().iter().map(|glob| (glob, true));
            for (glob, is_exception) in globs.chain(exceptions) {
                if let Ok(glob) = compile_glob(glob) {
                    builder.add(glob);
                    meanings.push((at, is_exception));
                }
            }
        }
        let globs = builder.build().unwrap_or_default();
        Self {
            rows,
            globs,
            meanings,
        }
    }

    /// Returns the first row that is about a path.
    pub(super) fn find(&self, path: &str) -> Option<&R> {
        self.find_where(path, |_| true)
    }

    /// Returns the first row of some that is about a path.
    pub(super) fn find_where(&self, path: &str, is_wanted: impl Fn(&R) -> bool) -> Option<&R> {
        let found = self.globs.matches(path.to_lowercase());
        let found: Vec<(usize, bool)> = found.iter().map(|hit| self.meanings[*hit]).collect();
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
