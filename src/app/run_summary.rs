use super::hint::{HintRequest, find_imports};
use super::remedy::remedies;
use super::{App, Silent};
use crate::diagnose::Log;
use crate::hint::{Wanted, wanted};
use crate::model::{
    CertainImport, ContextDocument, Diagnosis, MentionedFile, PacketSize, RepoPath, RunFailure,
    RunSummary,
};
use crate::source::Source;
use crate::workspace::Workspace;

/// What a failed command comes to: failures with their places, what is certain, the packet's size.
pub(super) fn summarise(
    app: &App,
    context: &ContextDocument,
    command: &str,
    log: &Log,
    workspace: &Workspace,
) -> RunSummary {
    let packet = Some(PacketSize {
        level: context.level,
        files: context.files.len() as u64,
        bytes: context.total_bytes,
        tokens: context.total_tokens,
    });
    let Some(diagnosis) = &context.diagnosis else {
        return RunSummary {
            packet,
            ..RunSummary::default()
        };
    };
    let source = workspace.source.as_ref();
    let (certain, perhaps) = imports(app, diagnosis, log);
    let again = |name: &str| format!("mendit run --env {name} {command}");
    RunSummary {
        packet,
        certain,
        perhaps,
        remedies: remedies(diagnosis, command, &again, source, &workspace.prefix),
        ..told(diagnosis, source)
    }
}

/// The same of a diagnosis alone.
pub(super) fn told(diagnosis: &Diagnosis, source: &dyn Source) -> RunSummary {
    let all = failures(diagnosis, source);
    let left_out = diagnosis.left_out.map_or(0, |it| it.tests);
    RunSummary {
        kind: diagnosis.kind,
        subkind: diagnosis.subkind.as_ref().map(|it| it.0.clone()),
        explanation: diagnosis.explanation.clone(),
        more: all.len().saturating_sub(MOST) as u64 + left_out,
        failures: all.into_iter().take(MOST).collect(),
        requires_user_action: diagnosis.requires_user_action,
        ..RunSummary::default()
    }
}

// Where the file that lacks something is named, with its line when the log says one; without such a
// file, the first line of the repository, else its first file.
fn place<'a>(diagnosis: &'a Diagnosis, source: &dyn Source) -> Option<&'a MentionedFile> {
    let lacks = Wanted {
        names: diagnosis.undefined_names.clone(),
        modules: diagnosis.missing_modules.clone(),
        exports: diagnosis.missing_exports.clone(),
    };
    let files = diagnosis.files.iter().filter(|it| it.in_repository);
    let paths: Vec<RepoPath> = files.clone().filter_map(MentionedFile::repo_path).collect();
    let lacking = wanted(source, &paths, &lacks);
    let of = |file: &&MentionedFile| file.repo_path().is_some_and(|it| lacking.contains_key(&it));
    let mut named = files.clone().filter(of);
    let lined = named.clone().find(|it| it.line.is_some());
    lined
        .or_else(|| named.next())
        .or_else(|| files.clone().find(|it| it.line.is_some()))
        .or_else(|| files.clone().next())
}

// A row for each test. What all of them died of stands in one place.
fn failures(diagnosis: &Diagnosis, source: &dyn Source) -> Vec<RunFailure> {
    let place = place(diagnosis, source);
    let first = |row: RunFailure| match place {
        Some(place) => RunFailure {
            path: Some(place.path.clone()),
            line: place.line,
            ..row
        },
        None => row,
    };
    let evidence = diagnosis.evidence.iter().map(|it| it.text.trim());
    let mut evidence = evidence.map(|it| it.strip_prefix("E ").unwrap_or(it).trim().to_owned());
    if diagnosis.tests.is_empty() {
        let rows = evidence.take(MOST_LINES).enumerate();
        return rows
            .map(|(at, error)| {
                let row = RunFailure {
                    error,
                    ..RunFailure::default()
                };
                if at == 0 { first(row) } else { row }
            })
            .collect();
    }
    let shared = evidence.next().unwrap_or_default();
    let named = !diagnosis.undefined_names.is_empty()
        || !diagnosis.missing_modules.is_empty()
        || !diagnosis.missing_exports.is_empty();
    let tests = diagnosis.tests.iter();
    tests
        .map(|test| {
            let row = RunFailure {
                test: test.id.clone(),
                error: test.message.clone().unwrap_or_else(|| shared.clone()),
                path: test.path.clone(),
                line: test.line,
            };
            if named || row.line.is_none() {
                first(row)
            } else {
                row
            }
        })
        .collect()
}

/// The imports that are certain, and the likeliest of names without one.
pub(super) fn imports(
    app: &App,
    diagnosis: &Diagnosis,
    log: &Log,
) -> (Vec<CertainImport>, Vec<CertainImport>) {
    let lacks = [
        &diagnosis.undefined_names,
        &diagnosis.missing_modules,
        &diagnosis.missing_exports,
    ];
    if lacks.iter().all(|it| it.is_empty()) {
        return <_>::default();
    }
    let request = HintRequest {
        logs: vec![log.clone()],
        ..HintRequest::default()
    };
    // A log that names no file of the repository gives no hint; that is no error here.
    let hinted = find_imports(app, &request, &Silent);
    let suggestions = hinted.into_iter().flat_map(|it| it.document.suggestions);
    let (mut certain, mut perhaps): (Vec<CertainImport>, Vec<CertainImport>) = <_>::default();
    for one in suggestions {
        let list = if one.certain {
            &mut certain
        } else {
            &mut perhaps
        };
        list.push(CertainImport {
            name: one.name,
            statement: one.import_statement,
        });
    }
    let mut seen: Vec<String> = certain.iter().map(|it| it.name.clone()).collect();
    perhaps.retain(|it| {
        let new = !seen.contains(&it.name);
        seen.push(it.name.clone());
        new
    });
    perhaps.truncate(MOST_LINES);
    (certain, perhaps)
}

const MOST: usize = 10;
const MOST_LINES: usize = 3;
