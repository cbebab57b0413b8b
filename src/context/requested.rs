use crate::model::{Code, RepoPath, Role};
use crate::source::Source;

use super::candidate::{Candidate, Form};
use super::fill::Fill;
use super::request::Request;
use super::snapshot::Unshown;
use super::targets::nearest_paths;

/// What an agent asked for, as candidates; what names nothing is rejected with the nearest names.
pub(super) fn requested(
    fill: &mut Fill<'_>,
    source: &dyn Source,
    request: &Request,
    taken: &[RepoPath],
) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for text in &request.requested {
        match RepoPath::new(text) {
            Err(problem) => fill.reject(
                text,
                Unshown {
                    code: Code::C301,
                    reason: problem.to_string(),
                    bytes: None,
                    remedy: String::new(),
                },
            ),
            Ok(path) if taken.contains(&path) || found.iter().any(|it| it.path == path) => {}
            Ok(path)
                if source.listing().get(path.as_str()).is_none()
                    && !path.as_str().starts_with(".git/") =>
            {
                let near = nearest_paths(source.listing(), path.as_str(), 3);
                let near = near
                    .iter()
                    .map(|path| format!("`{path}`"))
                    .collect::<Vec<_>>();
                let reason = if near.is_empty() {
                    "there is no such file".to_owned()
                } else {
                    format!("there is no such file; near names: {}", near.join(", "))
                };
                fill.reject(
                    text,
                    Unshown {
                        code: Code::C301,
                        reason,
                        bytes: None,
                        remedy: String::new(),
                    },
                );
            }
            Ok(path) => found.push(Candidate {
                path,
                role: Role::Requested,
                hops: None,
                via: Vec::new(),
                why: "the agent asked for it".to_owned(),
                lines: Vec::new(),
                form: Form::Whole,
                score: None,
            }),
        }
    }
    found
}

/// Every file of the repository, for level 4.
pub(super) fn everything(source: &dyn Source, taken: &[RepoPath]) -> Vec<Candidate> {
    let taken: std::collections::HashSet<&RepoPath> = taken.iter().collect();
    source
        .listing()
        .files()
        .filter(|entry| !taken.contains(&entry.path))
        .map(|entry| Candidate {
            path: entry.path.clone(),
            role: Role::Bundle,
            hops: None,
            via: Vec::new(),
            why: "part of the whole repository".to_owned(),
            lines: Vec::new(),
            form: Form::Whole,
            score: None,
        })
        .collect()
}
