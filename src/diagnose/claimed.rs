use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::LogFacts;
use super::derive::say;
use super::document::answer;
use super::locate::{Locator, Scene};
use super::log::View;
use super::manifests::name_manifest;
use super::unnamed::find_unnamed;
use super::unparsed::name_unparsed;
use crate::languages::{Language, PYTHON, Resolver, package_part};
use crate::model::{Diagnosis, FailureKind, Import, ImportKind, MentionedFile, RepoPath, Subkind};
use crate::runners::pattern;
use crate::source::Source;

/// Diagnoses a log inside a repository, whose files have the last word on what is missing.
#[must_use]
pub fn diagnose_in(log: &str, facts: &LogFacts, source: &dyn Source) -> Diagnosis {
    let scene = Scene {
        source: Some(source),
        directory: "",
    };
    let mut diagnosis = answer(View::whole(log), facts, Locator::at(scene)).diagnosis;
    reconsider(&mut diagnosis, source);
    diagnosis
}

/// Takes back that a package is missing where the repository itself speaks for the name, as an
/// alias of its `tsconfig.json` does: nothing that is installed helps there. A package of the
/// workspace is another matter: installing links it. And says that an export is missing where a name
/// that is no function is imported from a module that does not have it. And that a file does not
/// parse because a merge left its markers there, which of several files does not parse, who takes an
/// export that is missing, and which files a circle of imports leads through.
pub(super) fn reconsider(diagnosis: &mut Diagnosis, source: &dyn Source) {
    find_unnamed(diagnosis, source);
    if diagnosis.kind == FailureKind::RuntimeError {
        return name_exports(diagnosis, source);
    }
    name_manifest(diagnosis, source);
    if UNREADABLE.contains(&diagnosis.kind) {
        let is_merge = name_merge(diagnosis, source);
        if diagnosis.kind == FailureKind::SyntaxError && !is_merge {
            name_unparsed(diagnosis, source);
        }
        return;
    }
    match &diagnosis.subkind {
        Some(Subkind::MissingPackage) if claims(diagnosis, source) => {
            say(diagnosis, diagnosis.kind, Some(Subkind::MissingModule));
        }
        Some(Subkind::CircularImport) => name_circle(diagnosis, source),
        _ => {}
    }
}

// A log may name thousands of files; one import settles it.
const MAX_FILES: usize = 32;

pub(super) fn mentioned(diagnosis: &Diagnosis) -> Vec<RepoPath> {
    let mut files: Vec<RepoPath> = Vec::new();
    for path in diagnosis.files.iter().filter_map(MentionedFile::repo_path) {
        if files.len() < MAX_FILES && !files.contains(&path) {
            files.push(path);
        }
    }
    files
}

// Whether Python modules are all missing from folders that the repository has code in: packages without
// `__init__.py` among them.
fn lie_in_folders(modules: &[String], source: &dyn Source) -> bool {
    let has_code = |module: &String| {
        let folder = module
            .rsplit_once('.')
            .map(|(above, _)| above.replace('.', "/") + "/");
        let holds = |path: &str, folder: &str| {
            let mut found = path.match_indices(folder);
            found.any(|(at, _)| at == 0 || path[..at].ends_with('/'))
        };
        let is_python = |path: &RepoPath| Language::of_path(path.as_str()) == Some(&PYTHON);
        let mut files = source.listing().files().filter(|it| is_python(&it.path));
        folder.is_some_and(|folder| files.any(|it| holds(it.path.as_str(), &folder)))
    };
    !modules.is_empty() && modules.iter().all(has_code)
}

fn claims(diagnosis: &Diagnosis, source: &dyn Source) -> bool {
    if lie_in_folders(&diagnosis.missing_modules, source) {
        return true;
    }
    let resolver = Resolver::new(source);
    mentioned(diagnosis).iter().any(|file| {
        resolver.facts(file).imports.iter().any(|import| {
            if !diagnosis.missing_modules.contains(&import.specifier) {
                return false;
            }
            let found = resolver.resolve(file, import);
            let linked = |path| {
                let package = resolver.package_of(path).and_then(|(_, name)| name);
                package.is_some_and(|name| package_part(&import.specifier) == Some(&name))
            };
            found.external.is_none() && !found.files.iter().any(linked)
        })
    })
}

// A bundler binds an import that is not there to `undefined`: what is no function is then a name
// that the module does not export, if the files say so.
fn name_exports(diagnosis: &mut Diagnosis, source: &dyn Source) {
    let called: BTreeSet<&str> = diagnosis
        .evidence
        .iter()
        .filter_map(|row| NOT_CALLABLE.captures(&row.text)?.name("name"))
        .map(|name| name.as_str())
        .collect();
    if called.is_empty() {
        return;
    }
    let resolver = Resolver::new(source);
    let files = mentioned(diagnosis);
    let complete = |file: &RepoPath| {
        let text = source.read(file).unwrap_or_default();
        memchr::memmem::find(&text, b"module.exports").is_none()
    };
    let lacks = |name: &&str| {
        files
            .iter()
            .any(|file| lacks_export(&resolver, &complete, file, name))
    };
    let missing: Vec<String> = called
        .into_iter()
        .filter(lacks)
        .map(str::to_owned)
        .collect();
    if !missing.is_empty() {
        diagnosis.missing_exports = missing;
        let missing = Some(Subkind::MissingExport);
        say(diagnosis, FailureKind::ImportError, missing);
    }
}

const UNREADABLE: &[FailureKind] = &[
    FailureKind::SyntaxError,
    FailureKind::TsError,
    FailureKind::ConfigError,
];

// Only where the log leads into what the markers enclose, or to no line at all.
fn name_merge(diagnosis: &mut Diagnosis, source: &dyn Source) -> bool {
    let found = mentioned(diagnosis).into_iter().find_map(|path| {
        let text = source.read(&path).ok()?;
        let (first, last) = conflict(&String::from_utf8_lossy(&text))?;
        let files = diagnosis.files.iter();
        let mut rows = files
            .filter(|it| it.path == path.as_str())
            .filter_map(|it| it.line)
            .peekable();
        let meant = rows.peek().is_none() || rows.any(|row| (first..=last).contains(&row));
        meant.then_some((path, first, last))
    });
    let Some((path, first, last)) = found else {
        return false;
    };
    let conflict = Some(Subkind::MergeConflict);
    say(diagnosis, FailureKind::SyntaxError, conflict);
    diagnosis.explanation =
        format!("{path} holds conflict markers of a merge, in lines {first} to {last}.");
    if let Some(at) = diagnosis
        .files
        .iter()
        .position(|it| it.path == path.as_str())
    {
        diagnosis.files.swap(0, at);
    }
    true
}

// The first and the last line of what the markers of a merge enclose, from 1.
fn conflict(text: &str) -> Option<(u32, u32)> {
    let numbered = || (1..).zip(text.lines());
    let at = |mark: &str| numbered().find(|(_, line)| line.starts_with(mark));
    let (first, _) = at("<<<<<<< ")?;
    let (middle, _) = numbered().find(|(_, line)| *line == "=======")?;
    let ends = numbered().filter(|(_, line)| line.starts_with(">>>>>>> "));
    let (last, _) = ends.last()?;
    (first < middle && middle < last).then_some((first, last))
}

// Files that are looked through for the way back.
const MAX_SEEN: usize = 2_000;

fn name_circle(diagnosis: &mut Diagnosis, source: &dyn Source) {
    let resolver = Resolver::new(source);
    let files = mentioned(diagnosis);
    let Some(circle) = files.iter().find_map(|start| circle(&resolver, start)) else {
        return;
    };
    let steps = circle.iter().map(|(path, line)| format!("{path}:{line}"));
    let back = circle.first().map(|(path, _)| path.to_string());
    let places: Vec<String> = steps.chain(back).collect();
    diagnosis.explanation = format!(
        "Modules import each other and one is used before it is ready: {}.",
        places.join(" → ")
    );
}

// The shortest way from a file to itself by imports that are made as it is loaded: each file with the
// line of the import that leads on.
fn circle(resolver: &Resolver<'_>, start: &RepoPath) -> Option<Vec<(RepoPath, u32)>> {
    let loads = |import: &Import| {
        !import.type_only && !import.nested && import.kind != ImportKind::DottedString
    };
    let steps = reached(resolver, std::slice::from_ref(start), MAX_SEEN, loads);
    let from: BTreeMap<RepoPath, (RepoPath, u32)> = steps.into_iter().collect();
    let mut way = vec![from.get(start)?.clone()];
    while let Some(step) = way.last().filter(|step| step.0 != *start) {
        way.push(from.get(&step.0)?.clone());
    }
    way.reverse();
    Some(way)
}

/// The files that imports lead to from others, the nearest first: each with the file and the line of the
/// import that leads to it.
pub(super) fn reached(
    resolver: &Resolver<'_>,
    from: &[RepoPath],
    most: usize,
    follows: impl Fn(&Import) -> bool,
) -> Vec<(RepoPath, (RepoPath, u32))> {
    let mut seen: BTreeSet<RepoPath> = BTreeSet::new();
    let mut found = Vec::new();
    let mut open: VecDeque<RepoPath> = from.iter().cloned().collect();
    while let Some(path) = open.pop_front() {
        let facts = resolver.facts(&path);
        for import in facts.imports.iter().filter(|import| follows(import)) {
            for to in resolver.resolve(&path, import).files {
                if to != path && found.len() < most && seen.insert(to.clone()) {
                    open.push_back(to.clone());
                    found.push((to, (path.clone(), import.line)));
                }
            }
        }
    }
    found
}

pattern!(
    NOT_CALLABLE,
    r"TypeError: (?:\(0 ?, ?(?:[\w$]+\.)?|[\w$]+_\d+\.)?(?<name>[\w$]+)\)? is not a (?:function|constructor)\b"
);

// Whether a file takes a name from a module of the repository whose exports are all known, and it is
// none of them.
fn lacks_export(
    resolver: &Resolver<'_>,
    complete: &dyn Fn(&RepoPath) -> bool,
    file: &RepoPath,
    name: &str,
) -> bool {
    let facts = resolver.facts(file);
    let reads = |import: &&Import| {
        matches!(import.kind, ImportKind::Import | ImportKind::Require)
            && import.names.iter().any(|one| one.name == name)
    };
    facts.imports.iter().filter(reads).any(|import| {
        let found = resolver.resolve(file, import).files;
        let target = found.first();
        let seen = &mut BTreeSet::new();
        target.is_some_and(|it| offers(resolver, complete, it, name, seen) == Some(false))
    })
}

// Modules that pass on the exports of others.
const MAX_BARRELS: usize = 200;

// `None` where a module does not tell all that it exports.
fn offers(
    resolver: &Resolver<'_>,
    complete: &dyn Fn(&RepoPath) -> bool,
    file: &RepoPath,
    name: &str,
    seen: &mut BTreeSet<RepoPath>,
) -> Option<bool> {
    if !seen.insert(file.clone()) {
        return Some(false);
    }
    let declares = Language::of_path(file.as_str())?.declares_exports;
    let facts = resolver.facts(file);
    if !declares
        || facts.exports.is_empty()
        || !facts.problems.is_empty()
        || seen.len() > MAX_BARRELS
        || !complete(file)
    {
        return None;
    }
    if facts.exports.iter().any(|one| one.name == name) {
        return Some(true);
    }
    let mut offered = Some(false);
    for star in facts.exports.iter().filter(|one| one.name == "*") {
        let import = Import {
            kind: ImportKind::ExportFrom,
            ..Import::from_specifier(star.from.as_ref()?)
        };
        let found = resolver.resolve(file, &import).files;
        match offers(resolver, complete, found.first()?, name, seen) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => offered = None,
        }
    }
    offered
}

#[cfg(test)]
mod tests {
    use super::diagnose_in;
    use crate::diagnose::{LogFacts, diagnose};
    use crate::model::FailureKind;
    use crate::source::Memory;

    #[test]
    fn a_name_that_an_alias_speaks_for_is_no_package() {
        let log = "src/a.ts(1,19): error TS2307: Cannot find module '@shared/money' or its \
                   corresponding type declarations.\n";
        let alias = r#"{"compilerOptions":{"paths":{"@shared/*":["./lost/*"]}}}"#;
        let workspace = r#"{"workspaces":["money"]}"#;
        let rows = [
            (alias, "{}", "missing_module"),
            ("{}", "{}", "missing_package"),
            ("{}", workspace, "missing_package"),
        ];
        for (config, manifest, expected) in rows {
            let files = [
                ("tsconfig.json", config),
                ("package.json", manifest),
                (
                    "money/package.json",
                    r#"{"name":"@shared/money","main":"index.ts"}"#,
                ),
                ("money/index.ts", "export const m = 1;\n"),
                ("src/a.ts", "import { m } from \"@shared/money\";\n"),
            ];
            let source = Memory::named(files);
            let diagnosis = diagnose_in(log, &LogFacts::default(), &source);
            assert_eq!(diagnosis.subkind.unwrap().to_string(), expected);
            assert_eq!(
                diagnosis.requires_user_action,
                expected == "missing_package"
            );
        }
    }

    #[test]
    fn a_folder_of_the_repository_is_no_package() {
        let source = Memory::named([
            (
                "libs/core/acme/core/moneys.py",
                "def gross():\n    return 1\n",
            ),
            ("tests/test_bill.py", "from acme.core.money import gross\n"),
        ]);
        for (module, finer) in [
            ("acme.core.money", "missing_module"),
            ("acme.other.money", "missing_package"),
            ("me.core.money", "missing_package"),
            ("yaml", "missing_package"),
        ] {
            let log = format!(
                "tests/test_bill.py:1: in <module>\n    from {module} import gross\nE   \
                 ModuleNotFoundError: No module named '{module}'\n"
            );
            let found = diagnose_in(&log, &LogFacts::default(), &source);
            let found_subkind = found.subkind.map(|it| it.to_string()).unwrap_or_default();
            assert_eq!(found_subkind, finer, "{module}");
        }
    }

    #[test]
    fn a_circle_of_imports_is_named() {
        let files = [
            ("shop/__init__.py", ""),
            ("shop/cart.py", "from shop.price import price\n"),
            ("shop/price.py", "import os\nfrom shop.rates import RATE\n"),
            ("shop/rates.py", "from shop.cart import Cart\n"),
            ("shop/far.py", "def f():\n    from shop.rates import RATE\n"),
        ];
        let source = Memory::named(files);
        let error = "E   ImportError: cannot import name 'Cart' from partially initialized module \
                     'shop.cart' (most likely due to a circular import)\n";
        let frames = "shop/cart.py:1: in <module>\nshop/price.py:2: in <module>\n\
                      shop/rates.py:1: in <module>\n";
        let way = [
            "shop/rates.py:1 → shop/cart.py:1 → shop/price.py:2 → shop/rates.py.",
            "shop/cart.py:1 → shop/price.py:2 → shop/rates.py:1 → shop/cart.py.",
        ];
        for (log, named) in [
            (format!("{frames}{error}"), true),
            (format!("shop/rates.py:1: in <module>\n{error}"), true),
            (format!("shop/far.py:2: in <module>\n{error}"), false),
        ] {
            let diagnosis = diagnose_in(&log, &LogFacts::default(), &source);
            let explanation = diagnosis.explanation;
            assert_eq!(
                way.iter().any(|it| explanation.ends_with(it)),
                named,
                "{explanation}"
            );
        }
    }

    #[test]
    fn a_file_with_markers_of_a_merge_is_a_persons_business() {
        let marked = "x = 1\n<<<<<<< HEAD\ny = 1\n=======\ny = 2\n>>>>>>> other\nz = (\n";
        let python =
            |row| format!("  File \"/w/a.py\", line {row}\n    x\nSyntaxError: invalid syntax\n");
        let script = "a.ts(2,1): error TS1185: Merge conflict marker encountered.\n".to_owned();
        for (path, text, log, expected) in [
            ("a.py", marked, python(2), true),
            ("a.py", marked, python(6), true),
            ("a.py", marked, python(7), false),
            ("a.py", "x = (\ny = 1\nz = 2\n", python(2), false),
            ("a.ts", marked, script, true),
        ] {
            let source = Memory::named([(path, text)]);
            let diagnosis = diagnose_in(&log, &LogFacts::default(), &source);
            assert_eq!(diagnosis.requires_user_action, expected, "{log}");
            if expected {
                assert_eq!(diagnosis.kind, FailureKind::SyntaxError);
                let explanation =
                    format!("{path} holds conflict markers of a merge, in lines 2 to 6.");
                assert_eq!(diagnosis.explanation, explanation);
            }
        }
    }

    #[test]
    fn the_manifest_that_does_not_parse_is_found() {
        let log = "npm error code EJSONPARSE\nnpm error JSON.parse Invalid package.json: \
                   JSONParseError: Expected ',' or '}' in JSON at position 9 near \
                   \"...src/index.ts\\\"}\"\nnpm error JSON.parse Failed to parse JSON data.\n";
        let files = [
            ("package.json", "{\"workspaces\":[\"a\"]}"),
            ("a/package.json", "{\"name\":\n\"a\" \"main\":1}"),
        ];
        let source = Memory::named(files);
        let found = diagnose_in(log, &LogFacts::default(), &source);
        assert_eq!(found.evidence[0].line, 2);
        let places: Vec<_> = found
            .files
            .iter()
            .map(|it| (it.path.as_str(), it.line))
            .collect();
        assert_eq!(places, [("a/package.json", Some(2))]);
        assert!(
            found
                .explanation
                .starts_with("a/package.json does not parse")
        );
    }

    #[test]
    fn what_is_no_function_is_an_export_that_is_missing() {
        let log = " FAIL  src/a.test.ts > runs\nTypeError: hasChangd is not a function\n ❯ run \
                   src/a.ts:2:20\n ❯ src/a.test.ts:3:5\n";
        let compiled = [
            "(0 , __vite_ssr_import_0__.hasChangd)",
            "(0 , hasChangd)",
            "__vi_import_0__.hasChangd",
        ];
        let taken = "import { hasChangd } from './b';\nexport const run = () => hasChangd();\n";
        let own = "const hasChangd = 1;\nexport const run = () => hasChangd();\n";
        let barrel = "export * from './c';\n";
        for (a, b, c, missing) in [
            (taken, "export const hasChanged = () => 1;\n", "", true),
            (taken, barrel, "export const hasChanged = () => 1;\n", true),
            (taken, "export const hasChangd = 1;\n", "", false),
            (taken, barrel, "export let hasChangd;\n", false),
            (taken, barrel, "module.exports = make();\n", false),
            (taken, "export * from 'elsewhere';\n", "", false),
            (own, "export const hasChanged = () => 1;\n", "", false),
        ] {
            let files = [("src/a.ts", a), ("src/b.ts", b), ("src/c.ts", c)];
            let source = Memory::named(files);
            let diagnosis = diagnose_in(log, &LogFacts::default(), &source);
            assert_eq!(!diagnosis.missing_exports.is_empty(), missing, "{b}{c}");
            assert_eq!(diagnosis.kind == FailureKind::ImportError, missing);
        }
        // So compilers write it: nothing else has that form.
        for called in compiled {
            let log = log.replace(": hasChangd ", &format!(": {called} "));
            let diagnosis = diagnose(&log, &LogFacts::default(), None);
            assert_eq!(diagnosis.missing_exports, ["hasChangd"], "{called}");
        }
    }
}
