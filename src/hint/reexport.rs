use std::collections::BTreeMap;

use super::fix::{Fix, judged};
use super::idiom::own_idiom;
use super::renamed::{alone, exports_it, takers};
use super::undo::{Change, bound};
use super::{Ask, Wanted};
use crate::graph::Graph;
use crate::languages::{Language, Page, extended, facts, inserted, syntax_errors, words};
use crate::model::{FileFacts, Import, ImportKind, RepoPath, Suggestion};
use crate::policy::is_test;
use crate::source::Overlay;

/// A module that does not pass a name on for which it is asked.
pub struct PassedOn {
    /// The module.
    pub file: RepoPath,
    /// The lines that pass its names on.
    pub fix: Fix,
    /// What says that it should.
    pub evidence: Evidence,
}

/// What says that a module should pass a name on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Its own list of exports has the name, and one of the modules that it takes names from defines it.
    Listed,
    /// The committed version did: the change that took it away is not finished.
    Committed,
    /// An earlier version did.
    Earlier,
    /// It passes on other names of the only file behind it that has this one.
    Beside,
}

impl PassedOn {
    /// What is to be done, in a sentence.
    #[must_use]
    pub fn what(&self) -> String {
        let why = match self.evidence {
            Evidence::Listed => "as its list of exports says",
            Evidence::Committed | Evidence::Earlier => "as its last version did",
            Evidence::Beside => "as it does with what stands beside it",
        };
        let (names, file) = (self.fix.names.join(", "), &self.file);
        format!("pass {names} on in {file} {why}")
    }

    /// Whether nothing else can be meant.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        matches!(self.evidence, Evidence::Listed | Evidence::Committed)
    }
}

struct Draft {
    text: String,
    names: Vec<String>,
    evidence: Evidence,
}

/// The modules of the product behind missing exports that have to pass them on, with the lines that do.
#[must_use]
pub(super) fn passed_on(
    graph: &Graph<'_>,
    wanted: &BTreeMap<RepoPath, Wanted>,
    ask: &Ask<'_>,
) -> Vec<PassedOn> {
    let mut drafts: BTreeMap<RepoPath, Draft> = BTreeMap::new();
    for (file, module, taken) in asked_for(graph, wanted) {
        // The module with a list of what a star takes of it may have lost the name from its list.
        let listed = exports_it(graph, &module, &taken);
        let home = listed.then(|| graph.defining(&module, &taken)).flatten();
        let module = if listed {
            home.filter(|it| *it != module)
        } else {
            Some(module)
        };
        let Some(module) = module else { continue };
        let draft = drafts.get(&module);
        if !(ask.may_read)(&module)
            || is_test(module.as_str()) && !is_test(file.as_str())
            || draft.is_some_and(|it| it.names.contains(&taken))
        {
            continue;
        }
        let lost = Lost {
            graph,
            module: &module,
            name: &taken,
            listed,
        };
        if let Some(more) = lost.found(ask, draft) {
            drafts.insert(module, more);
        }
    }
    let fixed = drafts.into_iter().filter_map(|(file, draft)| {
        let before = graph.source().read(&file).ok()?;
        let before = std::str::from_utf8(&before).ok()?;
        let (patch, changes) = judged(graph.source(), &file, before, &draft.text)?;
        let fix = Fix {
            patch,
            changes,
            names: draft.names,
            restores: draft.evidence == Evidence::Committed,
            respecifies: false,
        };
        Some(PassedOn {
            file,
            fix,
            evidence: draft.evidence,
        })
    });
    fixed.collect()
}

// Who asks which module of the repository for which name: what the logs say, and what else the same file takes
// from there that the module does not give either, since one missing name hides the next.
fn asked_for<'w>(
    graph: &Graph<'_>,
    wanted: &'w BTreeMap<RepoPath, Wanted>,
) -> Vec<(&'w RepoPath, RepoPath, String)> {
    let resolver = graph.resolver();
    let mut found = Vec::new();
    for (file, wanted) in wanted {
        let own = wanted.members.iter();
        found.extend(own.map(|name| (file, file.clone(), name.clone())));
        for name in &wanted.exports {
            let facts = resolver.facts(file);
            let mut takers = takers(&facts, name).filter_map(|(import, taken)| {
                let module = resolver.target(file, &alone(import, taken))?;
                Some((module, taken.name.clone()))
            });
            let Some((module, taken)) = takers.next() else {
                continue;
            };
            let beside = facts.imports.iter().flat_map(|import| {
                let names = import.names.iter().filter(|it| it.name != "*");
                names.map(move |it| (import, it))
            });
            let hidden = beside.filter(|(import, one)| {
                let files = resolver.resolve(file, &alone(import, one)).files;
                files == [module.clone()] && !exports_it(graph, &module, &one.name)
            });
            let hidden: Vec<String> = hidden.map(|it| it.1.name.clone()).collect();
            for name in std::iter::once(taken).chain(hidden) {
                found.push((file, module.clone(), name));
            }
        }
    }
    found
}

// A name that a module does not give.
struct Lost<'a> {
    graph: &'a Graph<'a>,
    module: &'a RepoPath,
    name: &'a str,
    // Whether only its list lacks the name.
    listed: bool,
}

impl Lost<'_> {
    // The text that gives the name again, on top of what is known of the module.
    fn found(&self, ask: &Ask<'_>, draft: Option<&Draft>) -> Option<Draft> {
        let on_disk = self.graph.source().read(self.module).ok()?;
        let on_disk = std::str::from_utf8(&on_disk).ok()?;
        let now = draft.map_or(on_disk, |it| it.text.as_str());
        if self.listed && (!now.contains("__all__") || in_all(now, self.name)) {
            return None;
        }
        let versions = (ask.earlier)(self.module);
        let is_other = |it: &&Vec<u8>| it.as_slice() != on_disk.as_bytes();
        let last = versions.iter().find(is_other);
        let of_past = || {
            let text = if self.is_given(now) {
                now.to_owned()
            } else {
                Change::since(now, last?)?.undone(&|it| self.is_given(it) && self.keeps(now, it))?
            };
            let evidence = if versions.first() == last {
                Evidence::Committed
            } else {
                Evidence::Earlier
            };
            Some((text, evidence))
        };
        let own = facts(self.module, now.as_bytes());
        let beside = || {
            let evidence = if in_all(now, self.name) {
                Evidence::Listed
            } else {
                Evidence::Beside
            };
            let text = self.with_its_neighbours(now, &own);
            let text = text.or_else(|| self.with_a_statement(now, &own));
            Some((text.filter(|_| !self.listed)?, evidence))
        };
        let promised = || beside().filter(|it| it.1 == Evidence::Listed);
        let (text, evidence) = promised().or_else(of_past).or_else(beside)?;
        let mut names = draft.map_or_else(Vec::new, |it| it.names.clone());
        names.push(self.name.to_owned());
        Some(Draft {
            text,
            names,
            evidence: draft.map_or(evidence, |it| it.evidence.max(evidence)),
        })
    }

    fn is_given(&self, text: &str) -> bool {
        if self.listed {
            return in_all(text, self.name);
        }
        let edit = (self.module.clone(), Some(text.as_bytes().into()));
        let overlay = Overlay::new(self.graph.source(), [edit]);
        let graph = Graph::new(&overlay);
        graph.defining(self.module, self.name).is_some()
            && exports_it(&graph, self.module, self.name)
    }

    // Whether nothing but imports and lists of exports differs, and what the text offers now stays.
    fn keeps(&self, now: &str, text: &str) -> bool {
        let [then, own] = [text, now].map(|it| facts(self.module, it.as_bytes()));
        let defined = |facts: &FileFacts| -> Vec<String> {
            facts.definitions.iter().map(|it| it.name.clone()).collect()
        };
        let all = |facts: &FileFacts| {
            let mut all = bound(facts);
            all.extend(facts.exports.iter().map(|it| it.name.clone()));
            all
        };
        let quoted = |text: &str| -> Vec<String> {
            let lists = listed(text).flat_map(|it| it.split(['"', '\'']).skip(1).step_by(2));
            lists.map(str::to_owned).collect()
        };
        let lists = quoted(text);
        let errors = |text: &str| syntax_errors(self.module, text.as_bytes()).len();
        defined(&own) == defined(&then)
            && all(&own).is_subset(&all(&then))
            && (!self.listed || own.imports.len() == then.imports.len())
            && quoted(now).iter().all(|it| lists.contains(it))
            && errors(text) <= errors(now)
    }

    // The text that takes the name from the only one of the files it passes names on from that has it.
    fn with_its_neighbours(&self, now: &str, own: &FileFacts) -> Option<String> {
        let declares = Language::of_path(self.module.as_str())?.declares_exports;
        let passes = |import: &&Import| match import.kind {
            ImportKind::ExportFrom => declares,
            ImportKind::From => !declares && !import.nested && self.module.stem() == "__init__",
            _ => false,
        };
        let resolver = self.graph.resolver();
        let mut found: Vec<(&Import, RepoPath)> = Vec::new();
        for import in own.imports.iter().filter(passes) {
            for path in resolver.resolve(self.module, import).files {
                let facts = resolver.facts(&path);
                let mut defined = facts.definitions.iter().map(|it| &it.name);
                let mut exported = facts.exports.iter().filter(|it| it.from.is_none());
                let has = exported.any(|it| it.name == self.name)
                    || !declares && defined.any(|it| it == self.name);
                if has && path.stem() != "__init__" && found.iter().all(|it| it.1 != path) {
                    found.push((import, path));
                }
            }
        }
        let [(import, _)] = found.as_slice() else {
            return None;
        };
        let text = extended(self.module, now, import, self.name)?;
        (self.is_given(&text) && self.keeps(now, &text)).then_some(text)
    }

    // The text that takes the name from the only file of its package that defines it, by a statement of its own.
    fn with_a_statement(&self, now: &str, own: &FileFacts) -> Option<String> {
        let (graph, module) = (self.graph, self.module);
        if !matches!(module.stem(), "__init__" | "index") {
            return None;
        }
        let (resolver, source) = (graph.resolver(), graph.source());
        let language = Language::of_path(module.as_str())?;
        let defines = |path: &RepoPath| {
            let text = source.read(path).unwrap_or_default();
            words(&text, self.name).next().is_some()
                && graph.defining(path, self.name).as_ref() == Some(path)
                && exports_it(graph, path, self.name)
        };
        let files = source.listing().files().map(|entry| &entry.path);
        let mut homes = files.filter(|path| {
            *path != module
                && path.is_below(module.directory())
                && Language::of_path(path.as_str()) == Some(language)
                && !is_test(path.as_str())
                && defines(path)
        });
        let (Some(home), None) = (homes.next(), homes.next()) else {
            return None;
        };
        let idiom = own_idiom(graph, module, language);
        let is_star = |import: &Import| {
            import
                .names
                .iter()
                .any(|one| one.name == "*" && one.alias.is_none())
        };
        let passes = |import: &&Import| match import.kind {
            ImportKind::ExportFrom => true,
            ImportKind::From => !language.declares_exports && !import.nested && is_star(import),
            _ => false,
        };
        // As the last statement does that passes on all of a module, or a name of one.
        let beside = own.imports.iter().filter(passes);
        let last = beside
            .clone()
            .filter(|it| is_star(it))
            .last()
            .or(beside.last());
        let text = if let Some(last) = last {
            let (specifier, _) = idiom.respelled(home, &last.specifier);
            passed_below(now, last, &specifier, (!is_star(last)).then_some(self.name))?
        } else {
            let (specifier, _) = idiom.respelled(home, ".");
            let one = Suggestion {
                name: self.name.to_owned(),
                imported: self.name.to_owned(),
                import_statement: idiom.statement(self.name, &specifier, self.name, false),
                module: specifier,
                path: Some(home.clone()),
                ..Suggestion::default()
            };
            let page = Page {
                text: now,
                facts: own,
                resolver,
                file: module,
            };
            (!language.declares_exports).then(|| inserted(&page, &one))??
        };
        (self.is_given(&text) && self.keeps(now, &text)).then_some(text)
    }
}

// The text with a statement below one of a line that does the same with another module: for a name, or for all.
fn passed_below(text: &str, last: &Import, specifier: &str, name: Option<&str>) -> Option<String> {
    let lines = text.split_inclusive('\n');
    let line = lines.clone().nth((last.line as usize).checked_sub(1)?)?;
    let (head, rest) = line.rsplit_once(last.specifier.as_str())?;
    let quote = rest.chars().next().unwrap_or_default();
    let head = name.map_or(head.to_owned(), |name| {
        format!("export {{ {name} }} from {quote}")
    });
    let end: usize = lines.take(last.line as usize).map(str::len).sum();
    let (before, after) = (text.get(..end)?, text.get(end..)?);
    let cut = if before.ends_with('\n') { "" } else { "\n" };
    Some(format!("{before}{cut}{head}{specifier}{rest}{after}"))
}

// Mentions of `__all__` that are looked at in a file.
const MAX_LISTS: usize = 100;

// What stands in the lists and tuples of `__all__`.
fn listed(text: &str) -> impl Iterator<Item = &str> {
    let named = text.match_indices("__all__").take(MAX_LISTS);
    named.filter_map(|(at, _)| {
        let rest = text.get(at..)?;
        let list = rest.get(rest.find(['[', '('])?..)?;
        list.split([']', ')']).next()
    })
}

fn in_all(text: &str, name: &str) -> bool {
    let quoted = [format!("\"{name}\""), format!("'{name}'")];
    listed(text).any(|list| quoted.iter().any(|it| list.contains(it)))
}
