use crate::git::Repository;
use crate::graph::Graph;
use crate::hint::gone_files;
use crate::languages::Language;
use crate::model::{Diagnosis, MentionedFile, Remedy, RepoPath};
use crate::source::Source;

/// Missing modules whose files a commit has and that are gone, each with the line that brings it back: a
/// person's to type.
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
    let here = source.listing();
    let is_gone = |path: &RepoPath| {
        !here.has_file(path.as_str())
            && Language::of_path(path.as_str()).is_some()
            && head.listing().has_file(path.as_str())
    };
    let files = diagnosis.files.iter().filter_map(MentionedFile::repo_path);
    let files: Vec<RepoPath> = files.collect();
    let mut found: Vec<(&String, RepoPath)> = Vec::new();
    for module in &diagnosis.missing_modules {
        for file in &files {
            for path in gone_files(&graph, file, module, &is_gone) {
                if found.iter().all(|(_, other)| *other != path) {
                    found.push((module, path));
                }
            }
        }
    }
    let remedy = |(module, path): (&String, RepoPath)| {
        let remedy = Remedy::new(
            format!("{path} is deleted, and the last commit has it"),
            Some(format!("git checkout HEAD -- {path}")),
        );
        (module.clone(), remedy)
    };
    let plain = |path: &RepoPath| {
        let mut bytes = path.as_str().bytes();
        bytes.all(|it| it.is_ascii_alphanumeric() || b"/._-".contains(&it))
    };
    let found = found.into_iter().filter(|(_, path)| plain(path));
    found.map(remedy).collect()
}
