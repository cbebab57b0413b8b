use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::load_steps::{Files, Module, Step};
use crate::graph::Graph;
use crate::languages::{Loading, loading};
use crate::model::{FileFacts, RepoPath};

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
        return !files.is_named_by(target);
    }
    let mut order = Order {
        circle: circle.len(),
        after: Arc::new(files.module(files.asked, Arc::new(after.1.clone()), Some(after.0))),
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
    // What stands in functions is not loaded, though they may be called.
    least: bool,
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
            let mut after = self.run(files, chain.get(..=at).unwrap_or_default(), true);
            if after.unchanged {
                let mut least = Run {
                    least: true,
                    ..Run::default()
                };
                for id in chain.get(..=at).unwrap_or_default() {
                    self.load(files, &mut least, *id, true);
                }
                after.unchanged = least.unchanged;
            }
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
        let least = run.least;
        let steps = module.steps.iter();
        let steps = steps.filter(|step| !(step.later || least && step.inside));
        for step in steps.clone() {
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
            for step in steps {
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
        // Files that look for others by name show nothing of what they need.
        if self.circle > MAX_CHANGED || after.begun.iter().any(|it| files.looks_by_name(*it)) {
            return false;
        }
        let known: HashSet<&Early> = before.early.iter().map(|(early, ..)| early).collect();
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
        let is_bound = |name: &str| target.bound(name).is_some_and(|at| at < early.line);
        if early.copies && !whole {
            let bound = is_bound(&early.name) || is_bound("__getattr__");
            if !(target.in_order && bound) {
                return true;
            }
        }
        if early.copies && early.name == "*" && !early.module {
            let python = files.is_python(early.target);
            // A star takes what is there; `module.exports = …` leaves who came before with nothing.
            let late = || target.binds().any(|(_, at)| at >= early.line);
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
                target.is_function(&early.name)
            };
        if ready {
            let Some(loading) = self.loading(files, early.target, changed) else {
                return true;
            };
            let reads = loading.reads(&early.name);
            let late = |name: &String| {
                if target.in_order {
                    target.bound(name).is_some_and(|at| at >= early.line)
                } else {
                    !target.is_function(name)
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
                let module = files.get(target);
                let early = |name: &str| module.bound(name).is_some_and(|at| Some(at) < line);
                module.bound(&taken.name).is_none() && early("*")
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
