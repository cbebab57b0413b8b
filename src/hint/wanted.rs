use std::collections::BTreeMap;

use super::fix::binds;
use super::missing::leads_to;
use crate::languages::{Language, PYTHON, Uses, facts, free_names, uses, words};
use crate::model::{Diagnosis, FileFacts, MentionedFile, RepoPath};
use crate::policy::is_test;
use crate::source::Source;

/// Files looked through for the one that uses a name.
const MOST_READ: usize = 2_000;

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
    let read: Vec<(&RepoPath, Vec<u8>, FileFacts)> = files
        .iter()
        .map(|path| {
            let bytes = source.read(path).unwrap_or_default();
            (path, bytes.to_vec(), facts(path, &bytes))
        })
        .collect();
    let holds = |text: &str| {
        let word = text.rsplit(['.', '/']).next().unwrap_or(text);
        let found = read
            .iter()
            .find(|(_, bytes, _)| memchr::memmem::find(bytes, word.as_bytes()).is_some());
        found.or(read.first()).map(|(path, ..)| *path)
    };
    let mut wanted: BTreeMap<RepoPath, Wanted> = BTreeMap::new();
    let mut others = None;
    for name in &lacks.names {
        let lacks = |it: Uses| !it.bound && (it.value || it.typed);
        let asking = |is_member: bool| {
            read.iter().find(move |(path, bytes, facts)| {
                let asks = match uses(path, bytes, name) {
                    Some(it) => it.member == is_member && lacks(it),
                    // What the template of a component alone names.
                    None => {
                        matches!(path.extension(), Some("vue" | "svelte" | "astro"))
                            && words(bytes, name).next().is_some()
                    }
                };
                asks && !binds(facts, name)
            })
        };
        let asks = asking(false).or_else(|| asking(true));
        // A file that has the word for something else does not want the name.
        let may_ask = |path: &&RepoPath| {
            let mut all = read.iter().filter(|it| it.0 == *path);
            all.any(|(path, bytes, _)| uses(path, bytes, name).is_none_or(lacks))
        };
        let asks = asks.map(|(path, ..)| *path);
        let is_said = |bytes: &[u8]| words(bytes, name).next().is_some();
        // A file that is not here is asked for what it may say.
        let is_named = read.iter().any(|(_, bytes, _)| is_said(bytes))
            || read.iter().all(|(_, bytes, _)| bytes.is_empty());
        let asks = asks.or_else(|| holds(name).filter(|_| is_named).filter(may_ask));
        let asks = asks.cloned().or_else(|| {
            // A program that swallows the error leaves no trace of its file.
            let others = others.get_or_insert_with(|| code(source)).iter();
            let lacks = |it: &&(RepoPath, Vec<u8>)| {
                is_said(&it.1) && uses(&it.0, &it.1, name).is_some_and(|it| !it.member && lacks(it))
            };
            let mut found = others.filter(|_| !is_named).filter(lacks);
            found
                .next()
                .filter(|_| found.next().is_none())
                .map(|it| it.0.clone())
        });
        if let Some(file) = asks {
            add(&mut wanted.entry(file).or_default().names, name);
        }
    }
    for module in &lacks.modules {
        let names = |(path, _, facts): &&(&RepoPath, Vec<u8>, FileFacts)| {
            facts
                .imports
                .iter()
                .any(|import| leads_to(path, import, module))
        };
        let mut found: Vec<&RepoPath> = read.iter().filter(names).map(|it| it.0).collect();
        if found.is_empty() {
            found.extend(holds(module));
        }
        for file in found {
            add(&mut wanted.entry(file.clone()).or_default().modules, module);
        }
    }
    for export in &lacks.exports {
        let takes = |(_, _, facts): &&(&RepoPath, Vec<u8>, FileFacts)| {
            let mut names = facts.imports.iter().flat_map(|import| &import.names);
            names.any(|one| one.name == *export || one.alias.as_ref() == Some(export))
        };
        let mut found: Vec<&RepoPath> = read.iter().filter(takes).map(|it| it.0).collect();
        if found.is_empty() {
            found.extend(holds(export));
        }
        for file in found {
            add(&mut wanted.entry(file.clone()).or_default().exports, export);
        }
    }
    wanted
}

// The code of the product, when there is not too much of it.
fn code(source: &dyn Source) -> Vec<(RepoPath, Vec<u8>)> {
    let files = source.listing().files().map(|it| &it.path);
    let files =
        files.filter(|it| Language::of_path(it.as_str()).is_some() && !is_test(it.as_str()));
    let files: Vec<&RepoPath> = files.take(MOST_READ + 1).collect();
    let few = files.len() <= MOST_READ;
    let read = files.into_iter().filter(|_| few);
    let read = read.filter_map(|it| Some((it.clone(), source.read(it).ok()?.to_vec())));
    read.collect()
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
    if !list.iter().any(|known| known == text) {
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
        let test = [RepoPath::new("tests/test_cli.py").unwrap()];
        let found = |more: &[(&str, &str)]| -> Vec<String> {
            let source = Memory::named(files.iter().chain(more).copied());
            wanted(&source, &test, &lacks)
                .keys()
                .map(ToString::to_string)
                .collect()
        };
        assert_eq!(found(&[]), ["shop/cli.py"]);
        // Of two that lack it nobody knows which one failed.
        assert!(found(&[("shop/web.py", "print(lines_of(2))\n")]).is_empty());
    }
}
