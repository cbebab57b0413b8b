use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::document::answer;
use super::locate::{Locator, Scene};
use super::log::View;
use super::pattern::compile;
use super::{LogFacts, category, requires_user_action, words};
use crate::languages::{Language, Resolver, package_part};
use crate::model::{Diagnosis, FailureKind, Import, ImportKind, MentionedFile, RepoPath, Subkind};
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
/// that is no function is imported from a module that does not have it.
pub(super) fn reconsider(diagnosis: &mut Diagnosis, source: &dyn Source) {
    if diagnosis.kind == FailureKind::RuntimeError {
        return name_exports(diagnosis, source);
    }
    let package = diagnosis.kind == FailureKind::ImportError
        && diagnosis.subkind.as_ref().is_some_and(|it| it.0 == PACKAGE);
    if !package || !claims(diagnosis, source) {
        return;
    }
    say(diagnosis, MODULE);
}

fn say(diagnosis: &mut Diagnosis, subkind: &str) {
    let (explanation, fix) = words(diagnosis.kind, Some(subkind));
    diagnosis.subkind = Some(Subkind(subkind.to_owned()));
    explanation.clone_into(&mut diagnosis.explanation);
    fix.clone_into(&mut diagnosis.suggested_fix);
    diagnosis.category = category(diagnosis.kind, None);
    diagnosis.requires_user_action = requires_user_action(diagnosis.kind, Some(subkind));
}

const PACKAGE: &str = "missing_package";
const MODULE: &str = "missing_module";
// A log may name thousands of files; one import settles it.
const MAX_FILES: usize = 32;

fn mentioned(diagnosis: &Diagnosis) -> Vec<RepoPath> {
    let mut files: Vec<RepoPath> = Vec::new();
    for path in diagnosis.files.iter().filter_map(MentionedFile::repo_path) {
        if files.len() < MAX_FILES && !files.contains(&path) {
            files.push(path);
        }
    }
    files
}

fn claims(diagnosis: &Diagnosis, source: &dyn Source) -> bool {
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
    let told = |file: &RepoPath| {
        let text = source.read(file).unwrap_or_default();
        memchr::memmem::find(&text, b"module.exports").is_none()
    };
    let lacks = |name: &&str| {
        files
            .iter()
            .any(|file| lacks_export(&resolver, &told, file, name))
    };
    let missing: Vec<String> = called
        .into_iter()
        .filter(lacks)
        .map(str::to_owned)
        .collect();
    if !missing.is_empty() {
        diagnosis.missing_exports = missing;
        diagnosis.kind = FailureKind::ImportError;
        say(diagnosis, EXPORT);
    }
}

const EXPORT: &str = "missing_export";

static NOT_CALLABLE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"TypeError: (?:\(0 ?, ?[\w$]+\.)?(?<name>[\w$]+)\)? is not a (?:function|constructor)\b",
    )
});

// Whether a file takes a name from a module of the repository whose exports are all known, and it is
// none of them.
fn lacks_export(
    resolver: &Resolver<'_>,
    told: &dyn Fn(&RepoPath) -> bool,
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
        target.is_some_and(|it| offers(resolver, told, it, name, MAX_STEPS) == Some(false))
    })
}

const MAX_STEPS: usize = 8;

// `None` where a module does not tell all that it exports.
fn offers(
    resolver: &Resolver<'_>,
    told: &dyn Fn(&RepoPath) -> bool,
    file: &RepoPath,
    name: &str,
    steps: usize,
) -> Option<bool> {
    let declares = Language::of_path(file.as_str())?.declares_exports;
    let facts = resolver.facts(file);
    if !declares
        || facts.exports.is_empty()
        || !facts.problems.is_empty()
        || steps == 0
        || !told(file)
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
            ..Import::of(star.from.as_ref()?)
        };
        let found = resolver.resolve(file, &import).files;
        match offers(resolver, told, found.first()?, name, steps - 1) {
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
    use crate::model::{FailureKind, RepoPath};
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
            let source = Memory::new(
                files.map(|(path, text)| (RepoPath::new(path).unwrap(), text.as_bytes().to_vec())),
            );
            let diagnosis = diagnose_in(log, &LogFacts::default(), &source);
            assert_eq!(diagnosis.subkind.unwrap().0, expected);
            assert_eq!(
                diagnosis.requires_user_action,
                expected == "missing_package"
            );
        }
    }

    #[test]
    fn what_is_no_function_is_an_export_that_is_missing() {
        let log = " FAIL  src/a.test.ts > runs\nTypeError: hasChangd is not a function\n ❯ run \
                   src/a.ts:2:20\n ❯ src/a.test.ts:3:5\n";
        let compiled = log.replace(": hasChangd ", ": (0 , __vite_ssr_import_0__.hasChangd) ");
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
            let source = Memory::new(
                files.map(|(path, text)| (RepoPath::new(path).unwrap(), text.as_bytes().to_vec())),
            );
            let diagnosis = diagnose_in(log, &LogFacts::default(), &source);
            assert_eq!(!diagnosis.missing_exports.is_empty(), missing, "{b}{c}");
            assert_eq!(diagnosis.kind == FailureKind::ImportError, missing);
        }
        // So compilers write it: nothing else has that form.
        let diagnosis = diagnose(&compiled, &LogFacts::default(), None);
        assert_eq!(diagnosis.missing_exports, ["hasChangd"]);
    }
}
