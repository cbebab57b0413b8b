//! Files of the repository that a log does not name, and that ask for what it says is missing.

use memchr::memmem;

use super::claimed::mentioned;
use super::derive::say;
use crate::languages::{Language, PYTHON, Resolver, uses, words};
use crate::model::{Diagnosis, FailureKind, Import, ImportKind, MentionedFile, RepoPath, Subkind};
use crate::runners::pattern;
use crate::source::Source;

// Files that are read for one name.
const MAX_READ: usize = 2_000;
const MAX_NAMES: usize = 8;

pattern!(
    QUOTED,
    r#"[`'"](?<quoted>[^`'"\s]+)[`'"]|(?:Mapper\[|mapped class )(?<class>\w+)"#
);
pattern!(
    ATTRIBUTE,
    r"AttributeError: module '(?<module>[\w.]+)' has no attribute '"
);
pattern!(
    DOTTED,
    r#"Module "(?<module>[\w.]+)" does not define a "(?<name>\w+)" attribute"#
);
pattern!(
    REQUESTED,
    r"The requested module '(?<module>[^']+)' does not provide an export named '(?<name>[^']+)'"
);

// What a file may ask for.
enum Lack {
    Name(String),
    // A module of Python, imported or written down as settings do: `"shop.urls"`.
    Module(String),
    Export { module: String, name: String },
}

/// Adds the files that a log is about and names nowhere: where a class is defined that lacks a name, where a
/// module stands as a string, who takes an export that is missing, which module lost an attribute.
pub(super) fn find_unnamed(diagnosis: &mut Diagnosis, source: &dyn Source) {
    let kinds = [
        FailureKind::ImportError,
        FailureKind::PydanticError,
        FailureKind::DbError,
    ];
    if !kinds.contains(&diagnosis.kind) {
        return;
    }
    let files = mentioned(diagnosis);
    let repository = Repository {
        source,
        resolver: Resolver::new(source),
        named: &files,
    };
    // Some runners put the error below the line that tells of the test.
    let messages = diagnosis.tests.iter();
    let messages = messages.filter_map(|it| it.message.as_deref());
    let evidence = diagnosis.evidence.iter().map(|it| it.text.as_str());
    let texts: Vec<&str> = evidence.chain(messages).collect();
    let quoted: Vec<&str> = texts
        .iter()
        .flat_map(|text| QUOTED.captures_iter(text))
        .filter_map(|it| Some(it.name("quoted").or(it.name("class"))?.as_str()))
        .collect();
    let python = texts.iter().any(|text| text.contains("No module named"));
    let modules = || diagnosis.missing_modules.iter().filter(|_| python);
    let dotted = texts.iter().find_map(|text| {
        let found = DOTTED.captures(text)?;
        Some(format!("{}.{}", &found["module"], &found["name"]))
    });
    let export = texts.iter().find_map(|text| {
        let found = REQUESTED.captures(text)?;
        let [module, name] = ["module", "name"].map(|it| found[it].to_owned());
        Some(Lack::Export { module, name })
    });
    let names = diagnosis.undefined_names.iter().cloned().map(Lack::Name);
    let lacks = names
        .take(MAX_NAMES)
        .chain(modules().cloned().chain(dotted).map(Lack::Module))
        .chain(export);
    let first: Vec<MentionedFile> = lacks
        .flat_map(|it| repository.asking(&it, &quoted))
        .collect();
    let package = diagnosis.subkind == Some(Subkind::MissingPackage);
    let near = modules().next().filter(|_| package).and_then(|module| {
        let top = module.split('.').next()?;
        Some((top.to_owned(), repository.near(top)?))
    });
    let changed = texts.iter().filter_map(|text| ATTRIBUTE.captures(text));
    let last = changed.filter_map(|it| repository.module(&it["module"]));
    let last: Vec<MentionedFile> = last.collect();
    diagnosis.files.splice(0..0, first);
    for file in last {
        if diagnosis.files.iter().all(|it| it.path != file.path) {
            diagnosis.files.push(file);
        }
    }
    if let Some((top, near)) = near {
        say(diagnosis, diagnosis.kind, Some(Subkind::MissingModule));
        diagnosis.explanation =
            format!("`{top}` is no package here; the repository has `{near}`, one letter away.");
    }
}

struct Repository<'s> {
    source: &'s dyn Source,
    resolver: Resolver<'s>,
    named: &'s [RepoPath],
}

impl Repository<'_> {
    // The files that ask for what is missing, where none does that the log names: those that hold most of what
    // it quotes. Of a name only one that is alone in that, as others may have it from elsewhere.
    fn asking(&self, lack: &Lack, quoted: &[&str]) -> Vec<MentionedFile> {
        if self.named.iter().any(|path| self.ask(path, lack).is_some()) {
            return Vec::new();
        }
        let listing = self.source.listing().files().map(|entry| &entry.path);
        let own = listing.filter(|path| {
            let language = Language::of_path(path.as_str());
            let of_export = matches!(lack, Lack::Export { .. });
            language.is_some_and(|it| (*it == PYTHON) != of_export)
        });
        let found = own.take(MAX_READ).filter_map(|path| {
            let row = self.ask(path, lack)?;
            let bytes = self.source.read(path).ok()?;
            let holds = |word: &&&str| memmem::find(&bytes, word.as_bytes()).is_some();
            Some((quoted.iter().filter(holds).count(), path, row))
        });
        let found: Vec<(usize, &RepoPath, u32)> = found.collect();
        let most = found.iter().map(|it| it.0).max();
        let mut best = found;
        best.retain(|it| Some(it.0) == most);
        if matches!(lack, Lack::Name(_)) && best.len() > 1 {
            return Vec::new();
        }
        let best = best.into_iter().take(MAX_NAMES);
        best.map(|(_, path, row)| MentionedFile::at(path, Some(row)))
            .collect()
    }

    // The line in which a file asks for it.
    fn ask(&self, path: &RepoPath, lack: &Lack) -> Option<u32> {
        let bytes = self.source.read(path).ok()?;
        let last = |of: &str| of.rsplit('.').next().unwrap_or_default().to_owned();
        let word = match lack {
            Lack::Name(name) | Lack::Export { name, .. } => name.clone(),
            Lack::Module(module) => last(module),
        };
        memmem::find(&bytes, word.as_bytes())?;
        let facts = self.resolver.facts(path);
        let mut imports = facts.imports.iter();
        match lack {
            Lack::Name(name) => {
                let at = words(&bytes, name).next()?;
                let found = uses(path, &bytes, name)?;
                let bound = imports.any(|it| it.names.iter().any(|one| one.local() == name));
                let free = !bound && !found.is_own() && (found.value || found.typed);
                free.then(|| row(&bytes, at))
            }
            Lack::Module(module) => {
                let import = imports.find(|import| {
                    let specifier = import.specifier.as_str();
                    let below = specifier.strip_prefix(module.as_str());
                    import.kind != ImportKind::DottedString
                        && (below.is_some_and(|it| it.is_empty() || it.starts_with('.'))
                            || specifier.starts_with('.') && last(specifier) == word)
                });
                let text = || {
                    let mut all = memmem::find_iter(&bytes, module.as_bytes());
                    all.find(|at| {
                        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
                        let after = bytes.get(at + module.len());
                        matches!(before, Some(b'"' | b'\''))
                            && matches!(after, Some(b'"' | b'\'' | b'.'))
                    })
                };
                let import = import.map(|it| it.line);
                import.or_else(|| Some(row(&bytes, text()?)))
            }
            Lack::Export { module, name } => {
                let takes = |it: &&Import| it.names.iter().any(|one| one.name == *name);
                let import = imports.find(|it| it.specifier == *module && takes(it))?;
                Some(import.line)
            }
        }
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
        let mut tops = self.source.listing().files().filter_map(|entry| {
            let path = entry.path.as_str();
            let (folder, rest) = path.strip_prefix("src/").unwrap_or(path).split_once('/')?;
            let is_python = matches!(rest.rsplit_once('.'), Some((_, "py")));
            let is_near = is_python && strsim::osa_distance(folder, top) == 1;
            is_near.then(|| folder.to_owned())
        });
        tops.next()
    }

    // The file of a module of the repository.
    fn module(&self, module: &str) -> Option<MentionedFile> {
        let is_python = |path: &&RepoPath| Language::of_path(path.as_str()) == Some(&PYTHON);
        let mut listing = self.source.listing().files().map(|entry| &entry.path);
        let from = self.named.iter().find(is_python);
        let found = self.resolver.resolve(
            from.or_else(|| listing.find(is_python))?,
            &Import::from_specifier(module),
        );
        let path = found.files.first()?;
        Language::of_path(path.as_str())?;
        Some(MentionedFile::at(path, None))
    }
}

const MANIFESTS: &[&str] = &[
    "pyproject.toml",
    "requirements.txt",
    "setup.py",
    "setup.cfg",
    "Pipfile",
];

/// The line of a byte, from 1.
pub(super) fn row(bytes: &[u8], at: usize) -> u32 {
    let before = bytes.get(..at).unwrap_or_default();
    let row = memchr::memchr_iter(b'\n', before).count() + 1;
    u32::try_from(row).unwrap_or(u32::MAX)
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
