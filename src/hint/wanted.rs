//! Reads from a diagnosis which names each file lacks.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::exports::takers;
use super::fix::binds_name;
use super::modules::leads_to;
use super::query::has_template;
use crate::languages::{Language, facts, uses, words};
use crate::model::{Diagnosis, FileFacts, MentionedFile, RepoPath};
use crate::source::Source;

/// Names, modules and exports that one file lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Names that are undefined in it.
    pub names: Vec<String>,
    /// Modules that it imports and that are not there.
    pub modules: Vec<String>,
    /// Names that it imports from modules which do not export them.
    pub exports: Vec<String>,
}

/// Returns the files in which names are missing. Where none of them is of this repository, those of Python by the
/// paths in the log: a Python module has one name, whichever file asks.
pub fn lacking(diagnosis: &Diagnosis) -> Vec<RepoPath> {
    let mentioned = diagnosis.files.iter();
    let mut own: Vec<RepoPath> = mentioned.clone().filter_map(MentionedFile::repo_path).collect();
    if own.is_empty() {
        let python = mentioned.filter(|file| file.path.ends_with(".py"));
        own.extend(python.filter_map(|file| RepoPath::new(&file.path).ok()));
    }
    own
}

/// Returns what each of those files lacks.
pub fn lacked_names(source: &dyn Source, diagnosis: &Diagnosis) -> BTreeMap<RepoPath, Wanted> {
    let mut files = lacking(diagnosis);
    files.retain(|path| Language::of_path(path.as_str()).is_some());
    wanted(source, &files, &Wanted::from_diagnosis(diagnosis))
}

impl Wanted {
    /// Returns what a diagnosis says is missing.
    pub fn from_diagnosis(diagnosis: &Diagnosis) -> Self {
        Self {
            names: diagnosis.undefined_names.clone(),
            modules: diagnosis.missing_modules.clone(),
            exports: diagnosis.missing_exports.clone(),
        }
    }

    /// Adds a name, once.
    pub fn add_name(&mut self, name: &str) {
        add_text(&mut self.names, name);
    }
}

/// Returns which of the files that a log names lacks what: an export the files that import it, a module those that
/// import it, a name the first file that uses it and does not bind it. The rest goes to the first.
pub fn wanted(
    source: &dyn Source,
    files: &[RepoPath],
    lacks: &Wanted,
) -> BTreeMap<RepoPath, Wanted> {
    let read = files.iter().map(|path| {
        let bytes = source.read(path).unwrap_or_default();
        let facts = facts(path, &bytes);
        NamedFile { path, bytes, facts }
    });
    let read: Vec<NamedFile<'_>> = read.collect();
    let mut found: BTreeMap<RepoPath, Wanted> = BTreeMap::new();
    for name in &lacks.names {
        if let Some(file) = read.iter().find(|file| file.lacks_name(name)) {
            add_text(&mut found.entry(file.path.clone()).or_default().names, name);
        }
    }
    for module in &lacks.modules {
        for file in files_with(&read, |file| {
            file.facts.imports.iter().any(|import| leads_to(file.path, import, module))
        }) {
            add_text(&mut found.entry(file.clone()).or_default().modules, module);
        }
    }
    for export in &lacks.exports {
        for file in files_with(&read, |file| takers(&file.facts, export).next().is_some()) {
            add_text(&mut found.entry(file.clone()).or_default().exports, export);
        }
    }
    found
}

// A file that a log names.
struct NamedFile<'f> {
    path: &'f RepoPath,
    bytes: Arc<[u8]>,
    facts: FileFacts,
}

impl NamedFile<'_> {
    // A name is lacked where it is used and not bound. No tree shows what the template of a component uses, or a file
    // that is not here.
    fn lacks_name(&self, name: &str) -> bool {
        let is_lacked = uses(self.path, &self.bytes, name).map_or_else(
            || has_template(self.path) && words(&self.bytes, name).next().is_some(),
            |uses| !uses.bound && (uses.value || uses.typed),
        );
        self.bytes.is_empty() || (is_lacked && !binds_name(&self.facts, name))
    }
}

// Those that lack something, else the first.
fn files_with<'f>(
    files: &[NamedFile<'f>],
    lacks: impl Fn(&NamedFile<'f>) -> bool,
) -> Vec<&'f RepoPath> {
    let all = files.iter().filter(|file| lacks(file));
    let mut found: Vec<&RepoPath> = all.map(|file| file.path).collect();
    if found.is_empty() {
        found.extend(files.first().map(|file| file.path));
    }
    found
}

fn add_text(list: &mut Vec<String>, text: &str) {
    if !list.iter().any(|present| present == text) {
        list.push(text.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::{Wanted, wanted};
    use crate::model::RepoPath;
    use crate::source::Memory;

    #[test]
    fn wants_name_only_where_used() {
        let files = [
            (
                "tests/test_cli.py",
                "from shop.cli import main\n\n\ndef test_a():\n    assert main()\n",
            ),
            ("shop/cli.py", "def main():\n    return lines_of(1)\n"),
            ("shop/report.py", "def lines_of(n):\n    return n\n"),
            ("tests/test_text.py", "# `lines_of` counts.\nassert 1\n"),
        ];
        let lacks = Wanted {
            names: vec!["lines_of".to_owned()],
            ..Wanted::default()
        };
        let found = |named: &[&str]| -> Vec<String> {
            let source = Memory::named(files);
            let named: Vec<_> = named.iter().map(|path| RepoPath::new(path).unwrap()).collect();
            let found = wanted(&source, &named, &lacks);
            found.keys().map(ToString::to_string).collect()
        };
        assert!(found(&["tests/test_cli.py"]).is_empty());
        assert!(found(&["tests/test_text.py"]).is_empty());
        assert_eq!(
            found(&["tests/test_cli.py", "shop/cli.py"]),
            ["shop/cli.py"]
        );
    }
}
