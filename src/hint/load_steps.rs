use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::graph::Graph;
use crate::languages::{Language, Loading, called, loading};
use crate::model::{DefinitionKind, FileFacts, Import, ImportKind, ImportedName, RepoPath};

/// Files that are looked through for modules that are loaded by name.
const MAX_NAMED: usize = 2_000;

/// The files that are asked about, each read when it is come to.
pub(super) struct Files<'g> {
    graph: &'g Graph<'g>,
    file: RepoPath,
    pub(super) asked: usize,
    ids: HashMap<RepoPath, usize>,
    paths: Vec<RepoPath>,
    modules: HashMap<usize, Arc<Module>>,
    loadings: HashMap<usize, Option<Arc<Loading>>>,
    definers: HashMap<(usize, String), usize>,
}

/// A file as it is loaded.
pub(super) struct Module {
    // What of it is loaded only as it is come to, as `require` and Python do; the rest comes first.
    pub(super) in_order: bool,
    pub(super) steps: Vec<Step>,
    facts: Arc<FileFacts>,
    python: bool,
}

impl Module {
    /// The names that are bound for others, and the lines at which they are; `*` for names that are
    /// not known.
    pub(super) fn binds(&self) -> impl Iterator<Item = (&str, u32)> {
        let definitions = self.facts.definitions.iter().filter(|_| self.python);
        let exports = self.facts.exports.iter().filter(|_| !self.python);
        let steps = self.steps.iter().filter(|it| self.python && !it.later);
        let taken = steps.flat_map(|it| it.names.iter().map(|one| (one.local.as_str(), it.line)));
        definitions
            .map(|it| (it.name.as_str(), it.line))
            .chain(exports.map(|it| (it.name.as_str(), it.line)))
            .chain(taken)
            .chain(self.foreign())
    }

    // What is taken from outside the repository.
    fn foreign(&self) -> impl Iterator<Item = (&str, u32)> {
        let imports = self.facts.imports.iter();
        let kept = |import: &&Import| !self.steps.iter().any(|step| step.line == import.line);
        imports
            .filter(|it| self.python && !it.type_only && !it.nested)
            .filter(kept)
            .flat_map(|import| {
                let top = import.specifier.split('.').next().unwrap_or_default();
                let whole = import.names.is_empty().then_some(top);
                let names = import.names.iter();
                let names = names.map(ImportedName::local);
                names.chain(whole).map(|name| (name, import.line))
            })
    }

    /// The first line at which a name is bound.
    pub(super) fn bound(&self, name: &str) -> Option<u32> {
        let lines = self.binds().filter(|(bound, _)| *bound == name);
        lines.map(|(_, line)| line).min()
    }

    /// Whether a name is that of a function, which is there before the first line is run.
    pub(super) fn is_function(&self, name: &str) -> bool {
        let mut functions = self.facts.definitions.iter();
        functions.any(|it| it.kind == DefinitionKind::Function && it.name == name)
    }
}

/// What one import loads, and the names that it takes.
pub(super) struct Step {
    pub(super) line: u32,
    pub(super) targets: Vec<usize>,
    // Where the names are taken from.
    pub(super) module: usize,
    pub(super) names: Vec<Taken>,
    // What is taken is copied when the line is come to.
    pub(super) copies: bool,
    // It is in a function that nothing calls while the file is loaded.
    pub(super) later: bool,
    // It is in a function, of which that is only likely.
    pub(super) inside: bool,
}

/// A name that is taken.
pub(super) struct Taken {
    // What is taken; `*` for the module.
    pub(super) name: String,
    // The name that it gets.
    pub(super) local: String,
    // The module of a package that is meant when the package lacks the name.
    pub(super) module: Option<usize>,
}

impl<'g> Files<'g> {
    pub(super) fn new(graph: &'g Graph<'g>, file: &RepoPath) -> Self {
        let mut files = Self {
            graph,
            file: file.clone(),
            asked: 0,
            ids: HashMap::new(),
            paths: Vec::new(),
            modules: HashMap::new(),
            loadings: HashMap::new(),
            definers: HashMap::new(),
        };
        files.asked = files.id(file);
        files
    }

    pub(super) fn id(&mut self, path: &RepoPath) -> usize {
        if let Some(id) = self.ids.get(path) {
            return *id;
        }
        self.paths.push(path.clone());
        self.ids.insert(path.clone(), self.paths.len() - 1);
        self.paths.len() - 1
    }

    fn path(&self, id: usize) -> RepoPath {
        self.paths.get(id).unwrap_or(&self.file).clone()
    }

    pub(super) fn is_python(&self, id: usize) -> bool {
        self.paths.get(id).is_some_and(is_python)
    }

    pub(super) fn text(&self, id: usize) -> Arc<[u8]> {
        let path = self.path(id);
        self.graph.source().read(&path).unwrap_or_default()
    }

    pub(super) fn loading(&mut self, id: usize) -> Option<Arc<Loading>> {
        if let Some(known) = self.loadings.get(&id) {
            return known.clone();
        }
        let found = loading(&self.path(id), &self.text(id)).map(Arc::new);
        self.loadings.insert(id, found.clone());
        found
    }

    pub(super) fn get(&mut self, id: usize) -> Arc<Module> {
        if let Some(known) = self.modules.get(&id) {
            return known.clone();
        }
        let facts = self.graph.resolver().facts(&self.path(id));
        let found = Arc::new(self.module(id, facts, None));
        self.modules.insert(id, found.clone());
        found
    }

    /// The files that are loaded with `target` and load the asked file in turn, both included; empty
    /// when there is no way back.
    pub(super) fn circle(&mut self, target: usize) -> Vec<usize> {
        let mut back: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut open = self.with_packages(target);
        open.retain(|id| *id != self.asked);
        let mut seen: BTreeSet<usize> = open.iter().copied().collect();
        while let Some(id) = open.pop() {
            let module = self.get(id);
            let steps = module.steps.iter().filter(|step| !step.later);
            for to in steps.flat_map(|step| &step.targets) {
                back.entry(*to).or_default().push(id);
                if seen.insert(*to) && *to != self.asked {
                    open.push(*to);
                }
            }
        }
        let mut found = BTreeSet::new();
        let mut open = vec![self.asked];
        while let Some(id) = open.pop() {
            let from = back.get(&id).into_iter().flatten();
            open.extend(from.filter(|it| found.insert(**it)));
        }
        if !found.is_empty() {
            found.insert(self.asked);
        }
        found.into_iter().collect()
    }

    /// Whether a file of Python looks for others by name while it is loaded, or may.
    pub(super) fn looks_by_name(&self, id: usize) -> bool {
        let text = self.text(id);
        let looks = [&b"sys.modules"[..], b"__import__(", b"import_module("];
        let mut looks = looks.iter();
        self.is_python(id) && looks.any(|it| memchr::memmem::find(&text, it).is_some())
    }

    /// Whether what is loaded with `target` looks for modules by name, and one that it names loads the
    /// asked file: the import would tie a circle that no import shows.
    pub(super) fn is_named_by(&mut self, target: usize) -> bool {
        let first = self.with_packages(target);
        let loaded = self.loaded_with(first, BTreeSet::new());
        if loaded.contains(&self.asked) || !loaded.iter().any(|id| self.looks_by_name(*id)) {
            return false;
        }
        // What the file loads without the import, too, is loaded when it was.
        let own = self.with_packages(self.asked);
        if self.loaded_with(own, BTreeSet::new()).contains(&target) {
            return false;
        }
        let mut named = BTreeSet::new();
        for id in &loaded {
            let (path, text) = (self.path(*id), self.text(*id));
            for module in dotted(&String::from_utf8_lossy(&text)) {
                let import = Import::of(module);
                for path in self.graph.resolver().resolve(&path, &import).files {
                    named.insert(self.id(&path));
                }
            }
        }
        named.retain(|id| !loaded.contains(id));
        let open = named
            .iter()
            .flat_map(|id| self.with_packages(*id))
            .collect();
        self.loaded_with(open, loaded).contains(&self.asked)
    }

    // What is loaded with some files, beyond what is known to be.
    fn loaded_with(&mut self, mut open: Vec<usize>, known: BTreeSet<usize>) -> BTreeSet<usize> {
        let mut seen = known;
        open.retain(|id| seen.insert(*id));
        while let Some(id) = open.pop() {
            if seen.len() > MAX_NAMED {
                break;
            }
            let module = self.get(id);
            let steps = module.steps.iter().filter(|step| !step.later);
            open.extend(
                steps
                    .flat_map(|step| &step.targets)
                    .filter(|to| seen.insert(**to)),
            );
        }
        seen
    }

    /// A file behind the packages that are loaded before it.
    pub(super) fn with_packages(&mut self, id: usize) -> Vec<usize> {
        let path = self.path(id);
        let mut all = vec![id];
        if is_python(&path) {
            let packages = path.ancestors().filter(|directory| !directory.is_empty());
            for directory in packages {
                let init = RepoPath::new(&format!("{directory}/__init__.py")).ok();
                let Some(init) = init.filter(|it| self.graph.resolver().is_file(it)) else {
                    break;
                };
                if init != path {
                    all.push(self.id(&init));
                }
            }
        }
        all.reverse();
        all
    }

    /// A file as it is kept, or with the text that it gets.
    pub(super) fn module(
        &mut self,
        id: usize,
        facts: Arc<FileFacts>,
        text: Option<&[u8]>,
    ) -> Module {
        let path = self.path(id);
        let python = is_python(&path);
        let nested = |it: &Import| it.nested && is_loaded(it);
        let called = if python && facts.imports.iter().any(nested) {
            match text {
                Some(text) => called(&facts, text),
                None => called(&facts, &self.text(id)),
            }
        } else {
            BTreeSet::new()
        };
        let mut steps = Vec::new();
        for import in facts.imports.iter().filter(|import| is_loaded(import)) {
            let holds = |line: u32, last: u32| (line..=last).contains(&import.line);
            let mut owners = facts.definitions.iter().filter(|it| {
                matches!(it.kind, DefinitionKind::Function | DefinitionKind::Class)
                    && holds(it.line, it.end_line)
            });
            let inside = import.nested && owners.clone().next().is_some();
            let later = import.nested
                && if python {
                    inside && !owners.any(|it| called.contains(&it.name))
                } else {
                    let found = match text {
                        Some(text) => loading(&path, text).map(Arc::new),
                        None => self.loading(id),
                    };
                    found.is_some_and(|it| !it.runs(import.line))
                };
            let mut names: Vec<Taken> = Vec::new();
            for one in &import.names {
                let local = one.local();
                names.push(Taken {
                    name: one.name.clone(),
                    local: local.to_owned(),
                    module: None,
                });
            }
            if names.is_empty() && python {
                let local = import.specifier.split('.').next().unwrap_or_default();
                names.push(Taken {
                    name: "*".to_owned(),
                    local: local.to_owned(),
                    module: None,
                });
            }
            let targets = self.targets(&path, import);
            for one in &mut names {
                let named = |id: &&usize| {
                    let path = self.paths.get(**id);
                    path.is_some_and(|path| module_name(path) == one.name)
                };
                one.module = targets.iter().rev().find(named).copied();
            }
            // A submodule is no module that names are taken from.
            let named = |id: &&usize| names.iter().any(|it| it.module == Some(**id));
            let mut all = targets.iter().rev();
            let Some(module) = all.clone().find(|it| !named(it)).or(all.next()).copied() else {
                continue;
            };
            if python || !self.is_elided(import, module) {
                steps.push(Step {
                    line: import.line,
                    copies: matches!(import.kind, ImportKind::From | ImportKind::Require),
                    targets,
                    module,
                    names,
                    later,
                    inside: inside || later,
                });
            }
        }
        let modules = [ImportKind::Import, ImportKind::ExportFrom];
        let in_order = python || facts.imports.iter().all(|it| !modules.contains(&it.kind));
        Module {
            in_order,
            steps,
            facts,
            python,
        }
    }

    // What an import loads, in that order: packages before what is in them.
    fn targets(&mut self, from: &RepoPath, import: &Import) -> Vec<usize> {
        let found = self.graph.resolver().resolve(from, import).files;
        let mut all: Vec<usize> = Vec::new();
        for path in found.iter().rev() {
            let id = self.id(path);
            for id in self.with_packages(id) {
                let typed = self.paths.get(id).is_none_or(|path| {
                    path.extension() == Some("pyi") || path.as_str().contains(".d.")
                });
                if !typed && path != from && !all.contains(&id) {
                    all.push(id);
                }
            }
        }
        all
    }

    // Whether nothing of an import is left at run time: it takes types.
    fn is_elided(&self, import: &Import, module: usize) -> bool {
        let target = self.path(module);
        let erased = |name: &str| {
            self.graph.defining(&target, name).is_some_and(|path| {
                let facts = self.graph.resolver().facts(&path);
                let mut all = facts.definitions.iter().filter(|one| one.name == name);
                all.clone().next().is_some() && all.all(|one| one.kind.is_erased())
            })
        };
        !import.names.is_empty() && import.names.iter().all(|one| erased(&one.name))
    }

    /// The file that binds a name that another passes on.
    pub(super) fn defining(&mut self, id: usize, name: &str) -> usize {
        let key = (id, name.to_owned());
        if let Some(known) = self.definers.get(&key) {
            return *known;
        }
        let found = self.graph.defining(&self.path(id), name);
        let found = found.map_or(id, |path| self.id(&path));
        self.definers.insert(key, found);
        found
    }
}

// The dotted names that stand in quotes, each a module perhaps.
fn dotted(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    text.split(['"', '\''])
        .filter(move |it| it.contains('.') && it.len() < 200 && it.split('.').all(is_part))
}

// The last part of a module's name: that of its file, or of the folder of a package.
fn module_name(path: &RepoPath) -> &str {
    match path.stem() {
        "__init__" => path.directory().rsplit('/').next().unwrap_or_default(),
        stem => stem,
    }
}

fn is_python(path: &RepoPath) -> bool {
    Language::of_path(path.as_str()).is_some_and(|it| !it.declares_exports)
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
