//! The interface of a language; `LANGUAGES` lists all.

use std::fmt;

use tree_sitter::Tree;

use super::insert::Page;
use super::installed::InstalledFiles;
use super::query::Query;
use super::resolver::{Resolution, Resolver};
use super::{python, typescript};
use crate::model::Suggestion;
use crate::model::{FileFacts, Import, ParseProblem, RepoPath};

/// The languages whose imports are read. One more is a folder and a row.
pub static LANGUAGES: &[&Language] = &[&typescript::TYPESCRIPT, &python::PYTHON];

/// What a language is to the rest of the program. There is one of each: they are compared by what
/// they are, not by what they hold.
pub struct Language {
    /// Its name in lower case.
    pub name: &'static str,
    pub(super) files: &'static [FileKind],
    /// Whether files declare their exports, as in TypeScript. Otherwise other files may import every
    /// name that a file binds, and the modules of a package, as in Python.
    pub declares_exports: bool,
    /// The words for it in tables of known names.
    pub families: &'static [&'static str],
    /// Its own library by what it exports, `name module [*|type]`, sorted: `*` for the module
    /// itself, `type` for what is erased at run time.
    pub(super) library: &'static str,
    /// Modules of it that code imports from every day, sorted: of two that export a name, one that
    /// is here is meant far more often than one that does not.
    pub(super) everyday: &'static str,
    /// What is there without an import, a name a line.
    pub(super) globals: &'static str,
    /// The part of a module's name that is declared in a manifest, or that the module goes by.
    pub(super) package: fn(&str) -> &str,
    /// The last part of a module's name, without an extension.
    pub(super) last_part: fn(&str) -> &str,
    /// Whether a specifier names a module of the language's own library.
    pub(super) is_standard: fn(&str) -> bool,
    /// Whether a line may hold an import, in the widest sense.
    pub(super) may_import: fn(&[u8]) -> bool,
    /// What the language refuses of a text that its grammar takes.
    pub(super) layout: fn(&Tree, &[u8]) -> Vec<ParseProblem>,
    /// The part of a new text, after the old one, in which alone there can be a new syntax error.
    pub(super) changed_part: for<'t> fn(&[u8], &'t [u8]) -> &'t [u8],
    /// What a file says of itself; `None` when it cannot be parsed.
    pub(super) facts: fn(&RepoPath, &'static Grammar, &[u8]) -> Option<FileFacts>,
    /// What a module has at its top level.
    pub(super) tags: Query,
    /// Definitions, statements, bodies and comments.
    pub(super) outline: Query,
    /// What a name is where it is.
    pub(super) uses: Query,
    /// How its imports are changed; `None` for one whose imports are read alone.
    pub(super) editing: Option<Editing>,
    pub(super) resolve: fn(&Resolver<'_>, &RepoPath, &Import) -> Resolution,
    /// Files that take effect without being imported, nearest first.
    pub(super) implicit: fn(&Resolver<'_>, &RepoPath) -> Vec<RepoPath>,
}

/// What it takes to put names into imports, and imports into files.
pub(super) struct Editing {
    /// Where installed modules are.
    pub(super) installed: InstalledFiles,
    /// Where the specifier of an import is in the text from its line on.
    pub(super) specifier_in: fn(&str, &Import) -> Option<usize>,
    /// Writes an import as a statement.
    pub(super) import_line: fn(&Page<'_>, &Suggestion) -> String,
}

/// A module outside the repository that exports a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outside<'t> {
    /// The module.
    pub module: &'t str,
    /// The name inside the module: empty for the same one, `default`, or `*` for the module.
    pub imported: &'t str,
    /// Erased at run time.
    pub erased: bool,
}

/// Gives the code in a file, and what parses it.
pub(super) type Extract = fn(&[u8]) -> (&'static Grammar, Vec<u8>);
/// Parses a text in another way; `None` when that is no better.
pub(super) type Reparse = fn(&[u8]) -> Option<Tree>;

/// Files with one of some extensions, and how they are read.
pub(super) struct FileKind {
    pub(super) extensions: &'static [&'static str],
    pub(super) grammar: &'static Grammar,
    /// The code of a mixed file, such as a Vue component, with everything else blanked out.
    pub(super) code: Option<Extract>,
    /// See [`super::reading`].
    pub(super) reading: u8,
}

/// How texts are parsed.
pub(super) struct Grammar {
    pub(super) of: fn() -> tree_sitter::Language,
    /// Another attempt at a text that the grammar finds errors in.
    pub(super) mended: Option<Reparse>,
}

impl Language {
    /// The language of a file name, by its extension.
    pub fn of_path(path: &str) -> Option<&'static Self> {
        Self::of_kind(path).map(|(language, _)| language)
    }

    pub(super) fn of_kind(path: &str) -> Option<(&'static Self, &'static FileKind)> {
        let (_, extension) = path.rsplit_once('.')?;
        LANGUAGES.iter().find_map(|language| {
            let mut kinds = language.files.iter();
            let kind = kinds.find(|kind| kind.extensions.contains(&extension))?;
            Some((*language, kind))
        })
    }

    /// Whether a module belongs to the language's own library: by the first part of a dotted name
    /// for Python, by the whole specifier for Node.js.
    pub fn is_standard(&self, module: &str) -> bool {
        (self.is_standard)(module)
    }

    /// Whether a name means something without an import.
    pub fn is_global(&self, name: &str) -> bool {
        self.globals.lines().any(|line| line == name)
    }

    /// Whether a line may hold an import. Few that do not are said to.
    pub fn may_import(&self, line: &[u8]) -> bool {
        (self.may_import)(line)
    }

    /// The name that a specifier gives the module by itself: `b` of `./a/b.js` and of `..a.b`.
    pub fn last_part<'s>(&self, specifier: &'s str) -> &'s str {
        (self.last_part)(specifier)
    }

    /// Returns the module's package, or the module itself without one.
    pub fn package<'m>(&self, module: &'m str) -> &'m str {
        (self.package)(module)
    }
}

/// What is known of a language's own library.
impl Language {
    /// The names that mean something without an import.
    pub fn global_names(&self) -> impl Iterator<Item = &'static str> {
        self.globals.lines()
    }

    /// Whether code imports from the module every day.
    pub fn is_everyday(&self, module: &str) -> bool {
        let bare = module.strip_prefix("node:").unwrap_or(module);
        has_line(self.everyday, bare)
    }

    /// Modules of the library that export a name, everyday ones first.
    pub fn exporters(&self, name: &str) -> Vec<Outside<'static>> {
        let rows = self.library.lines().filter_map(|line| {
            let mut row = line.split_whitespace();
            let module = row.next().filter(|known| *known == name).and_then(|_| row.next())?;
            let mark = row.next();
            Some(Outside {
                module,
                imported: if mark == Some("*") { "default" } else { "" },
                erased: mark == Some("type"),
            })
        });
        let mut found: Vec<Outside<'_>> = rows.collect();
        found.sort_by_key(|one| !self.is_everyday(one.module));
        found
    }

    /// What a module of the library exports.
    pub fn exported(&self, module: &str) -> impl Iterator<Item = &'static str> {
        self.library.lines().filter_map(move |line| {
            let (name, rest) = line.split_once(' ')?;
            (rest == module).then_some(name)
        })
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for Language {}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// A number for the way in which a file of this name is read: files of the same bytes and the same
/// number say the same. `None` for one that no language claims.
pub fn reading(path: &RepoPath) -> Option<u8> {
    Language::of_kind(path.as_str()).map(|(_, kind)| kind.reading)
}

/// Whether a sorted table holds a line. Binary search over the text.
pub(super) fn has_line(table: &str, name: &str) -> bool {
    let (mut low, mut high) = (0, table.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        let head = table.as_bytes().get(..middle).unwrap_or_default();
        let start = memchr::memrchr(b'\n', head).map_or(0, |at| at + 1);
        let line = table.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
        match line.cmp(name) {
            std::cmp::Ordering::Equal => return !name.is_empty(),
            std::cmp::Ordering::Less => low = start + line.len() + 1,
            std::cmp::Ordering::Greater => high = start,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{LANGUAGES, Language};
    use crate::languages::python::PYTHON;
    use crate::languages::typescript::TYPESCRIPT;

    #[test]
    fn tables_answer_whole_names() {
        let (typescript, python) = (&TYPESCRIPT, &PYTHON);
        for name in ["fs/promises", "node:test", "path"] {
            assert!(typescript.is_standard(name), "{name}");
        }
        assert!(!typescript.is_standard("pat") && !typescript.is_standard(""));
        assert!(python.is_standard("os.path") && python.is_standard("__future__"));
        assert!(!python.is_standard("o") && !python.is_standard(""));
    }

    #[cfg(feature = "program")]
    #[test]
    fn names_lead_to_their_modules() {
        let (typescript, python) = (&TYPESCRIPT, &PYTHON);
        let modules = |name| python.exporters(name).into_iter().map(|one| one.module);
        assert_eq!(modules("dataclass").collect::<Vec<_>>(), ["dataclasses"]);
        assert_eq!(modules("Path").next(), Some("pathlib"));
        assert!(modules("Iterable").count() > 1);
        assert!(python.exported("datetime").any(|name| name == "timedelta"));
        assert!(!python.exported("datetime").any(|name| name == "now"));
        for (name, expected) in [
            ("fileURLToPath", ("url", "", false)),
            ("path", ("path", "default", false)),
            ("AddressInfo", ("net", "", true)),
        ] {
            let all = typescript.exporters(name).into_iter();
            let all: Vec<_> = all.map(|one| (one.module, one.imported, one.erased)).collect();
            assert_eq!(all, [expected]);
        }
        for language in LANGUAGES {
            assert!(language.everyday.lines().is_sorted() && language.library.lines().is_sorted());
        }
    }

    #[test]
    fn every_extension_has_one_reading() {
        let kinds = LANGUAGES.iter().flat_map(|language| language.files);
        let mut readings: Vec<u8> = kinds.clone().map(|kind| kind.reading).collect();
        let mut extensions: Vec<&str> = kinds.flat_map(|kind| kind.extensions).copied().collect();
        readings.sort_unstable();
        extensions.sort_unstable();
        assert!(readings.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(extensions.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(Language::of_path("a/b.tsx"), Language::of_path("c.vue"));
        assert!(Language::of_path("a.rs").is_none() && Language::of_path("py").is_none());
    }
}
