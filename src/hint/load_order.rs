use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::graph::Graph;
use crate::languages::python::spelling::place;
use crate::languages::{Language, Loading, is_word, loading};
use crate::model::{DefinitionKind, FileFacts, Import, ImportKind, RepoPath};

/// Files that are loaded in all orders taken together.
const MAX_LOADS: usize = 100_000;
/// Files of a circle in which the import may change what is loaded when: beyond it, what calls reach
/// while files are loaded is not followed.
const MAX_CHANGED: usize = 200;
/// Files that load each other, one inside the other.
const MAX_DEPTH: usize = 400;
/// Functions that are followed from what calls them.
const MAX_CALLS: usize = 4_000;

/// Whether the files that an import ties into a circle still load, whichever of them comes first:
/// no name is taken out of a file that has not come to it, unless that was so without the import.
/// `after` is the text of `file` with the import in it.
pub(super) fn still_loads(
    graph: &Graph<'_>,
    file: &RepoPath,
    after: (&[u8], &FileFacts),
    target: &RepoPath,
) -> bool {
    let mut files = Files::new(graph, file);
    let target = files.id(target);
    let circle = files.circle(target);
    if circle.is_empty() {
        return true;
    }
    let mut order = Order {
        circle: circle.len(),
        after: Arc::new(files.module(files.asked, after.1, Some(after.0))),
        changed: loading(file, after.0).map(Arc::new),
        target,
        loads: 0,
        begun: HashMap::new(),
    };
    // A file that waits holds up those that load it: whoever waits for each other never goes on.
    let waits = |files: &mut Files<'_>, id: usize| {
        let text = files.text(id);
        memchr::memmem::find(&text, b"await").is_some()
            && files.loading(id).is_none_or(|it| it.waits)
    };
    let scripts = circle.iter().filter(|id| !files.is_python(**id));
    let scripts: Vec<usize> = scripts.copied().collect();
    if scripts.len() > MAX_CHANGED || scripts.iter().any(|id| waits(&mut files, *id)) {
        return false;
    }
    circle.iter().all(|first| order.holds(&mut files, *first))
}

// The files that are asked about, each read when it is come to.
struct Files<'g> {
    graph: &'g Graph<'g>,
    file: RepoPath,
    asked: usize,
    ids: HashMap<RepoPath, usize>,
    paths: Vec<RepoPath>,
    modules: HashMap<usize, Arc<Module>>,
    loadings: HashMap<usize, Option<Arc<Loading>>>,
    definers: HashMap<(usize, String), usize>,
}

// A file as it is loaded.
struct Module {
    // What of it is loaded only as it is come to, as `require` and Python do; the rest comes first.
    in_order: bool,
    steps: Vec<Step>,
    // The lines at which names are bound for others; `*` for names that are not known.
    binds: BTreeMap<String, u32>,
    functions: BTreeSet<String>,
}

struct Step {
    line: u32,
    targets: Vec<usize>,
    // Where the names are taken from.
    module: usize,
    names: Vec<Taken>,
    // What is taken is copied when the line is come to.
    copies: bool,
    // It is in a function that nothing calls while the file is loaded.
    later: bool,
}

struct Taken {
    // What is taken; `*` for the module.
    name: String,
    // The name that it gets.
    local: String,
    // The module of a package that is meant when the package lacks the name.
    module: Option<usize>,
}

impl<'g> Files<'g> {
    fn new(graph: &'g Graph<'g>, file: &RepoPath) -> Self {
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

    fn id(&mut self, path: &RepoPath) -> usize {
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

    fn is_python(&self, id: usize) -> bool {
        self.paths.get(id).is_some_and(is_python)
    }

    fn text(&self, id: usize) -> Arc<[u8]> {
        let path = self.path(id);
        self.graph.source().read(&path).unwrap_or_default().into()
    }

    fn loading(&mut self, id: usize) -> Option<Arc<Loading>> {
        if let Some(known) = self.loadings.get(&id) {
            return known.clone();
        }
        let found = loading(&self.path(id), &self.text(id)).map(Arc::new);
        self.loadings.insert(id, found.clone());
        found
    }

    fn get(&mut self, id: usize) -> Arc<Module> {
        if let Some(known) = self.modules.get(&id) {
            return known.clone();
        }
        let facts = self.graph.resolver().facts(&self.path(id));
        let found = Arc::new(self.module(id, &facts, None));
        self.modules.insert(id, found.clone());
        found
    }

    // The files that are loaded with `target` and load the asked file in turn, both included; empty
    // when there is no way back.
    fn circle(&mut self, target: usize) -> Vec<usize> {
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

    // A file behind the packages that are loaded before it.
    fn with_packages(&mut self, id: usize) -> Vec<usize> {
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

    // A file as it is kept, or with the text that it gets.
    fn module(&mut self, id: usize, facts: &FileFacts, text: Option<&[u8]>) -> Module {
        let path = self.path(id);
        let python = is_python(&path);
        let mut binds: BTreeMap<String, u32> = BTreeMap::new();
        let mut bind = |name: &str, line: u32| {
            let first = binds.entry(name.to_owned()).or_insert(line);
            *first = line.min(*first);
        };
        if python {
            for one in &facts.definitions {
                bind(&one.name, one.line);
            }
        } else {
            for one in &facts.exports {
                bind(&one.name, one.line);
            }
        }
        let nested = |it: &Import| it.nested && is_loaded(it);
        let called = if python && facts.imports.iter().any(nested) {
            match text {
                Some(text) => called(facts, text),
                None => called(facts, &self.text(id)),
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
                let local = one.alias.as_ref().unwrap_or(&one.name);
                if python && !later {
                    bind(local, import.line);
                }
                names.push(Taken {
                    name: one.name.clone(),
                    local: local.clone(),
                    module: None,
                });
            }
            if names.is_empty() && python {
                let local = import.specifier.split('.').next().unwrap_or_default();
                if !later {
                    bind(local, import.line);
                }
                names.push(Taken {
                    name: "*".to_owned(),
                    local: local.to_owned(),
                    module: None,
                });
            }
            let targets = self.targets(&path, import);
            for one in &mut names {
                let named = |id: &&usize| {
                    let place = self.paths.get(**id).map(place);
                    place.is_some_and(|it| it.rsplit('/').next() == Some(&one.name))
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
                });
            }
        }
        let functions = facts
            .definitions
            .iter()
            .filter(|one| one.kind == DefinitionKind::Function)
            .map(|one| one.name.clone())
            .collect();
        let modules = [ImportKind::Import, ImportKind::ExportFrom];
        let in_order = python || facts.imports.iter().all(|it| !modules.contains(&it.kind));
        Module {
            in_order,
            steps,
            binds,
            functions,
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

    // The file that binds a name that another passes on.
    fn defining(&mut self, id: usize, name: &str) -> usize {
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

// The functions and classes of a Python file that are called while it is loaded, by its text alone,
// since a circle has hundreds of files: their names stand before a bracket or behind an `@` where no
// function is, or in such a one.
fn called(facts: &FileFacts, text: &[u8]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let lines = code_lines(text);
    let bodies = |name: &str| {
        let all = facts.definitions.iter().filter(|it| it.name == name);
        let all = all.filter(|it| it.kind != DefinitionKind::Variable);
        all.flat_map(|it| it.line..=it.end_line).collect::<Vec<_>>()
    };
    let names: BTreeSet<&str> = facts
        .definitions
        .iter()
        .map(|it| it.name.as_str())
        .collect();
    // Outside functions, and a step deeper: what stands in a class.
    let functions = facts.definitions.iter();
    let functions = functions.filter(|it| it.kind == DefinitionKind::Function);
    let inside: BTreeSet<u32> = functions.flat_map(|it| it.line + 1..=it.end_line).collect();
    let mut open: Vec<u32> = (1..=lines.len() as u32)
        .filter(|at| {
            let line = lines.get(*at as usize - 1).copied().unwrap_or_default();
            let depth = line.iter().take_while(|byte| byte.is_ascii_whitespace());
            depth.count() <= 4 && !inside.contains(at)
        })
        .collect();
    while let Some(at) = open.pop() {
        let line = lines.get(at as usize - 1).copied().unwrap_or_default();
        for name in calls(line) {
            if names.contains(name) && found.insert(name.to_owned()) {
                open.extend(bodies(name));
            }
        }
    }
    found
}

// The lines of a text; those of long strings and comments are empty.
fn code_lines(text: &[u8]) -> Vec<&[u8]> {
    const QUOTES: [&[u8]; 2] = [b"\"\"\"", b"'''"];
    let mut open: Option<&[u8]> = None;
    let mut lines = Vec::new();
    for line in text.split(|byte| *byte == b'\n') {
        let mut string = open.is_some();
        let mut rest = line;
        loop {
            let quotes = QUOTES
                .iter()
                .filter(|it| open.is_none_or(|open| open == **it));
            let found = quotes.filter_map(|it| Some((memchr::memmem::find(rest, it)?, *it)));
            let Some((at, quote)) = found.min() else {
                break;
            };
            open = open.is_none().then_some(quote);
            string |= open.is_some();
            rest = rest.get(at + 3..).unwrap_or_default();
        }
        let comment = line.trim_ascii_start().first() == Some(&b'#');
        lines.push(if string || comment { &[][..] } else { line });
    }
    lines
}

// The words of a line that stand before a bracket or behind an `@`, but for what it defines.
fn calls(line: &[u8]) -> impl Iterator<Item = &str> {
    let text = line.trim_ascii_start();
    let defines = [&b"def "[..], b"class ", b"async def "];
    let defines = defines.iter().any(|it| text.starts_with(it));
    let mut words = text
        .split(|byte| !is_word(*byte))
        .filter(|it| !it.is_empty());
    if defines {
        let name = words.position(|it| matches!(it, b"def" | b"class"));
        let _ = name.and_then(|_| words.next());
    }
    words.filter_map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        let next = text.get(start + word.len());
        let before = start.checked_sub(1).and_then(|at| text.get(at));
        let called = next == Some(&b'(') || before == Some(&b'@');
        called.then(|| std::str::from_utf8(word).ok()).flatten()
    })
}

// A name that is taken out of a file that is still loading.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Early {
    from: usize,
    target: usize,
    // The line that the target has come to; 0 where the rest of it is loaded first.
    line: u32,
    name: String,
    local: String,
    copies: bool,
    module: bool,
}

// What was found out while files are loaded in an order.
#[derive(Default)]
struct Run {
    // The line that a file has come to; none after its last.
    come_to: HashMap<usize, Option<u32>>,
    begun: Vec<usize>,
    // The files that are loading, with how many had begun before.
    stack: Vec<(usize, usize)>,
    // What is taken early, with the files that are loading then and how many had begun before the one
    // that takes it.
    early: Vec<(Early, Vec<usize>, usize)>,
    // How many files had begun when one was loaded.
    ended: HashMap<usize, usize>,
    // The import that is asked about met its target loaded.
    unchanged: bool,
    given_up: bool,
}

struct Order {
    circle: usize,
    after: Arc<Module>,
    changed: Option<Arc<Loading>>,
    target: usize,
    loads: usize,
    // Whether the asked file is loaded with a file that is the first.
    begun: HashMap<usize, bool>,
}

impl Order {
    // Whether all that is loaded when a file of the circle is the first still loads. Packages are
    // loaded before what is in them: one that loads the asked file settles the order for all.
    fn holds(&mut self, files: &mut Files<'_>, first: usize) -> bool {
        let chain = files.with_packages(first);
        for at in 0..chain.len() {
            let Some(start) = chain.get(at) else { break };
            if let Some(loads) = self.begun.get(start) {
                if *loads {
                    return true;
                }
                continue;
            }
            let before = self.run(files, chain.get(..=at).unwrap_or_default(), false);
            let loads = before.come_to.contains_key(&files.asked);
            self.begun.insert(*start, loads);
            if before.given_up {
                return false;
            }
            if !loads && at + 1 < chain.len() {
                continue;
            }
            let after = self.run(files, chain.get(..=at).unwrap_or_default(), true);
            if after.given_up || !self.is_harmless(files, &before, &after) {
                return false;
            }
            if loads {
                return true;
            }
        }
        true
    }

    fn run(&mut self, files: &mut Files<'_>, chain: &[usize], changed: bool) -> Run {
        let mut run = Run::default();
        for id in chain {
            self.load(files, &mut run, *id, changed);
        }
        run
    }

    fn load(&mut self, files: &mut Files<'_>, run: &mut Run, id: usize, changed: bool) {
        if run.given_up || run.come_to.contains_key(&id) {
            return;
        }
        self.loads += 1;
        if self.loads > MAX_LOADS || run.stack.len() > MAX_DEPTH {
            run.given_up = true;
            return;
        }
        let module = self.module(files, id, changed);
        run.stack.push((id, run.begun.len()));
        run.begun.push(id);
        run.come_to.insert(id, Some(0));
        for step in module.steps.iter().filter(|step| !step.later) {
            let line = if module.in_order { step.line } else { 0 };
            run.come_to.insert(id, Some(line));
            if changed && id == files.asked && step.targets.contains(&self.target) {
                run.unchanged = run.come_to.get(&self.target) == Some(&None);
            }
            for target in &step.targets {
                self.load(files, run, *target, changed);
            }
            if module.in_order {
                take(files, run, id, step);
            }
        }
        if !module.in_order {
            for step in module.steps.iter().filter(|step| !step.later) {
                take(files, run, id, step);
            }
        }
        run.come_to.insert(id, None);
        run.ended.insert(id, run.begun.len());
        run.stack.pop();
    }

    fn module(&self, files: &mut Files<'_>, id: usize, changed: bool) -> Arc<Module> {
        if changed && id == files.asked {
            return self.after.clone();
        }
        files.get(id)
    }

    fn loading(&self, files: &mut Files<'_>, id: usize, changed: bool) -> Option<Arc<Loading>> {
        if changed && id == files.asked {
            return self.changed.clone();
        }
        files.loading(id)
    }

    fn is_harmless(&self, files: &mut Files<'_>, before: &Run, after: &Run) -> bool {
        if after.unchanged {
            return true;
        }
        if self.circle > MAX_CHANGED {
            return false;
        }
        let known: std::collections::HashSet<&Early> =
            before.early.iter().map(|(early, ..)| early).collect();
        for (early, stack, from) in &after.early {
            if known.contains(early) || !self.harms(files, after, (early, stack, *from), true) {
                continue;
            }
            let same = before.early.iter().find(|(it, ..)| {
                it.from == early.from && it.target == early.target && it.local == early.local
            });
            let was = same.is_some_and(|(early, stack, from)| {
                self.harms(files, before, (early, stack, *from), false)
            });
            if !was {
                return false;
            }
        }
        true
    }

    // Whether a name is read before the file that it is taken from has come to it.
    fn harms(
        &self,
        files: &mut Files<'_>,
        run: &Run,
        (early, stack, from): (&Early, &[usize], usize),
        changed: bool,
    ) -> bool {
        let target = self.module(files, early.target, changed);
        let whole = early.name == "*" || early.module;
        let is_bound = |name: &str| target.binds.get(name).is_some_and(|at| *at < early.line);
        if early.copies && !whole {
            let bound = is_bound(&early.name) || is_bound("__getattr__");
            if !(target.in_order && bound) {
                return true;
            }
        }
        if early.copies && early.name == "*" && !early.module {
            let python = files.is_python(early.target);
            // A star takes what is there; `module.exports = …` leaves who came before with nothing.
            let late = || target.binds.values().any(|at| *at >= early.line);
            let replaced = || {
                let text = files.text(early.target);
                memchr::memmem::find(&text, b"module.exports").is_some()
            };
            if (python && early.local == "*" && late()) || (!python && replaced()) {
                return true;
            }
        }
        // What the name reads itself when it is called has to be there.
        let ready = !whole
            && if target.in_order {
                early.copies
            } else {
                target.functions.contains(&early.name)
            };
        if ready {
            let Some(loading) = self.loading(files, early.target, changed) else {
                return true;
            };
            let reads = loading.reads(&early.name);
            let late = |name: &String| {
                if target.in_order {
                    target.binds.get(name).is_some_and(|at| *at >= early.line)
                } else {
                    !target.functions.contains(name)
                }
            };
            if !reads.iter().any(late) {
                return false;
            }
        }
        let until = run.ended.get(&early.target).copied();
        let begun = run.begun.get(from..until.unwrap_or(run.begun.len()));
        let mut running: BTreeSet<usize> = begun.unwrap_or_default().iter().copied().collect();
        running.extend(stack);
        running
            .into_iter()
            .any(|id| self.reaches(files, id, early, changed))
    }

    // Whether what a file runs while it is loaded reads a name of another file, be it in functions
    // that it calls.
    fn reaches(&self, files: &mut Files<'_>, id: usize, early: &Early, changed: bool) -> bool {
        let Some(own) = self.loading(files, id, changed) else {
            return true;
        };
        let is_read = |id: usize, names: &BTreeSet<String>| {
            id == early.from && (early.local == "*" || names.contains(&early.local))
        };
        let mut seen: BTreeSet<(usize, String)> = BTreeSet::new();
        let mut open: Vec<(usize, BTreeSet<String>)> = vec![(id, own.names.clone())];
        while let Some((id, names)) = open.pop() {
            if is_read(id, &names) || seen.len() > MAX_CALLS {
                return true;
            }
            let module = self.module(files, id, changed);
            for step in &module.steps {
                for taken in &step.names {
                    let whole = taken.name == "*" || taken.module.is_some();
                    if !(names.contains(&taken.local) || taken.local == "*") {
                        continue;
                    }
                    let (to, name) = if whole {
                        (taken.module.unwrap_or(step.module), "*".to_owned())
                    } else {
                        let name = if taken.name == "default" {
                            "*"
                        } else {
                            &taken.name
                        };
                        (files.defining(step.module, &taken.name), name.to_owned())
                    };
                    if !seen.insert((to, name.clone())) {
                        continue;
                    }
                    let Some(loading) = self.loading(files, to, changed) else {
                        return true;
                    };
                    open.push((to, loading.reads(&name)));
                }
            }
        }
        false
    }
}

// What a step takes from files that are still loading.
fn take(files: &mut Files<'_>, run: &mut Run, id: usize, step: &Step) {
    for taken in &step.names {
        let whole = taken.name == "*";
        let loading = |id: usize| run.come_to.get(&id).copied().flatten();
        let mut target = step.module;
        let mut module = false;
        if let Some(at) = taken.module.filter(|it| *it != step.module) {
            (target, module) = (at, true);
        } else if !whole && !step.copies {
            target = files.defining(step.module, &taken.name);
        }
        let mut line = loading(target);
        // What a star has passed on is there when the file behind it is loaded.
        if line.is_some() && step.copies && !whole && !module {
            let definer = files.defining(target, &taken.name);
            let passed = definer != target && {
                let binds = &files.get(target).binds;
                !binds.contains_key(&taken.name)
                    && binds.get("*").is_some_and(|at| Some(*at) < line)
            };
            if passed {
                (target, line) = (definer, loading(definer));
            }
        }
        let Some(line) = line else { continue };
        if target == id {
            continue;
        }
        let at = run.stack.iter().position(|(it, _)| *it == target);
        let stack = run.stack.get(at.unwrap_or_default()..).unwrap_or_default();
        let from = stack.last().map_or(0, |(_, from)| *from);
        let stack = stack.iter().map(|(id, _)| *id).collect();
        let early = Early {
            from: id,
            target,
            line,
            name: taken.name.clone(),
            local: taken.local.clone(),
            copies: step.copies,
            module,
        };
        run.early.push((early, stack, from));
    }
}
