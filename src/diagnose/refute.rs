//! Checks a diagnosis against the repository, so that a module of the repository is never called a
//! missing package.

use std::collections::BTreeSet;

use super::LogFacts;
use super::derive::set_kind;
use super::document::build_answer;
use super::locate::{Locator, Scene};
use super::log::View;
use crate::languages::{Resolver, package_part};
use crate::model::{Diagnosis, MentionedFile, RepoPath, Subkind};
use crate::runners::pattern;
use crate::source::Source;

/// Diagnoses a log inside a repository, whose files have the last word on what is missing.
pub fn diagnose_in(log: &str, facts: &LogFacts, source: &dyn Source) -> Diagnosis {
    let scene = Scene {
        source: Some(source),
        directory: "",
    };
    let mut diagnosis = build_answer(View::whole(log), facts, Locator::at(scene)).diagnosis;
    refute(&mut diagnosis, source);
    diagnosis
}

/// Corrects what the log says where the repository's files say otherwise: a package that is a module
/// of the repository, a circular import without a circle.
pub(super) fn refute(diagnosis: &mut Diagnosis, source: &dyn Source) {
    match &diagnosis.subkind {
        // Installing cannot help there, since the module is the project's own. A package of the workspace is linked
        // by installing.
        Some(Subkind::MissingPackage) if is_in_repository(diagnosis, source) => {
            set_kind(diagnosis, diagnosis.kind, Some(Subkind::MissingModule));
        }
        Some(Subkind::CircularImport) => check_circle(diagnosis, source),
        _ => {}
    }
}

fn mentioned_paths(diagnosis: &Diagnosis) -> Vec<RepoPath> {
    let mut seen = BTreeSet::new();
    let paths = diagnosis.files.iter().filter_map(MentionedFile::repo_path);
    // Bounded, because a log may name thousands of files and one import settles it.
    paths.filter(|path| seen.insert(path.clone())).take(32).collect()
}

fn is_in_repository(diagnosis: &Diagnosis, source: &dyn Source) -> bool {
    let resolver = Resolver::new(source);
    mentioned_paths(diagnosis).iter().any(|file| {
        resolver.facts(file).imports.iter().any(|import| {
            if !diagnosis.missing_modules.contains(&import.specifier) {
                return false;
            }
            let found = resolver.resolve(file, import);
            found.external.is_none()
                && !found.files.iter().any(|path| {
                    let package = resolver.package_of(path).and_then(|(_, name)| name);
                    package.is_some_and(|name| package_part(&import.specifier) == Some(&name))
                })
        })
    })
}

// Python only guesses: "most likely due to a circular import". Without a circle in the graph the name
// is one that its package lacks, such as an extension that was never compiled.
fn check_circle(diagnosis: &mut Diagnosis, source: &dyn Source) {
    pattern!(
        GUESS,
        r"cannot import name '(\w+)' from partially initialized module '([\w.]+)'"
    );
    let resolver = Resolver::new(source);
    let files = mentioned_paths(diagnosis);
    if files.iter().any(|start| is_in_circle(&resolver, start)) {
        return;
    }
    let mut evidence = diagnosis.evidence.iter();
    let guess = evidence.find_map(|row| GUESS.captures(&row.text));
    let Some(guess) = guess.filter(|_| !files.is_empty()) else {
        return;
    };
    let (module, name) = (format!("{}.{}", &guess[2], &guess[1]), guess[1].to_owned());
    set_kind(diagnosis, diagnosis.kind, Some(Subkind::MissingModule));
    (diagnosis.missing_modules, diagnosis.missing_exports) = (vec![module], vec![name]);
    // What is left of the log's certainty where the files contradict it.
    diagnosis.confidence = diagnosis.confidence.min(0.75);
}

// Whether imports that are made as files are loaded lead from a file back to it.
fn is_in_circle(resolver: &Resolver<'_>, start: &RepoPath) -> bool {
    let mut seen: BTreeSet<RepoPath> = BTreeSet::new();
    let mut open: Vec<RepoPath> = vec![start.clone()];
    // Files that are looked through for the way back.
    while let Some(path) = open.pop().filter(|_| seen.len() < 2_000) {
        let facts = resolver.facts(&path);
        for import in facts.imports.iter().filter(|import| !import.type_only && !import.nested) {
            let others = resolver.resolve(&path, import).files.into_iter().filter(|to| *to != path);
            open.extend(others.filter(|to| seen.insert(to.clone())));
        }
    }
    seen.contains(start)
}

#[cfg(test)]
mod tests {
    use super::diagnose_in;
    use crate::diagnose::LogFacts;
    use crate::model::Subkind;
    use crate::source::Memory;

    #[test]
    fn alias_is_no_package() {
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
    fn verifies_import_cycle_in_graph() {
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
        for (log, named) in [
            (format!("{frames}{error}"), true),
            (format!("shop/rates.py:1: in <module>\n{error}"), true),
            (format!("shop/far.py:2: in <module>\n{error}"), false),
        ] {
            let diagnosis = diagnose_in(&log, &LogFacts::default(), &source);
            let is_circle = diagnosis.subkind == Some(Subkind::CircularImport);
            assert_eq!(is_circle, named, "{log}");
            assert_eq!(diagnosis.missing_exports.is_empty(), named, "{log}");
        }
    }
}
