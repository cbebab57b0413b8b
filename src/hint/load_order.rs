use std::collections::{BTreeMap, BTreeSet};

use crate::graph::Graph;
use crate::languages::{Language, Loading, loading};
use crate::model::{DefinitionKind, FileFacts, Import, ImportKind, RepoPath};

/// Files that are followed from the one that is imported.
const MAX_FILES: usize = 3_000;
/// Files of a circle that are loaded in every order.
const MAX_CIRCLE: usize = 200;

/// Whether the files that an import ties into a circle still load, whichever of them comes first:
/// no name is taken out of a file that has not come to it, unless that was so without the import.
/// `after` is the text of `file` with the import in it.
pub(super) fn still_loads(
    graph: &Graph<'_>,
    file: &RepoPath,
    after: (&[u8], &FileFacts),
    target: &RepoPath,
) -> bool {
    let Some(circle) = circle(graph, file, target) else {
        return false;
    };
    if circle.is_empty() {
        return true;
    }
    if circle.len() > MAX_CIRCLE {
        return false;
    }
    let mut before: BTreeMap<RepoPath, Module> = BTreeMap::new();
    for path in &circle {
        let Ok(bytes) = graph.source().read(path) else {
            return false;
        };
        let facts = graph.resolver().facts(path);
        let Some(module) = Module::of(graph, path, &bytes, &facts, &circle) else {
            return false;
        };
        before.insert(path.clone(), module);
    }
    let Some(new) = Module::of(graph, file, after.0, after.1, &circle) else {
        return false;
    };
    let mut changed = before.clone();
    changed.insert(file.clone(), new);
    if changed.values().any(|it| it.loading.waits) {
        return false;
    }
    circle.iter().all(|first| {
        let known = missed(graph, &before, first);
        missed(graph, &changed, first).is_subset(&known)
    })
}

// The files that are loaded with `target` and load `file` in turn, both included; empty when there
// is no way back. `None` when there are too many to tell.
fn circle(graph: &Graph<'_>, file: &RepoPath, target: &RepoPath) -> Option<BTreeSet<RepoPath>> {
    let mut back: BTreeMap<RepoPath, Vec<RepoPath>> = BTreeMap::new();
    let mut open: Vec<RepoPath> = with_packages(graph, target);
    open.retain(|path| path != file);
    let mut seen: BTreeSet<RepoPath> = open.iter().cloned().collect();
    while let Some(path) = open.pop() {
        if seen.len() > MAX_FILES {
            return None;
        }
        let facts = graph.resolver().facts(&path);
        let imports = facts.imports.iter().filter(|import| is_loaded(import));
        let next = imports.flat_map(|import| targets(graph, &path, import));
        for to in next.filter(|to| *to != path) {
            back.entry(to.clone()).or_default().push(path.clone());
            if seen.insert(to.clone()) && to != *file {
                open.push(to);
            }
        }
    }
    let mut found = BTreeSet::new();
    let mut open = vec![file.clone()];
    while let Some(path) = open.pop() {
        for from in back.get(&path).into_iter().flatten() {
            if found.insert(from.clone()) {
                open.push(from.clone());
            }
        }
    }
    if !found.is_empty() {
        found.insert(file.clone());
    }
    Some(found)
}

fn is_loaded(import: &Import) -> bool {
    let kinds = [
        ImportKind::Import,
        ImportKind::From,
        ImportKind::ExportFrom,
        ImportKind::Require,
        ImportKind::ImportEquals,
    ];
    !import.type_only && kinds.contains(&import.kind)
}

// What an import loads, in that order: packages before what is in them.
fn targets(graph: &Graph<'_>, from: &RepoPath, import: &Import) -> Vec<RepoPath> {
    let found = graph.resolver().resolve(from, import).files;
    let files = found.iter().rev();
    let mut all: Vec<RepoPath> = Vec::new();
    for path in files.flat_map(|path| with_packages(graph, path)) {
        if path.extension() != Some("pyi") && !path.as_str().contains(".d.") && !all.contains(&path)
        {
            all.push(path);
        }
    }
    all
}

// A file with the packages that are loaded before it.
fn with_packages(graph: &Graph<'_>, path: &RepoPath) -> Vec<RepoPath> {
    let python = Language::of_path(path.as_str()).is_some_and(|it| !it.declares_exports);
    let mut all = vec![path.clone()];
    if python {
        let packages = path.ancestors().filter(|directory| !directory.is_empty());
        let opened = packages.map_while(|directory| {
            let init = RepoPath::new(&format!("{directory}/__init__.py")).ok()?;
            graph.resolver().is_file(&init).then_some(init)
        });
        all.extend(opened.filter(|init| init != path));
    }
    all.reverse();
    all
}

// A file of the circle.
#[derive(Clone)]
struct Module {
    loading: Loading,
    // What of it is loaded only as it is come to, as `require` and Python do; the rest comes first.
    in_order: bool,
    steps: Vec<Step>,
    // The lines at which names are bound; `*` for names that are not known.
    binds: BTreeMap<String, u32>,
    functions: BTreeSet<String>,
}

#[derive(Clone)]
struct Step {
    line: u32,
    targets: Vec<RepoPath>,
    // Where the names are taken from.
    module: RepoPath,
    // What is taken, and the name that it gets. `*` for the module.
    names: Vec<(String, String)>,
    // What is taken is copied when the line is come to.
    copies: bool,
}

impl Module {
    fn of(
        graph: &Graph<'_>,
        path: &RepoPath,
        bytes: &[u8],
        facts: &FileFacts,
        circle: &BTreeSet<RepoPath>,
    ) -> Option<Self> {
        let loading = loading(path, bytes)?;
        let python = Language::of_path(path.as_str()).is_some_and(|it| !it.declares_exports);
        let runs = |import: &&Import| is_loaded(import) && loading.runs(import.line);
        let mut binds: BTreeMap<String, u32> = BTreeMap::new();
        let mut bind = |name: &str, line: u32| {
            let first = binds.entry(name.to_owned()).or_insert(line);
            *first = line.min(*first);
        };
        for one in &facts.definitions {
            bind(&one.name, one.line);
        }
        let mut steps = Vec::new();
        for import in facts.imports.iter().filter(runs) {
            let mut names: Vec<(String, String)> = Vec::new();
            for one in &import.names {
                let local = one.alias.as_ref().unwrap_or(&one.name);
                bind(local, import.line);
                names.push((one.name.clone(), local.clone()));
            }
            if names.is_empty() && python {
                let local = import.specifier.split('.').next().unwrap_or_default();
                names.push(("*".to_owned(), local.to_owned()));
            }
            let mut targets = targets(graph, path, import);
            // A submodule is no module that names are taken from.
            let named = |path: &&RepoPath| names.iter().any(|(name, _)| name == path.stem());
            let mut all = targets.iter().rev();
            let Some(module) = all.clone().find(|it| !named(it)).or(all.next()).cloned() else {
                continue;
            };
            targets.retain(|to| circle.contains(to));
            if !targets.is_empty() && (python || !is_elided(graph, import, &targets)) {
                steps.push(Step {
                    line: import.line,
                    copies: matches!(import.kind, ImportKind::From | ImportKind::Require),
                    targets,
                    module,
                    names,
                });
            }
        }
        let functions = facts
            .definitions
            .iter()
            .filter(|one| one.kind == DefinitionKind::Function)
            .map(|one| one.name.clone())
            .collect();
        let in_order = python || facts.imports.iter().all(|it| it.kind != ImportKind::Import);
        Some(Self {
            loading,
            in_order,
            steps,
            binds,
            functions,
        })
    }
}

// Whether nothing of an import is left at run time: it takes types.
fn is_elided(graph: &Graph<'_>, import: &Import, targets: &[RepoPath]) -> bool {
    let Some(target) = targets.last() else {
        return false;
    };
    let erased = |name: &str| {
        graph.defining(target, name).is_some_and(|path| {
            let facts = graph.resolver().facts(&path);
            let mut all = facts.definitions.iter().filter(|one| one.name == name);
            all.clone().next().is_some() && all.all(|one| one.kind.is_erased())
        })
    };
    !import.names.is_empty() && import.names.iter().all(|one| erased(&one.name))
}

type Missed = BTreeSet<(RepoPath, RepoPath, String)>;

// Which file takes what from which file too early, when `first` is loaded first.
fn missed(graph: &Graph<'_>, modules: &BTreeMap<RepoPath, Module>, first: &RepoPath) -> Missed {
    let mut loads = Loads {
        graph,
        modules,
        come_to: BTreeMap::new(),
        missed: Missed::new(),
    };
    for path in with_packages(graph, first) {
        loads.load(&path);
    }
    loads.missed
}

struct Loads<'a> {
    graph: &'a Graph<'a>,
    modules: &'a BTreeMap<RepoPath, Module>,
    // The line that a file has come to; none after its last.
    come_to: BTreeMap<RepoPath, Option<u32>>,
    missed: Missed,
}

impl<'a> Loads<'a> {
    // Depth is bounded by the files of the circle: each is entered once.
    fn load(&mut self, path: &RepoPath) {
        let modules: &'a BTreeMap<RepoPath, Module> = self.modules;
        let Some(module) = modules.get(path) else {
            return;
        };
        if self.come_to.contains_key(path) {
            return;
        }
        self.come_to.insert(path.clone(), Some(0));
        for step in &module.steps {
            let line = if module.in_order { step.line } else { 0 };
            self.come_to.insert(path.clone(), Some(line));
            for target in &step.targets {
                self.load(target);
            }
            if module.in_order {
                self.take(path, module, step);
            }
        }
        if !module.in_order {
            for step in &module.steps {
                self.take(path, module, step);
            }
        }
        self.come_to.insert(path.clone(), None);
    }

    fn take(&mut self, path: &RepoPath, module: &Module, step: &Step) {
        let target = &step.module;
        for (name, local) in &step.names {
            let whole = name == "*" || name == "default" && step.copies;
            let used = module.loading.names.contains(local);
            let needed = used || step.copies && !whole;
            if needed && !self.is_there(target, step, name, whole) {
                let row = (path.clone(), target.clone(), local.clone());
                self.missed.insert(row);
            }
        }
    }

    fn is_there(&self, target: &RepoPath, step: &Step, name: &str, whole: bool) -> bool {
        // A module of the package is found when the package lacks the name.
        let stem = |path: &RepoPath| path.stem() == name;
        if step.targets.iter().any(stem) {
            return true;
        }
        let defining = self.graph.defining(target, name).filter(|_| !step.copies);
        let behind = defining.filter(|it| self.modules.contains_key(it));
        let behind = behind.as_ref().unwrap_or(target);
        let Some(Some(line)) = self.come_to.get(behind) else {
            return true;
        };
        let Some(module) = self.modules.get(behind).filter(|_| !whole) else {
            return false;
        };
        if !module.in_order {
            // Functions are there before the first line is run.
            return module.functions.contains(name);
        }
        let bound = |name: &str| module.binds.get(name).is_some_and(|at| at < line);
        step.copies && (bound(name) || bound("*") || bound("__getattr__"))
    }
}
