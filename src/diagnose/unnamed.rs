//! Files of the repository that a log does not name, and that hold what it says is missing.

use memchr::memmem;

use super::claimed::mentioned;
use super::derive::say;
use crate::languages::{Language, Resolver, uses, words};
use crate::model::{Diagnosis, FailureKind, Import, ImportKind, MentionedFile, RepoPath, Subkind};
use crate::runners::pattern;
use crate::source::Source;

// Files that are read for one name.
const MAX_READ: usize = 2_000;
const MAX_PARSED: usize = 50;
const MAX_NAMES: usize = 8;
const MANIFESTS: &[&str] = &[
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "setup.cfg",
    "Pipfile",
];

pattern!(
    CLASS,
    r"`(?<of>\w+)` is not fully defined|initializing mapper (?:Mapper\[|mapped class )?(?<by>\w+)"
);
pattern!(
    ATTRIBUTE,
    r"AttributeError: module '(?<module>[\w.]+)' has no attribute '"
);
pattern!(
    DOTTED,
    r#"Module "(?<module>[\w.]+)" does not define a "(?<name>\w+)" attribute"#
);

/// Adds the files that a Python log is about and names nowhere: where a class is defined that lacks a
/// name, where a module stands as a string, which module lost an attribute.
pub(super) fn find_unnamed(diagnosis: &mut Diagnosis, source: &dyn Source) {
    let kinds = [
        FailureKind::ImportError,
        FailureKind::PydanticError,
        FailureKind::DbError,
    ];
    if !kinds.contains(&diagnosis.kind) {
        return;
    }
    let files: Vec<RepoPath> = diagnosis
        .files
        .iter()
        .filter_map(MentionedFile::repo_path)
        .collect();
    let is_python = |path: &&RepoPath| matches!(path.as_str().rsplit_once('.'), Some((_, "py")));
    let listed: Vec<&RepoPath> = source
        .listing()
        .files()
        .map(|entry| &entry.path)
        .filter(is_python)
        .take(MAX_READ)
        .collect();
    if listed.is_empty() {
        return;
    }
    let repository = Repository {
        source,
        resolver: Resolver::new(source),
        named: files.iter().filter(is_python).collect(),
        listed,
    };
    // Some runners put the error below the line that tells of the test.
    let said = diagnosis
        .tests
        .iter()
        .filter_map(|it| it.message.as_deref());
    let texts: Vec<&str> = diagnosis
        .evidence
        .iter()
        .map(|it| it.text.as_str())
        .chain(said)
        .collect();
    let mut first: Vec<MentionedFile> = Vec::new();
    let mut last: Vec<MentionedFile> = Vec::new();
    let of_class = texts.iter().find_map(|text| {
        let found = CLASS.captures(text)?;
        let class = found.name("of").or_else(|| found.name("by"))?;
        Some(class.as_str())
    });
    for name in diagnosis.undefined_names.iter().take(MAX_NAMES) {
        first.extend(repository.lacks(name, of_class));
    }
    let strings = texts.iter().find_map(|text| {
        let found = DOTTED.captures(text)?;
        Some(format!("{}.{}", &found["module"], &found["name"]))
    });
    let python = texts.iter().any(|text| text.contains("No module named"));
    let modules = || diagnosis.missing_modules.iter().filter(|_| python);
    for string in modules().chain(&strings).take(MAX_NAMES) {
        if !repository.imports(string) {
            first.extend(repository.holds(string));
        }
    }
    let package = diagnosis.subkind == Some(Subkind::MissingPackage);
    let near = modules().next().filter(|_| package).and_then(|module| {
        let top = module.split('.').next()?;
        Some((top.to_owned(), repository.near(top)?))
    });
    for module in texts.iter().filter_map(|text| ATTRIBUTE.captures(text)) {
        last.extend(repository.module(&module["module"]));
    }
    last.dedup_by(|one, two| one.path == two.path);
    let known = |it: &MentionedFile| files.iter().any(|file| file.as_str() == it.path);
    last.retain(|it| !known(it));
    diagnosis.files.splice(0..0, first);
    diagnosis.files.extend(last);
    if let Some((top, near)) = near {
        say(diagnosis, Subkind::MissingModule);
        diagnosis.explanation =
            format!("`{top}` is no package here; the repository has `{near}`, one letter away.");
    }
}

pattern!(
    REQUESTED,
    r"The requested module '(?<module>[^']+)' does not provide an export named '(?<name>[^']+)'"
);

/// Adds the files that take a missing export, where a log names none of them: mocha tells neither file
/// nor line.
pub(super) fn find_importers(diagnosis: &mut Diagnosis, source: &dyn Source) {
    let said = diagnosis.evidence.iter();
    let Some(said) = said.clone().find_map(|it| REQUESTED.captures(&it.text)) else {
        return;
    };
    let (module, name) = (&said["module"], &said["name"]);
    let resolver = Resolver::new(source);
    let takes = |path: &RepoPath| {
        let facts = resolver.facts(path);
        let mut imports = facts.imports.iter();
        let import = imports
            .find(|it| it.specifier == *module && it.names.iter().any(|one| one.name == *name))?;
        Some(MentionedFile::of(path, Some(import.line)))
    };
    if mentioned(diagnosis).iter().any(|it| takes(it).is_some()) {
        return;
    }
    let all = source.listing().files().map(|entry| &entry.path);
    let scripts =
        all.filter(|it| Language::of_path(it.as_str()).is_some_and(|it| it.declares_exports));
    let holds = |path: &&RepoPath| {
        let bytes = source.read(path).ok();
        bytes.is_some_and(|it| memmem::find(&it, module.as_bytes()).is_some())
    };
    let found = scripts.take(MAX_READ).filter(holds).take(MAX_PARSED);
    let found: Vec<MentionedFile> = found.filter_map(takes).take(MAX_NAMES).collect();
    diagnosis.files.splice(0..0, found);
}

struct Repository<'s> {
    source: &'s dyn Source,
    resolver: Resolver<'s>,
    // Python's files, those that the log names and all.
    named: Vec<&'s RepoPath>,
    listed: Vec<&'s RepoPath>,
}

impl Repository<'_> {
    // The file that uses a name and binds it nowhere: the one that defines a class, else the only one.
    fn lacks(&self, name: &str, class: Option<&str>) -> Option<MentionedFile> {
        let free = |path: &RepoPath| {
            let bytes = self.source.read(path).ok()?;
            let at = words(&bytes, name).next()?;
            let facts = self.resolver.facts(path);
            let mut bound = facts.imports.iter().flat_map(|import| &import.names);
            if bound.any(|it| it.local() == name) {
                return None;
            }
            let found = uses(path, &bytes, name)?;
            (!found.is_own() && (found.value || found.typed)).then(|| place(path, &bytes, at))
        };
        if self.named.iter().any(|path| free(path).is_some()) {
            return None;
        }
        let holds = |path: &&&RepoPath, what: &str| {
            let bytes = self.source.read(path).ok();
            bytes.is_some_and(|it| words(&it, what).next().is_some())
        };
        let defines = |path: &RepoPath| {
            let facts = self.resolver.facts(path);
            class.is_some_and(|class| facts.definitions.iter().any(|it| it.name == class))
        };
        let all = self.listed.iter().filter(|path| holds(path, name));
        let mut found: Vec<(bool, MentionedFile)> = all
            .take(MAX_PARSED)
            .filter_map(|path| Some((defines(path), free(path)?)))
            .collect();
        found.sort_by_key(|it| !it.0);
        let sure = found.len() == 1 || found.first().is_some_and(|it| it.0);
        found.into_iter().next().filter(|_| sure).map(|it| it.1)
    }

    // Whether a file that the log names has an import statement for a module.
    fn imports(&self, module: &str) -> bool {
        self.named.iter().any(|path| {
            let facts = self.resolver.facts(path);
            let mut statements = facts.imports.iter();
            let last = |of: &str| of.rsplit('.').next() == module.rsplit('.').next();
            statements.any(|it| {
                let said = it.specifier.as_str();
                let below = said.strip_prefix(module);
                it.kind != ImportKind::DottedString
                    && (below.is_some_and(|it| it.is_empty() || it.starts_with('.'))
                        || said.starts_with('.') && last(said))
            })
        })
    }

    // The file in which a module stands as a string, as settings have them: `"shop.urls"`.
    fn holds(&self, module: &str) -> Option<MentionedFile> {
        let all = self.named.iter().chain(&self.listed);
        all.take(MAX_READ).find_map(|path| {
            let bytes = self.source.read(path).ok()?;
            let at = memmem::find_iter(&bytes, module.as_bytes()).find(|at| {
                let before = at.checked_sub(1).and_then(|at| bytes.get(at));
                let after = bytes.get(at + module.len());
                matches!(before, Some(b'"' | b'\'')) && matches!(after, Some(b'"' | b'\'' | b'.'))
            })?;
            Some(place(path, &bytes, at))
        })
    }

    // A package of the repository one slip of the hand from a name that no manifest declares.
    fn near(&self, top: &str) -> Option<String> {
        let declares = |name: &&str| {
            let path = RepoPath::new(name).ok();
            let bytes = path.and_then(|path| self.source.read(&path).ok());
            bytes.is_some_and(|it| words(&it, top).next().is_some())
        };
        if top.len() < 4 || MANIFESTS.iter().any(declares) {
            return None;
        }
        let mut tops = self.listed.iter().filter_map(|path| {
            let path = path.as_str();
            let (folder, _) = path.strip_prefix("src/").unwrap_or(path).split_once('/')?;
            (strsim::osa_distance(folder, top) == 1).then(|| folder.to_owned())
        });
        tops.next()
    }

    // The file of a module of the repository.
    fn module(&self, module: &str) -> Option<MentionedFile> {
        let from = self.named.first().or(self.listed.first())?;
        let found = self.resolver.resolve(from, &Import::of(module)).files;
        let path = found
            .first()
            .filter(|path| Language::of_path(path.as_str()).is_some())?;
        Some(MentionedFile::of(path, None))
    }
}

fn place(path: &RepoPath, bytes: &[u8], at: usize) -> MentionedFile {
    let before = bytes.get(..at).unwrap_or_default();
    let row = memchr::memchr_iter(b'\n', before).count() + 1;
    MentionedFile::of(path, u32::try_from(row).ok())
}

#[cfg(test)]
mod tests {
    use crate::diagnose::{LogFacts, diagnose_in};
    use crate::model::FailureKind;
    use crate::source::Memory;

    const FILES: &[(&str, &str)] = &[
        (
            "app/schemas.py",
            "from uuid import uuid4\n\n\nclass Item(Base):\n    id: UUID = uuid4()\n",
        ),
        ("app/other.py", "class Other:\n    id: UUID\n"),
        (
            "app/models.py",
            "class User(Base):\n    home: Mapped[Address]\n",
        ),
        ("app/__init__.py", "from .schemas import Item\n"),
        ("config/urls.py", "urls = [include(\"shops.urls\")]\n"),
        (
            "config/settings.py",
            "M = [\n    'app.mw.TenentMiddleware',\n]\n",
        ),
        ("app/mw.py", "class TenantMiddleware: pass\n"),
        ("shop/urls.py", "urls = []\n"),
        (
            "tests/test_a.py",
            "import app\nimport lost\n\n\ndef test_a():\n    app.flash()\n",
        ),
    ];

    #[test]
    fn what_is_missing_leads_to_the_file_that_holds_it() {
        let pydantic = "E   pydantic.errors.PydanticUserError: `Item` is not fully defined; you \
                        should define `UUID`, then call `Item.model_rebuild()`.";
        let mapper = "E   sqlalchemy.exc.InvalidRequestError: When initializing mapper \
                      Mapper[User(users)], expression 'Address' failed to locate a name ('Address').";
        for (error, kind, first) in [
            (pydantic, FailureKind::PydanticError, "app/schemas.py:5"),
            (mapper, FailureKind::ImportError, "app/models.py:2"),
            // Two files use it, and nothing says which.
            (
                "E   NameError: name 'UUID' is not defined",
                FailureKind::ImportError,
                "tests/test_a.py:6",
            ),
            (
                "E   NameError: name 'Address' is not defined",
                FailureKind::ImportError,
                "app/models.py:2",
            ),
            (
                "E   ModuleNotFoundError: No module named 'shops'",
                FailureKind::ImportError,
                "config/urls.py:1",
            ),
            (
                "E   ImportError: Module \"app.mw\" does not define a \"TenentMiddleware\" \
                 attribute/class",
                FailureKind::ImportError,
                "config/settings.py:2",
            ),
            // An import statement names it.
            (
                "E   ModuleNotFoundError: No module named 'lost'",
                FailureKind::ImportError,
                "tests/test_a.py:6",
            ),
        ] {
            let log = format!(
                "==== FAILURES ====\n____ test_a ____\n\ntests/test_a.py:6: in test_a\n    \
                 app.flash()\n{error}\n==== 1 failed in 0.1s ====\n"
            );
            let source = Memory::named(FILES.iter().copied());
            let found = diagnose_in(&log, &LogFacts::default(), &source);
            assert_eq!(found.kind, kind, "{error}");
            let file = &found.files[0];
            let line = file.line.unwrap_or_default();
            assert_eq!(format!("{}:{line}", file.path), first, "{error}");
            // A slip is nothing to install.
            assert_eq!(found.requires_user_action, error.contains("'lost'"));
        }
    }

    #[test]
    fn the_module_that_lost_an_attribute_is_among_the_files() {
        let log = "==== FAILURES ====\n____ test_a ____\n\ntests/test_a.py:6: in test_a\n    \
                   app.flash()\nE   AttributeError: module 'app' has no attribute 'flash'\n\
                   ==== 1 failed in 0.1s ====\n";
        let source = Memory::named(FILES.iter().copied());
        let found = diagnose_in(log, &LogFacts::default(), &source);
        let paths: Vec<&str> = found.files.iter().map(|it| it.path.as_str()).collect();
        assert_eq!(paths, ["tests/test_a.py", "app/__init__.py"]);
    }
    #[test]
    fn who_takes_a_missing_export_is_found_by_what_it_takes_from_where() {
        let log = "\n Exception during run: SyntaxError: The requested module '../src/index.js' does \
                   not provide an export named 'Cache'\n    at #asyncInstantiate (node:internal/x:3:1)\n";
        let files = [
            ("src/index.js", "export const Cash = 1;\n"),
            (
                "test/a.test.js",
                "import x from 'x';\nimport { Cache } from '../src/index.js';\n",
            ),
            (
                "test/b.test.js",
                "import { Cash } from '../src/index.js';\n",
            ),
            ("lib/c.js", "import { Cache } from './index.js';\n"),
        ];
        let found = diagnose_in(log, &LogFacts::default(), &Memory::named(files));
        let places = found.files.iter().map(|it| (it.path.as_str(), it.line));
        let places: Vec<_> = places.collect();
        assert_eq!(
            places,
            [("test/a.test.js", Some(2)), ("src/index.js", None)]
        );
    }
}
