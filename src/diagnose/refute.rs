use super::LogFacts;
use super::derive::set_kind;
use super::document::build_answer;
use super::locate::{Locator, Scene};
use super::log::View;
use crate::languages::{Resolver, package_part};
use crate::model::{Diagnosis, MentionedFile, RepoPath, Subkind};
use crate::source::Source;

/// Diagnoses a log inside a repository, whose files have the last word on what is missing.
#[must_use]
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
/// of the repository.
pub(super) fn refute(diagnosis: &mut Diagnosis, source: &dyn Source) {
    // Nothing that is installed helps there. A package of the workspace is another matter:
    // installing links it.
    let is_package = diagnosis.subkind == Some(Subkind::MissingPackage);
    if is_package && is_in_repository(diagnosis, source) {
        set_kind(diagnosis, diagnosis.kind, Some(Subkind::MissingModule));
    }
}

// A log may name thousands of files; one import settles it.
const MAX_FILES: usize = 32;

fn mentioned_paths(diagnosis: &Diagnosis) -> Vec<RepoPath> {
    let mut files: Vec<RepoPath> = Vec::new();
    for path in diagnosis.files.iter().filter_map(MentionedFile::repo_path) {
        if files.len() < MAX_FILES && !files.contains(&path) {
            files.push(path);
        }
    }
    files
}

fn is_in_repository(diagnosis: &Diagnosis, source: &dyn Source) -> bool {
    let resolver = Resolver::new(source);
    mentioned_paths(diagnosis).iter().any(|file| {
        resolver.facts(file).imports.iter().any(|import| {
            if !diagnosis.missing_modules.contains(&import.specifier) {
                return false;
            }
            let found = resolver.resolve(file, import);
            let is_linked = |path| {
                let package = resolver.package_of(path).and_then(|(_, name)| name);
                package.is_some_and(|name| package_part(&import.specifier) == Some(&name))
            };
            found.external.is_none() && !found.files.iter().any(is_linked)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::diagnose_in;
    use crate::diagnose::LogFacts;
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
}
