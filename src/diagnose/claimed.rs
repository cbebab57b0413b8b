use super::document::answer;
use super::locate::{Locator, Scene};
use super::log::View;
use super::{LogFacts, requires_user_action, words};
use crate::languages::{Resolver, package_part};
use crate::model::{Diagnosis, FailureKind, MentionedFile, RepoPath, Subkind};
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
/// workspace is another matter: installing links it.
pub(super) fn reconsider(diagnosis: &mut Diagnosis, source: &dyn Source) {
    let package = diagnosis.kind == FailureKind::ImportError
        && diagnosis.subkind.as_ref().is_some_and(|it| it.0 == PACKAGE);
    if !package || !claims(diagnosis, source) {
        return;
    }
    let (explanation, fix) = words(diagnosis.kind, Some(MODULE));
    diagnosis.subkind = Some(Subkind(MODULE.to_owned()));
    explanation.clone_into(&mut diagnosis.explanation);
    fix.clone_into(&mut diagnosis.suggested_fix);
    diagnosis.requires_user_action = requires_user_action(diagnosis.kind, Some(MODULE));
}

const PACKAGE: &str = "missing_package";
const MODULE: &str = "missing_module";
// A log may name thousands of files; one import settles it.
const MAX_FILES: usize = 32;

fn claims(diagnosis: &Diagnosis, source: &dyn Source) -> bool {
    let resolver = Resolver::new(source);
    let mut files: Vec<RepoPath> = Vec::new();
    for path in diagnosis.files.iter().filter_map(MentionedFile::repo_path) {
        if files.len() < MAX_FILES && !files.contains(&path) {
            files.push(path);
        }
    }
    files.iter().any(|file| {
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

#[cfg(test)]
mod tests {
    use super::diagnose_in;
    use crate::diagnose::LogFacts;
    use crate::model::RepoPath;
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
}
