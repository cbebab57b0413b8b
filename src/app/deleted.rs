use crate::git::{Repository, earlier};
use crate::graph::Graph;
use crate::hint::gone_files;
use crate::languages::Language;
use crate::model::{Diagnosis, MentionedFile, Remedy, RepoPath};
use crate::source::Source;

/// Missing modules whose files a commit has and that are gone, each with the line that brings it back: a
/// person's to type. None of what stands under another path now.
pub(super) fn deleted(
    diagnosis: &Diagnosis,
    source: &dyn Source,
    git: Option<&Repository>,
) -> Vec<(String, Remedy)> {
    let Some(git) = git.filter(|_| !diagnosis.missing_modules.is_empty()) else {
        return Vec::new();
    };
    let Ok(head) = git.tree("HEAD") else {
        return Vec::new();
    };
    let graph = Graph::new(source);
    let past = earlier(Some(git), "HEAD");
    let here = source.listing();
    let is_gone = |path: &RepoPath| {
        !here.has_file(path.as_str())
            && Language::of_path(path.as_str()).is_some()
            && !past(path).is_empty()
            && !has_moved(source, &head, path)
    };
    let files = diagnosis.files.iter().filter_map(MentionedFile::repo_path);
    let files: Vec<RepoPath> = files.collect();
    let mut found: Vec<(&String, RepoPath)> = Vec::new();
    for module in &diagnosis.missing_modules {
        for file in &files {
            for path in gone_files(&graph, file, module, &is_gone) {
                if found.iter().all(|(_, known)| *known != path) {
                    found.push((module, path));
                }
            }
        }
    }
    let remedy = |(module, path): (&String, RepoPath)| {
        let remedy = if head.listing().has_file(path.as_str()) {
            Remedy::new(
                format!("{path} is deleted, and the last commit has it"),
                Some(format!("git checkout HEAD -- {path}")),
            )
        } else {
            Remedy::new(
                format!("{path} was deleted by a commit"),
                Some(format!("git log -1 -- {path}")),
            )
        };
        (module.clone(), remedy)
    };
    let plain = |path: &RepoPath| {
        let mut bytes = path.as_str().bytes();
        bytes.all(|it| it.is_ascii_alphanumeric() || b"/._-".contains(&it))
    };
    let found = found.into_iter().filter(|(_, path)| plain(path));
    found.map(remedy).collect()
}

// Whether a file of its name, or with its very content, is new elsewhere.
fn has_moved(source: &dyn Source, head: &dyn Source, path: &RepoPath) -> bool {
    let content = head.read(path).ok();
    let known = |other: &RepoPath| head.listing().has_file(other.as_str());
    let mut files = source.listing().files().filter(|it| !known(&it.path));
    files.any(|it| {
        it.path.file_name() == path.file_name()
            || content.as_ref().is_some_and(|content| {
                it.bytes == content.len() as u64
                    && source.read(&it.path).is_ok_and(|bytes| bytes == *content)
            })
    })
}
