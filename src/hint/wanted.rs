use std::collections::BTreeMap;

use super::fix::binds;
use super::modules::leads_to;
use crate::languages::{Language, PYTHON, Uses, facts, free_names, uses, words};
use crate::model::{Diagnosis, FileFacts, MentionedFile, RepoPath};
use crate::source::Source;

/// What one file lacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Names that are undefined in it.
    pub names: Vec<String>,
    /// Modules that it imports and that are not there.
    pub modules: Vec<String>,
    /// Names that it imports from modules which do not export them.
    pub exports: Vec<String>,
}

/// The files in which names are missing, as a diagnosis has them. Where none of them is of this
/// repository, those of Python by the paths that the log has: its modules have one name, whichever
/// file asks.
#[must_use]
pub fn lacking(diagnosis: &Diagnosis) -> Vec<RepoPath> {
    let mentioned = diagnosis.files.iter();
    let files: Vec<RepoPath> = mentioned
        .clone()
        .filter_map(MentionedFile::repo_path)
        .collect();
    if !files.is_empty() {
        return files;
    }
    let elsewhere = mentioned.filter_map(|it| RepoPath::new(&it.path).ok());
    elsewhere
        .filter(|it| Language::of_path(it.as_str()) == Some(&PYTHON))
        .collect()
}

/// What each of them lacks.
#[must_use]
pub fn lacked(source: &dyn Source, diagnosis: &Diagnosis) -> BTreeMap<RepoPath, Wanted> {
    let mut files = lacking(diagnosis);
    files.retain(|it| Language::of_path(it.as_str()).is_some());
    wanted(source, &files, &Wanted::of(diagnosis))
}

impl Wanted {
    /// What a diagnosis says is missing.
    #[must_use]
    pub fn of(diagnosis: &Diagnosis) -> Self {
        Self {
            names: diagnosis.undefined_names.clone(),
            modules: diagnosis.missing_modules.clone(),
            exports: diagnosis.missing_exports.clone(),
        }
    }

    /// Takes in what else is lacking, each once.
    pub fn add(&mut self, more: Self) {
        let pairs = [
            (&mut self.names, more.names),
            (&mut self.modules, more.modules),
            (&mut self.exports, more.exports),
        ];
        for (list, more) in pairs {
            for word in more {
                add(list, &word);
            }
        }
    }
}

/// Tells which of the files that a log names lacks what: an export the files that import it, a
/// module those that name it, a name the first that uses it and does not define it. What fits
/// nowhere goes to the first file that holds the word, else to the first.
#[must_use]
pub fn wanted(
    source: &dyn Source,
    files: &[RepoPath],
    lacks: &Wanted,
) -> BTreeMap<RepoPath, Wanted> {
    let read = files.iter().map(|path| {
        let bytes = source.read(path).unwrap_or_default();
        (path.clone(), bytes.to_vec(), facts(path, &bytes))
    });
    let read = Named(read.collect());
    let mut wanted: BTreeMap<RepoPath, Wanted> = BTreeMap::new();
    for name in &lacks.names {
        if let Some(file) = read.asks(name) {
            add(&mut wanted.entry(file.clone()).or_default().names, name);
        }
    }
    for module in &lacks.modules {
        let names = |(path, _, facts): &Read| {
            let mut imports = facts.imports.iter();
            imports.any(|import| leads_to(path, import, module))
        };
        for file in read.those(module, &names) {
            add(&mut wanted.entry(file).or_default().modules, module);
        }
    }
    for export in &lacks.exports {
        let takes = |(_, _, facts): &Read| {
            let mut names = facts.imports.iter().flat_map(|import| &import.names);
            names.any(|one| one.name == *export || one.alias.as_ref() == Some(export))
        };
        for file in read.those(export, &takes) {
            add(&mut wanted.entry(file).or_default().exports, export);
        }
    }
    wanted
}

type Read = (RepoPath, Vec<u8>, FileFacts);

// The files that a log names.
struct Named(Vec<Read>);

impl Named {
    // Those that lack something, else the first that holds its last word, else the first.
    fn those(&self, text: &str, lack: &dyn Fn(&Read) -> bool) -> Vec<RepoPath> {
        let found = self.0.iter().filter(|it| lack(it));
        let found: Vec<RepoPath> = found.map(|it| it.0.clone()).collect();
        if found.is_empty() {
            return self.holds(text).into_iter().cloned().collect();
        }
        found
    }

    fn holds(&self, text: &str) -> Option<&RepoPath> {
        let word = text.rsplit(['.', '/']).next().unwrap_or(text).as_bytes();
        let holds = |it: &&Read| memchr::memmem::find(&it.1, word).is_some();
        let found = self.0.iter().find(holds).or(self.0.first());
        found.map(|it| &it.0)
    }

    // A file that is not here is asked for what it may say.
    fn is_named(&self, name: &str) -> bool {
        self.0.iter().any(|it| has_word(&it.1, name)) || self.0.iter().all(|it| it.1.is_empty())
    }

    // The file that lacks a name: one with the word for something else does not want it.
    fn asks(&self, name: &str) -> Option<&RepoPath> {
        let asking = |is_member: bool| {
            self.0.iter().find(move |(path, bytes, facts)| {
                let asks = match uses(path, bytes, name) {
                    Some(uses) => uses.member == is_member && is_lacked(&uses),
                    // What the template of a component alone names.
                    None => {
                        matches!(path.extension(), Some("vue" | "svelte")) && has_word(bytes, name)
                    }
                };
                asks && !binds(facts, name)
            })
        };
        let found = asking(false).or_else(|| asking(true)).map(|it| &it.0);
        found.or_else(|| {
            let file = self.holds(name).filter(|_| self.is_named(name))?;
            let mut all = self.0.iter().filter(|it| it.0 == *file);
            let lacks = |it: &Read| uses(&it.0, &it.1, name).is_none_or(|it| is_lacked(&it));
            all.any(lacks).then_some(file)
        })
    }
}

fn is_lacked(uses: &Uses) -> bool {
    !uses.bound && (uses.value || uses.typed)
}

fn has_word(bytes: &[u8], name: &str) -> bool {
    words(bytes, name).next().is_some()
}

/// The names that a Python file uses, that nothing in it binds and that no builtin bears: one that
/// is missing hides the next. Empty for other languages.
#[must_use]
pub fn undefined(file: &RepoPath, bytes: &[u8]) -> Vec<String> {
    let mut names = free_names(file, bytes);
    names.retain(|name| !name.starts_with("__") && !PYTHON.is_global(name));
    names
}

fn add(list: &mut Vec<String>, text: &str) {
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
    fn a_name_is_wanted_only_where_it_is_used() {
        let files = [
            (
                "tests/test_cli.py",
                "from shop.cli import main\n\n\ndef test_a():\n    assert main()\n",
            ),
            ("shop/cli.py", "def main():\n    return lines_of(1)\n"),
            ("shop/report.py", "def lines_of(n):\n    return n\n"),
        ];
        let lacks = Wanted {
            names: vec!["lines_of".to_owned()],
            ..Wanted::default()
        };
        let found = |named: &[&str]| -> Vec<String> {
            let source = Memory::named(files);
            let named: Vec<_> = named.iter().map(|it| RepoPath::new(it).unwrap()).collect();
            let found = wanted(&source, &named, &lacks);
            found.keys().map(ToString::to_string).collect()
        };
        assert!(found(&["tests/test_cli.py"]).is_empty());
        assert_eq!(
            found(&["tests/test_cli.py", "shop/cli.py"]),
            ["shop/cli.py"]
        );
    }
}
