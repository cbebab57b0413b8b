use std::collections::BTreeMap;

use super::hint::{HintRequest, find_imports};
use super::remedy::remedies;
use super::{App, Silent};
use crate::diagnose::Log;
use crate::hint::{Wanted, wanted};
use crate::languages::words;
use crate::model::{
    CertainImport, ContextDocument, Diagnosis, MentionedFile, PacketSize, RepoPath, RunFailure,
    RunSummary,
};
use crate::repair::log_heals;
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
    let (certain, perhaps, more) = found_imports(app, diagnosis, log);
    let mends = log_heals(diagnosis, log.text(), source).into_iter();
    let mut mends: Vec<String> = mends.map(|it| it.what).collect();
    mends.extend(
        more.into_iter()
            .filter(|it| !mends.contains(it))
            .collect::<Vec<_>>(),
    );
    mends.truncate(MOST_LINES);
    let again = |name: &str| format!("mendit run --env {name} {command}");
    RunSummary {
        packet,
        certain,
        perhaps,
        mends,
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

// The files that lack what is missing.
fn lacking(diagnosis: &Diagnosis, source: &dyn Source) -> BTreeMap<RepoPath, Wanted> {
    let lacks = Wanted {
        names: diagnosis.undefined_names.clone(),
        modules: diagnosis.missing_modules.clone(),
        exports: diagnosis.missing_exports.clone(),
    };
    let files = diagnosis.files.iter().filter(|it| it.in_repository);
    let paths: Vec<RepoPath> = files.filter_map(MentionedFile::repo_path).collect();
    wanted(source, &paths, &lacks)
}

// Where the file that lacks something is named, with its line when the log says one; without such a
// file, the first line of the repository, else its first file.
fn place<'a>(
    diagnosis: &'a Diagnosis,
    lacking: &BTreeMap<RepoPath, Wanted>,
) -> Option<&'a MentionedFile> {
    let files = diagnosis.files.iter().filter(|it| it.in_repository);
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
    let lacking = lacking(diagnosis, source);
    let place = place(diagnosis, &lacking);
    // Of several names each row has the line that holds its own.
    let own = |row: &RunFailure| {
        let files = diagnosis.files.iter().filter(|it| it.in_repository);
        let mut lined = files.filter(|it| it.line.is_some());
        lined.find(|it| {
            let path = it.repo_path();
            let wanted = path.as_ref().and_then(|path| lacking.get(path));
            let names = wanted.into_iter().flat_map(|it| &it.names);
            let mut named = names.filter(|name| row.error.contains(*name)).peekable();
            let text = named.peek().and(path.as_ref());
            let text = text.and_then(|path| source.read(path).ok());
            let line = text.as_deref().and_then(|text| {
                let at = it.line?.checked_sub(1)?;
                text.split(|byte| *byte == b'\n').nth(at as usize)
            });
            line.is_some_and(|line| named.any(|name| words(line, name).next().is_some()))
        })
    };
    let first = |row: RunFailure| match own(&row).or(place) {
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
    let (certain, perhaps, _) = found_imports(app, diagnosis, log);
    (certain, perhaps)
}

// Those, and what is tried beside imports of the files that lack names.
fn found_imports(
    app: &App,
    diagnosis: &Diagnosis,
    log: &Log,
) -> (Vec<CertainImport>, Vec<CertainImport>, Vec<String>) {
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
    let (mut certain, mut perhaps): (Vec<CertainImport>, Vec<CertainImport>) = <_>::default();
    let mut mends = Vec::new();
    if let Ok(hinted) = hinted {
        mends.clone_from(&hinted.mends);
        for one in hinted.document.suggestions {
            if hinted.passed_on.contains(&one.name) && !one.certain {
                continue;
            }
            let list = if one.certain {
                &mut certain
            } else {
                &mut perhaps
            };
            list.push(CertainImport {
                tried: one.certain || hinted.tried.contains(&one),
                statement: match one.import_statement.as_str() {
                    "" => format!("{} for {}", one.imported, one.name),
                    statement => statement.to_owned(),
                },
                name: one.name,
            });
        }
    }
    let mut seen: Vec<String> = certain.iter().map(|it| it.name.clone()).collect();
    perhaps.retain(|it| {
        let new = !seen.contains(&it.name);
        seen.push(it.name.clone());
        new
    });
    perhaps.truncate(MOST_LINES);
    (certain, perhaps, mends)
}

const MOST: usize = 10;
const MOST_LINES: usize = 3;
