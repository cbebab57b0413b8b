use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use memchr::memmem;
use serde::Deserialize;

use super::unnamed::row;
use crate::model::{Diagnosis, FailureKind, MentionedFile, RepoPath};
use crate::runners::{pattern, rows};
use crate::source::Source;

// Manifests of a workspace that are read.
const MOST: usize = 2_000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    tools: Vec<String>,
    files: Vec<String>,
    #[serde(rename = "seen")]
    _seen: String,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| rows(embedded!("diagnose/manifests.toml")));

// A package with what is asked of it, a package that is asked for, a script or an environment.
pattern!(
    ASKED,
    r#"([\w@][\w@/.-]*?)(?:@| ?(?:===?|>=|<=|~=|!=|\^|[<>]))\s?[v^~]?\d|(?:depends on|requires|for|because) ([\w@][\w@/.-]*\w)|['"`]([\w@][\w@/.:-]*)['"`]"#
);

/// Adds the manifest that a package manager failed by, where the log names none of its manifests: the one that
/// does not parse, else the one that holds most of what was asked for, else the outermost.
pub(super) fn name_manifest(diagnosis: &mut Diagnosis, source: &dyn Source) {
    let kinds = [FailureKind::DependencyError, FailureKind::ConfigError];
    let tool = diagnosis.tool.clone().unwrap_or_default();
    let row_of = ROWS.iter().find(|row| row.tools.contains(&tool));
    let Some(tool_row) = row_of.filter(|_| kinds.contains(&diagnosis.kind)) else {
        return;
    };
    let is_one = |path: &RepoPath| tool_row.files.iter().any(|it| it == path.file_name());
    let texts = diagnosis.evidence.iter().map(|it| it.text.as_str());
    let asked = texts.flat_map(|text| ASKED.captures_iter(text));
    let asked: BTreeSet<&str> = asked
        .filter_map(|it| it.iter().skip(1).flatten().next().map(|it| it.as_str()))
        .filter(|it| it.len() > 2)
        .collect();
    let manifests = source.listing().files().map(|it| &it.path);
    let manifests = manifests.filter(|it| is_one(it)).take(MOST);
    let found = manifests.filter_map(|path| {
        let text = source.read(path).ok()?;
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
        let json = matches!(path.as_str().rsplit_once('.'), Some((_, "json")));
        let parsed = json.then(|| serde_json::from_slice::<serde_json::Value>(text));
        let error = parsed.and_then(Result::err);
        let stands = |word: &&&str| memmem::find(text, word.as_bytes());
        let held: Vec<usize> = asked.iter().filter_map(|it| stands(&it)).collect();
        let line = held.first().map(|at| row(text, *at));
        let depth = Reverse(path.as_str().matches('/').count());
        Some((
            (error.is_some(), held.len(), depth),
            path.clone(),
            line,
            error,
        ))
    });
    let Some((_, path, line, error)) = found.max_by_key(|it| it.0) else {
        return;
    };
    let named = |it: &MentionedFile| it.repo_path().is_some_and(|it| is_one(&it));
    if error.is_none() && diagnosis.files.iter().any(named) {
        return;
    }
    let mut file = MentionedFile::at(&path, line);
    if let Some(error) = error {
        diagnosis.explanation = format!("{path} does not parse: {error}.");
        "Correct the manifest where the parser stopped, or just before."
            .clone_into(&mut diagnosis.suggested_fix);
        file.line = u32::try_from(error.line()).ok();
        file.column = u32::try_from(error.column()).ok();
        diagnosis.files.clear();
    }
    diagnosis.files.insert(0, file);
}
