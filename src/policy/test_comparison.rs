use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::Range;

use super::test_files::{is_assertion, is_skip, muffles};
use super::weakened::{
    ALTERS, GIVEN, MUFFLES, REMOVES, SCRIPTS, SKIPS, changed_lines, is_longer, missing,
};
use crate::languages::{Ends, Imported, Scope, ScopeKind, TestFile, TestStatement};

// Comparisons of tests by what they ask.
const MAX_TRIES: usize = 2_000;

/// A test file before and after, and which scope of the one is which of the other.
pub(super) struct Comparison<'f> {
    was: Side<'f>,
    is: Side<'f>,
    // By the place of the scope before.
    pairs: Vec<Option<usize>>,
    // The scopes after that stand for one before.
    known: HashSet<usize>,
}

// A file with what is asked of it often.
struct Side<'f> {
    file: &'f TestFile,
    children: Vec<Vec<usize>>,
    // By the function, case or group, and the name.
    binds: HashMap<(usize, &'f str), Vec<&'f TestStatement>>,
    // By the function, case or group, each with the constructs around it.
    ends: HashMap<usize, Vec<(String, &'f TestStatement)>>,
    held: Vec<&'f TestStatement>,
    // The statements of a scope and of those in it: they stand side by side.
    spans: Vec<Range<usize>>,
}

impl std::ops::Deref for Side<'_> {
    type Target = TestFile;

    fn deref(&self) -> &TestFile {
        self.file
    }
}

impl<'f> Side<'f> {
    fn of(file: &'f TestFile) -> Self {
        let mut children = vec![Vec::new(); file.scopes.len()];
        for (at, scope) in file.scopes.iter().enumerate() {
            if let Some(all) = scope.parent.and_then(|it| children.get_mut(it)) {
                all.push(at);
            }
        }
        let mut it = Self {
            file,
            children,
            binds: HashMap::new(),
            ends: HashMap::new(),
            held: file.statements.iter().filter(|it| is_held(it)).collect(),
            spans: vec![0..0; file.scopes.len()],
        };
        for (at, one) in file.statements.iter().enumerate() {
            for scope in above(file, one.scope) {
                if let Some(span) = it.spans.get_mut(scope) {
                    let start = if span.end == 0 { at } else { span.start };
                    *span = start..at + 1;
                }
            }
            let function = function_of(file, one.scope);
            for (name, _) in &one.binds {
                it.binds.entry((function, name)).or_default().push(one);
            }
            if one.ends.is_some() {
                let said = said(file, one, function);
                it.ends.entry(function).or_default().push((said, one));
            }
        }
        it
    }

    fn children(&self, scope: usize) -> &[usize] {
        self.children.get(scope).map_or(&[], Vec::as_slice)
    }

    fn inside(&self, scope: usize) -> &'f [TestStatement] {
        let span = self.spans.get(scope).cloned().unwrap_or_default();
        self.file.statements.get(span).unwrap_or_default()
    }

    fn asserts(&self, scope: usize) -> bool {
        let inside = self.inside(scope);
        inside.iter().any(is_held)
    }

    fn is_bound_before(&self, scope: usize, name: &str, code: &str, line: u32) -> bool {
        let all = self.binds.get(&(scope, name)).into_iter().flatten();
        all.filter(|it| it.code == code).any(|it| it.line <= line)
    }

    // What a scope asks, each with what stands around it in there: its assertions, or all that it says.
    fn asked(&self, scope: usize) -> Vec<String> {
        let inside = self.inside(scope);
        let said = |one: &TestStatement| said(self.file, one, scope);
        let held: Vec<String> = inside.iter().filter(|it| is_held(it)).map(said).collect();
        if held.is_empty() {
            inside.iter().map(said).collect()
        } else {
            held
        }
    }

    // What binds a name in a scope, below its constructs, too; and whether to a literal.
    fn bindings(&self, scope: usize, name: &str) -> Vec<(&'f str, bool)> {
        let all = self.binds.get(&(scope, name)).into_iter().flatten();
        let said = all.filter_map(|one| {
            let (_, literal) = one.binds.iter().find(|it| it.0 == name)?;
            Some((one.code.as_str(), *literal))
        });
        said.collect()
    }
}

impl<'f> Comparison<'f> {
    pub(super) fn of(was: &'f TestFile, is: &'f TestFile) -> Self {
        let mut it = Self {
            was: Side::of(was),
            is: Side::of(is),
            pairs: vec![None; was.scopes.len()],
            known: HashSet::new(),
        };
        let mut others = Vec::new();
        it.pair(0, 0, &mut others);
        it.pair_others(others);
        it
    }

    fn pair(&mut self, old: usize, new: usize, others: &mut Vec<usize>) {
        if let Some(pair) = self.pairs.get_mut(old) {
            *pair = Some(new);
        }
        self.known.insert(new);
        let mut open: HashMap<(ScopeKind, &str), VecDeque<usize>> = HashMap::new();
        for child in self.is.children(new) {
            if let Some(scope) = self.is.file.scopes.get(*child) {
                let key = (scope.kind, scope.name.as_str());
                open.entry(key).or_default().push_back(*child);
            }
        }
        for child in self.was.children(old).to_vec() {
            let Some(scope) = self.was.file.scopes.get(child) else {
                continue;
            };
            let key = (scope.kind, scope.name.as_str());
            // A name may go to a new case or function, and what had it to another name.
            let is_named = matches!(scope.kind, ScopeKind::Case | ScopeKind::Function);
            let is_same = |it: usize| {
                !is_named || !self.was.asserts(child) || {
                    let (then, now) = (self.was.asked(child), self.is.asked(it));
                    missing(&borrowed(&then), &borrowed(&now)).is_empty()
                }
            };
            let named = open.get_mut(&key);
            let same = named.and_then(|it| {
                let at = it.iter().position(|it| is_same(*it))?;
                it.remove(at)
            });
            match same {
                Some(same) => self.pair(child, same, others),
                None if matches!(scope.kind, ScopeKind::Construct | ScopeKind::Callback) => {}
                None => others.push(child),
            }
        }
    }

    // What bears another name or stands in another group, and asks all that it did.
    fn pair_others(&mut self, mut others: Vec<usize>) {
        let mut tries = 0;
        while let Some(old) = others.pop() {
            let Some(scope) = self.was.file.scopes.get(old) else {
                continue;
            };
            let above = scope.parent.and_then(|it| self.pair_of(it));
            let asked = self.was.asked(old);
            let mut same = None;
            for (at, now) in self.is.file.scopes.iter().enumerate() {
                let is_free = now.kind == scope.kind
                    && !self.known.contains(&at)
                    && (now.collects || !scope.collects);
                let fits = now.parent == above
                    || now.parent.is_some_and(|it| is_collected(self.is.file, it));
                if !is_free || !fits || tries == MAX_TRIES {
                    continue;
                }
                tries += 1;
                let now = self.is.asked(at);
                if missing(&borrowed(&asked), &borrowed(&now)).is_empty() {
                    same = Some(at);
                    break;
                }
            }
            if let Some(same) = same {
                self.pair(old, same, &mut others);
            }
        }
    }

    /// What an existing test loses, for a sentence.
    pub(super) fn loses(
        &self,
        before: &[u8],
        after: &[u8],
        committed: &dyn Fn() -> Option<TestFile>,
    ) -> Option<&'static str> {
        if self.loses_an_assertion() {
            return Some(ALTERS);
        }
        let scopes = || self.was.scopes.iter().enumerate();
        let is_lost = |(at, scope): (usize, &Scope)| {
            scope.kind == ScopeKind::Case && self.pair_of(at).is_none()
        };
        if scopes().any(is_lost) || self.binds_a_case_again() {
            return Some(REMOVES);
        }
        for (at, scope) in scopes() {
            let Some(now) = self.pair_of(at).and_then(|it| self.is.scopes.get(it)) else {
                continue;
            };
            if !missing(&borrowed(&scope.rows), &borrowed(&now.rows)).is_empty() {
                return Some(REMOVES);
            }
            let is_old = |root: &String| self.was.imports.iter().any(|it| it.0 == *root);
            let is_run = matches!(scope.kind, ScopeKind::Case | ScopeKind::Group);
            let loosens = now
                .marks
                .iter()
                .filter(|mark| !scope.marks.contains(mark))
                .any(|mark| mark.loosens || !mark.root.is_empty() && !is_old(&mark.root));
            if is_run && loosens {
                return Some(SKIPS);
            }
            if self.ends_early(at) {
                return Some(MUFFLES);
            }
        }
        let only = |file: &TestFile| {
            let marks = file.scopes.iter().flat_map(|it| &it.marks);
            marks.filter(|it| it.code == "only").count()
        };
        if only(&self.is) > only(&self.was) {
            return Some(SKIPS);
        }
        if self.compares_with_other(committed) {
            return Some(ALTERS);
        }
        let lines: Vec<&[u8]> = after.split(|byte| *byte == b'\n').collect();
        let kept: Vec<&[u8]> = self.old_lines(&lines);
        let kept = kept.join(&b'\n');
        let (_, added) = changed_lines(before, &kept);
        if added.iter().any(|line| muffles(line)) {
            return Some(MUFFLES);
        }
        added.iter().any(|line| is_skip(line)).then_some(SKIPS)
    }

    fn pair_of(&self, old: usize) -> Option<usize> {
        self.pairs.get(old).copied().flatten()
    }

    // The last line of a function at which something of the old one is asked.
    fn last_asked(&self, old: usize, new: usize) -> u32 {
        let (then, now) = (self.was.inside(old), self.is.inside(new));
        let mut left: HashMap<&str, usize> = HashMap::new();
        for one in then.iter().filter(|it| is_held(it)) {
            *left.entry(&one.code).or_default() += 1;
        }
        let mut last = 0;
        for one in now {
            if let Some(left) = left.get_mut(one.code.as_str()).filter(|it| **it > 0) {
                (*left, last) = (*left - 1, one.line);
            }
        }
        last
    }

    fn loses_an_assertion(&self) -> bool {
        let mut now: HashMap<(usize, &str), usize> = HashMap::new();
        for one in &self.is.statements {
            *now.entry((one.scope, &one.code)).or_default() += 1;
        }
        self.was.held.iter().any(|one| {
            let Some(scope) = self.pair_of(one.scope) else {
                return true;
            };
            match now
                .get_mut(&(scope, one.code.as_str()))
                .filter(|it| **it > 0)
            {
                Some(left) => {
                    *left -= 1;
                    false
                }
                None => true,
            }
        })
    }

    // Whether the name of a case or a group is bound or deleted once more where it stands.
    fn binds_a_case_again(&self) -> bool {
        let scopes = self.was.scopes.iter().enumerate();
        scopes.into_iter().any(|(at, scope)| {
            let is_one = matches!(scope.kind, ScopeKind::Case | ScopeKind::Group);
            let (Some(now), Some(above)) = (self.pair_of(at), scope.parent) else {
                return false;
            };
            let Some(now) = self.is.scopes.get(now) else {
                return false;
            };
            let count = |side: &Side<'_>, scope: usize, name: &str| {
                side.bindings(function_of(side.file, scope), name).len()
            };
            let then = count(&self.was, above, &scope.name);
            let above = now.parent.unwrap_or_default();
            let after = count(&self.is, above, &now.name);
            is_one && after > then.max(1)
        })
    }

    // Whether something new ends a scope before it asks, or raises what it is asked to raise.
    fn ends_early(&self, old: usize) -> bool {
        let Some(new) = self.pair_of(old) else {
            return false;
        };
        let ends = |side: &Side<'f>, scope: usize| {
            let all = side.ends.get(&scope);
            all.cloned().unwrap_or_default()
        };
        let (then, now) = (ends(&self.was, old), ends(&self.is, new));
        let code = |all: &[(String, &TestStatement)]| -> Vec<String> {
            all.iter().map(|it| it.0.clone()).collect()
        };
        let (then, codes) = (code(&then), code(&now));
        let (then, codes) = (borrowed(&then), borrowed(&codes));
        let added = missing(&codes, &then);
        let is_case = self.was.scopes.get(old).map(|it| it.kind) == Some(ScopeKind::Case);
        let asks_below = |line: u32| {
            let held = self.is.held.iter();
            let mut held = held.filter(|it| self.known.contains(&it.scope));
            held.any(|it| it.line > line && is_below(&self.is, it.scope, new))
                || self.known.iter().any(|at| {
                    let scope = self.is.scopes.get(*at);
                    scope.is_some_and(|it| {
                        it.kind == ScopeKind::Case
                            && it.lines.start > line
                            && is_below(&self.is, *at, new)
                    })
                })
        };
        now.iter()
            .filter(|it| added.contains(&it.0.as_str()))
            .any(|(_, it)| match it.ends {
                Some(Ends::Whole) => is_case,
                Some(Ends::Raises) if is_asked_to_raise(&self.is, it.scope) => true,
                _ => asks_below(it.line),
            })
    }

    // Whether a name that an assertion uses stands for something else: another literal, or one more
    // binding than it had.
    fn compares_with_other(&self, committed: &dyn Fn() -> Option<TestFile>) -> bool {
        let mut before = None;
        let imports = self.was.imports.iter().chain(&self.is.imports);
        let imports = imports.map(|it| it.0.as_str()).chain(GIVEN.iter().copied());
        let imports: BTreeSet<String> = imports.map(str::to_owned).collect();
        for (scope, asked) in self.compared() {
            let chain = above(&self.was, scope);
            // What is imported is what it was, whoever asks it by another name.
            for name in asked.union(&imports) {
                for old in &chain {
                    let Some(new) = self.pair_of(*old) else {
                        continue;
                    };
                    let then = self.was.bindings(*old, name);
                    let now = self.is.bindings(new, name);
                    let code = |all: &[(&'f str, bool)]| -> Vec<&'f str> {
                        all.iter().map(|it| it.0).collect()
                    };
                    let (codes, others) = (code(&then), code(&now));
                    let is_literal = |all: &[(&str, bool)], code: &&str| {
                        all.iter().any(|it| it.0 == *code && it.1)
                    };
                    let grown = |code: &&str, all: &[&str]| {
                        let asked_itself = self.was.held.iter().any(|it| it.names.contains(name));
                        !asked_itself && all.iter().any(|it| is_longer(code, it))
                    };
                    let mut lost = missing(&codes, &others);
                    lost.retain(|code| !grown(code, &others));
                    if lost.iter().any(|it| is_literal(&then, it)) {
                        return true;
                    }
                    let mut added = missing(&others, &codes);
                    added.retain(|now| {
                        !codes
                            .iter()
                            .any(|it| is_longer(it, now) && grown(it, &[*now]))
                    });
                    // What is bound after all that was asked changes nothing of it.
                    if !added.is_empty() && *old == function_of(&self.was, scope) && *old != 0 {
                        let last = self.last_asked(*old, new);
                        added.retain(|code| self.is.is_bound_before(new, name, code, last));
                    }
                    if added.is_empty() {
                        continue;
                    }
                    let known = before.get_or_insert_with(committed);
                    if let Some(known) = known {
                        added.retain(|code| !known.statements.iter().any(|it| it.code == **code));
                    }
                    let more = now.len() > then.len() && !added.is_empty();
                    if more || added.iter().any(|it| is_literal(&now, it)) {
                        return true;
                    }
                }
                if asked.contains(name) && self.is_imported_anew(name) {
                    return true;
                }
            }
        }
        let new = self.is.scopes.iter().enumerate();
        let mut new = new.filter(|(at, it)| !self.known.contains(at) && runs_for_all(it));
        new.any(|(at, _)| {
            let mut binds = self.is.inside(at).iter().flat_map(|it| &it.binds);
            binds.any(|(name, _)| imports.contains(name))
        })
    }

    /// Whether a name that something old asks comes from one of these modules now, and did not before;
    /// `helpers` are those that the tests could have it from.
    pub(super) fn takes_from(&self, modules: &[&str], helpers: &[&str]) -> bool {
        let asked: BTreeSet<String> = self.compared().into_iter().flat_map(|it| it.1).collect();
        let last = |it: &Imported| {
            let name = it.2.rsplit(['.', '/']).find(|part| !SCRIPTS.contains(part));
            name.unwrap_or_default().to_owned()
        };
        let before = |name: &str| {
            let mut all = self.was.imports.iter();
            all.any(|it| it.0 == name && helpers.contains(&last(it).as_str()))
        };
        self.is.imports.iter().any(|it| {
            (it.0 == "*" || asked.contains(&it.0))
                && modules.contains(&last(it).as_str())
                && !self.was.imports.contains(it)
                && !before(&it.0)
        })
    }

    // The names in assertions and in rows of cases, by the scope that they stand in; and the names in
    // the literals that these are bound to.
    fn compared(&self) -> Vec<(usize, BTreeSet<String>)> {
        let mut found: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        let heads = self.was.statements.iter().filter(|it| it.text.is_empty());
        for one in self.was.held.iter().copied().chain(heads) {
            found
                .entry(one.scope)
                .or_default()
                .extend(one.names.iter().cloned());
        }
        for (scope, names) in &mut found {
            let chain = above(&self.was, *scope);
            let mut open: Vec<String> = names.iter().cloned().collect();
            while let Some(name) = open.pop() {
                let bound = chain
                    .iter()
                    .filter_map(|it| self.was.binds.get(&(*it, name.as_str())));
                for one in bound.flatten() {
                    if one.binds.iter().any(|it| it.0 == name && it.1) {
                        let more = one.names.iter().filter(|it| !names.contains(*it));
                        let more: Vec<String> = more.cloned().collect();
                        names.extend(more.iter().cloned());
                        open.extend(more);
                    }
                }
            }
        }
        found.into_iter().collect()
    }

    // A name under which the file knew one thing of a module, for another thing that it knew, too.
    fn is_imported_anew(&self, name: &str) -> bool {
        let all = || self.was.imports.iter();
        let new = self.is.imports.iter().filter(|it| it.0 == name);
        new.filter(|new| !all().any(|it| (&it.0, &it.1) == (&new.0, &new.1)))
            .any(|(_, original, _)| {
                original != name
                    && all().any(|it| it.0 == *original || it.1 == *original)
                    && all().any(|it| it.0 == name)
            })
    }

    // What of the new text belongs to no case or group that is new.
    fn old_lines<'l>(&self, lines: &[&'l [u8]]) -> Vec<&'l [u8]> {
        let cases = |file: &TestFile| {
            let all = file.scopes.iter();
            all.filter(|it| it.kind == ScopeKind::Case).count()
        };
        let more = cases(&self.is) > cases(&self.was);
        let scopes = self.is.scopes.iter().enumerate();
        let new: Vec<&Scope> = scopes
            .filter(|(at, scope)| {
                !self.known.contains(at)
                    && match scope.kind {
                        ScopeKind::Case | ScopeKind::Group => true,
                        ScopeKind::Function => more && !runs_for_all(scope),
                        ScopeKind::Construct | ScopeKind::Callback => false,
                    }
            })
            .map(|(_, scope)| scope)
            .collect();
        let is_old = |at: &usize| {
            let line = *at as u32 + 1;
            !new.iter().any(|it| it.lines.contains(&line))
        };
        let lines = lines.iter().enumerate();
        lines
            .filter(|(at, _)| is_old(at))
            .map(|(_, line)| *line)
            .collect()
    }
}

fn borrowed(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

// A scope and those around it, the innermost first.
fn above(file: &TestFile, scope: usize) -> Vec<usize> {
    let mut found = vec![scope];
    let mut at = scope;
    while let Some(parent) = file.scopes.get(at).and_then(|it| it.parent) {
        found.push(parent);
        at = parent;
    }
    found
}

fn is_below(file: &TestFile, scope: usize, whole: usize) -> bool {
    above(file, scope).contains(&whole)
}

// Whether a runner finds cases there.
fn is_collected(file: &TestFile, scope: usize) -> bool {
    let above = above(file, scope);
    let mut scopes = above.iter().filter_map(|it| file.scopes.get(*it));
    scopes.all(|it| it.collects)
}

// The function, case or group around a scope, or itself.
fn function_of(file: &TestFile, scope: usize) -> usize {
    let is_one = |at: &usize| {
        let scope = file.scopes.get(*at);
        scope.is_some_and(|it| it.kind != ScopeKind::Construct)
    };
    above(file, scope).into_iter().find(is_one).unwrap_or(0)
}

// Set-ups, hooks of a runner, and fixtures that no test asks for: old tests run with them, too.
fn runs_for_all(scope: &Scope) -> bool {
    let starts = ["setup", "teardown", "setUp", "tearDown", "pytest_"];
    let called = ["beforeEach\u{1f}", "beforeAll\u{1f}", "afterEach\u{1f}"];
    let is_callback = scope.kind == ScopeKind::Callback;
    starts.iter().any(|it| scope.name.starts_with(it))
        || is_callback && called.iter().any(|it| scope.name.contains(it))
        || scope.marks.iter().any(|it| it.code.contains("autouse"))
}

fn is_held(one: &TestStatement) -> bool {
    let mut lines = one.text.lines().map(|it| it.trim().as_bytes());
    lines.any(is_assertion)
}

// A statement with what stands around it in a scope.
fn said(file: &TestFile, one: &TestStatement, scope: usize) -> String {
    let around = above(file, one.scope).into_iter();
    let around = around.take_while(|it| *it != scope);
    let names = around.filter_map(|it| file.scopes.get(it));
    // What a function in a test is called says nothing of what is asked in it.
    let mut said: Vec<&str> = names
        .map(|it| match it.kind {
            ScopeKind::Case | ScopeKind::Function => "",
            _ => it.name.as_str(),
        })
        .collect();
    said.push(&one.code);
    said.join("\n")
}

// Whether the constructs around a scope wait for an error.
fn is_asked_to_raise(file: &TestFile, scope: usize) -> bool {
    let above = above(file, scope);
    let mut scopes = above.iter().filter_map(|it| file.scopes.get(*it));
    scopes.any(|it| it.kind == ScopeKind::Construct && it.name.to_lowercase().contains("raises"))
}
