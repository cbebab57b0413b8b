use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::test_files::{is_hook, is_runner_name, is_set_up, is_skip, muffles};
use super::test_scopes::{
    Side, above, borrowed, function_of, is_below, is_collected, says_assertion,
};
use super::weakened::{ALTERS, MUFFLES, REMOVES, SKIPS, missing};
use crate::languages::{Bound, Ends, Imported, Mark, Scope, ScopeKind, TestFile, TestStatement};

// Comparisons of tests by what they ask.
const MAX_TRIES: usize = 2_000;

/// A test file before and after, and which scope of the one is which of the other.
pub(super) struct Comparison<'f> {
    pub(super) was: Side<'f>,
    pub(super) is: Side<'f>,
    // By the place of the scope before.
    pairs: Vec<Option<usize>>,
    // The scopes after that stand for one before.
    known: HashSet<usize>,
    // Of each scope after whether it is no part of a case or group that is new.
    old: Vec<bool>,
}

impl<'f> Comparison<'f> {
    pub(super) fn of(was: &'f TestFile, is: &'f TestFile) -> Self {
        let mut it = Self {
            was: Side::of(was),
            is: Side::of(is),
            pairs: vec![None; was.scopes.len()],
            known: HashSet::new(),
            old: Vec::new(),
        };
        let mut others = Vec::new();
        it.pair(0, 0, &mut others);
        it.pair_others(others);
        it.old = it.old_scopes();
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
        committed: &dyn Fn() -> Option<TestFile>,
        is_stand_in: &dyn Fn(&str) -> bool,
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
        let compared = self.all_compared();
        for (at, scope) in scopes() {
            let Some(now) = self.pair_of(at).and_then(|it| self.is.scopes.get(it)) else {
                continue;
            };
            if !missing(&borrowed(&scope.rows), &borrowed(&now.rows)).is_empty() {
                return Some(REMOVES);
            }
            let is_old = |root: &String| self.was.imports.iter().any(|it| it.name == *root);
            let is_run = matches!(scope.kind, ScopeKind::Case | ScopeKind::Group);
            let loosens = now
                .marks
                .iter()
                .filter(|mark| !scope.marks.contains(mark))
                .any(|mark| mark.loosens || !mark.root.is_empty() && !is_old(&mark.root));
            if is_run && loosens {
                return Some(SKIPS);
            }
            if is_run
                && now
                    .rows
                    .iter()
                    .any(|it| it.starts_with('=') && !scope.rows.contains(it))
            {
                return Some(ALTERS);
            }
            let is_gone =
                |mark: &Mark| !mark.loosens && !mark.root.is_empty() && !now.marks.contains(mark);
            let is_fixture = |mark: &Mark| mark.code.contains("fixture");
            let is_compared = compared.contains(&scope.called)
                && scope.marks.iter().any(is_fixture)
                && scope.marks != now.marks;
            if is_run && scope.marks.iter().any(is_gone) || is_compared {
                return Some(ALTERS);
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
        let known = committed();
        if self.compares_with_other(&compared, known.as_ref(), is_stand_in) {
            return Some(ALTERS);
        }
        self.muffles_or_skips()
    }

    // Whether a scope that is old says more often than before what takes the force from a case.
    fn muffles_or_skips(&self) -> Option<&'static str> {
        let old: HashSet<&str> = self
            .was
            .statements
            .iter()
            .map(|it| it.code.as_str())
            .collect();
        let new: HashSet<&str> = self
            .is
            .statements
            .iter()
            .map(|it| it.code.as_str())
            .collect();
        let mut counts: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let lines = |one: &TestStatement, says: fn(&[u8]) -> bool| {
            let lines = one.text.lines().map(|it| it.trim().as_bytes());
            lines.filter(|it| says(it)).count()
        };
        let mut more = Vec::new();
        for one in &self.is.statements {
            if !old.contains(one.code.as_str()) && self.is_old(one.scope) {
                more.push((one.scope, lines(one, muffles), lines(one, is_skip)));
                let hooks = one
                    .binds
                    .iter()
                    .any(|it| is_hook(&it.0) || self.is_runner(&it.0));
                if hooks && self.is_collected_in(one.scope) {
                    return Some(SKIPS);
                }
            }
        }
        for one in &self.was.statements {
            if let Some(scope) = self
                .pair_of(one.scope)
                .filter(|_| !new.contains(one.code.as_str()))
            {
                let (muffling, skipping) = counts.entry(scope).or_default();
                *muffling += lines(one, muffles);
                *skipping += lines(one, is_skip);
            }
        }
        for (scope, muffling, skipping) in more {
            let (had, skipped) = counts.entry(scope).or_default();
            if muffling > *had {
                return Some(MUFFLES);
            }
            if skipping > *skipped {
                return Some(SKIPS);
            }
            (*had, *skipped) = (*had - muffling, *skipped - skipping);
        }
        None
    }

    // Whether the file had the name from its runner.
    fn is_runner(&self, name: &str) -> bool {
        is_runner_name(name)
            && (self.was.imports.iter().any(|it| it.name == name)
                || self
                    .was
                    .statements
                    .iter()
                    .any(|it| it.binds.iter().any(|it| it.0 == name)))
    }

    fn is_collected_in(&self, scope: usize) -> bool {
        let function = function_of(&self.is, scope);
        function == 0
            || self
                .is
                .scopes
                .get(function)
                .is_some_and(|it| it.kind == ScopeKind::Group)
    }

    pub(super) fn pair_of(&self, old: usize) -> Option<usize> {
        self.pairs.get(old).copied().flatten()
    }

    // The last line of a function at which something of the old one is asked.
    fn last_asked(&self, old: usize, new: usize) -> u32 {
        let (then, now) = (self.was.inside(old), self.is.inside(new));
        let mut left: HashMap<&str, usize> = HashMap::new();
        for one in then.iter().filter(|it| self.was.is_held(it)) {
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
        let given = self.given();
        let held = self.was.held.iter().copied();
        held.chain(given).any(|one| {
            let Some(scope) = self.pair_of(one.scope) else {
                return says_assertion(one) || self.was.is_held(one);
            };
            let left = now.get_mut(&(scope, one.code.as_str()));
            if let Some(left) = left.filter(|it| **it > 0) {
                *left -= 1;
                return false;
            }
            let gives = |it: &TestStatement| one.gives.is_some() && it.gives == one.gives;
            let mut all = self.is.inside(scope).iter();
            !all.any(|it| keeps_rows(one, it) || gives(it))
        })
    }

    // What fixtures, functions and set-ups give to assertions.
    fn given(&self) -> Vec<&'f TestStatement> {
        let compared = self.all_compared();
        let all = self.was.file.statements.iter();
        let given = all.filter(|one| {
            if self.was.is_held(one) {
                return false;
            }
            if one.ends == Some(Ends::Raises) {
                let function = self.was.scopes.get(function_of(&self.was, one.scope));
                return function.is_some_and(|it| it.kind == ScopeKind::Case);
            }
            let is_literal = one.gives.is_some()
                || one
                    .binds
                    .iter()
                    .any(|it| it.1 == Bound::Literal && compared.contains(&it.0));
            let is_given = |at: usize| {
                let scope = self.was.scopes.get(at);
                scope.is_some_and(|it| {
                    compared.contains(&it.called) && (one.gives.is_some() || !it.called.is_empty())
                        || it.kind != ScopeKind::Case && is_set_up(&it.name)
                })
            };
            is_literal && is_given(function_of(&self.was, one.scope))
        });
        given.collect()
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
                Some(Ends::Raises) if self.is.waits_for_error(it.scope) => true,
                _ => asks_below(it.line),
            })
    }

    // Whether a name that an assertion uses stands for something else: another literal, or one more
    // binding than it had.
    fn compares_with_other(
        &self,
        all_compared: &BTreeSet<String>,
        known: Option<&TestFile>,
        is_stand_in: &dyn Fn(&str) -> bool,
    ) -> bool {
        let codes = known.into_iter().flat_map(|it| &it.statements);
        let codes: HashSet<&str> = codes.map(|it| it.code.as_str()).collect();
        let is_known = |code: &str| codes.contains(code);
        let compared = self.compared();
        for (scope, names) in &compared {
            let chain = above(&self.was, *scope);
            for name in names {
                for old in &chain {
                    let Some(new) = self.pair_of(*old) else {
                        continue;
                    };
                    let then = self.was.bindings(*old, name);
                    let now = self.is.bindings(new, name);
                    let code = |all: &[(&'f TestStatement, Bound)]| -> Vec<&'f str> {
                        all.iter().map(|it| it.0.code.as_str()).collect()
                    };
                    let (codes, others) = (code(&then), code(&now));
                    let gone = missing(&codes, &others);
                    let is_gone = |it: &&(&TestStatement, Bound)| {
                        it.1 == Bound::Literal && gone.contains(&it.0.code.as_str())
                    };
                    let kept = |it: &(&TestStatement, Bound)| {
                        now.iter().any(|other| keeps_rows(it.0, other.0))
                    };
                    if then.iter().filter(is_gone).any(|it| !kept(it)) {
                        return true;
                    }
                    let mut added = missing(&others, &codes);
                    // What is bound after all that was asked changes nothing of it.
                    if !added.is_empty() && *old == function_of(&self.was, *scope) && *old != 0 {
                        let last = self.last_asked(*old, new);
                        added.retain(|code| self.is.is_bound_before(new, name, code, last));
                    }
                    added.retain(|code| !is_known(code));
                    let is_other = |it: &(&TestStatement, Bound)| {
                        it.1 == Bound::Literal
                            && added.contains(&it.0.code.as_str())
                            && !then.iter().any(|old| keeps_rows(old.0, it.0))
                    };
                    let more = now.len() > then.len() && !added.is_empty();
                    if more || now.iter().any(is_other) {
                        return true;
                    }
                }
                if self.is_imported_anew(name, known, is_stand_in) {
                    return true;
                }
            }
        }
        self.changes_a_part(all_compared, &is_known)
            || self.changes_an_input(all_compared, &is_known)
            || self.is.imports.iter().any(|it| {
                let mut old = self.was.imports.iter();
                !self.was.imports.contains(it)
                    && (it.name == "*" || old.any(|old| old.name == it.name))
                    && is_stand_in(&it.module)
            })
    }

    // Whether a part is changed of what other files define, or of a literal that an assertion uses.
    fn changes_a_part(&self, compared: &BTreeSet<String>, is_known: &dyn Fn(&str) -> bool) -> bool {
        let then = self.was.statements.iter();
        let then: HashSet<&str> = then.map(|it| it.code.as_str()).collect();
        let mut bound: HashMap<&str, bool> = HashMap::new();
        for (name, how) in self.is.statements.iter().flat_map(|it| &it.binds) {
            if matches!(how, Bound::Literal | Bound::Value) {
                *bound.entry(name).or_default() |= *how == Bound::Literal;
            }
        }
        let is_foreign = |name: &str| match bound.get(name) {
            Some(literal) => *literal && compared.contains(name),
            None if name.contains('.') => {
                let mut imports = self.is.imports.iter();
                imports.any(|it| it.module == name)
            }
            None => !matches!(name, "self" | "cls" | "this" | "process" | "os"),
        };
        let is_changed = |(name, how): &(String, Bound)| match how {
            Bound::Part => is_foreign(name),
            Bound::Element => {
                compared.contains(name) && bound.get(name.as_str()).is_some_and(|literal| *literal)
            }
            Bound::Literal | Bound::Value => false,
        };
        self.is.statements.iter().any(|one| {
            one.binds.iter().any(is_changed)
                && !then.contains(one.code.as_str())
                && !is_known(&one.code)
                && self.is_old(one.scope)
        })
    }

    fn all_compared(&self) -> BTreeSet<String> {
        self.compared().into_iter().flat_map(|it| it.1).collect()
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
                    let is_loop = one.text.starts_with("for");
                    if one
                        .binds
                        .iter()
                        .any(|it| it.0 == name && (it.1 == Bound::Literal || is_loop))
                    {
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

    // A name under which the file knew one thing of a module, for another thing that it knew, too; or
    // for what a file of tests gives in its place.
    fn is_imported_anew(
        &self,
        name: &str,
        known: Option<&TestFile>,
        is_stand_in: &dyn Fn(&str) -> bool,
    ) -> bool {
        let new = self.is.imports.iter();
        let new = new.filter(|it| it.name == name || it.name == "*");
        let is_old = |it: &Imported| {
            self.was.imports.contains(it) || known.is_some_and(|known| known.imports.contains(it))
        };
        new.filter(|it| !is_old(it)).any(|it| {
            let all = self.was.imports.iter();
            let other = it.original != name
                && it.name == name
                && all
                    .clone()
                    .any(|old| old.name == it.original || old.original == it.original)
                && all.clone().any(|old| old.name == name);
            other || is_stand_in(&it.module)
        })
    }

    pub(super) fn is_old(&self, scope: usize) -> bool {
        self.old.get(scope).copied().unwrap_or(true)
    }

    // What runs before all cases is never new.
    fn old_scopes(&self) -> Vec<bool> {
        let cases = |file: &TestFile| {
            let all = file.scopes.iter();
            all.filter(|it| it.kind == ScopeKind::Case).count()
        };
        let more = cases(&self.is) > cases(&self.was);
        // By the scope whether it is new, and whether it runs first; those around it go before it.
        let mut found: Vec<(bool, bool)> = Vec::with_capacity(self.is.scopes.len());
        for (at, scope) in self.is.scopes.iter().enumerate() {
            let around = scope.parent.and_then(|it| found.get(it)).copied();
            let (is_new, first) = around.unwrap_or_default();
            let is_one = match scope.kind {
                ScopeKind::Case | ScopeKind::Group => true,
                ScopeKind::Function => more,
                ScopeKind::Construct | ScopeKind::Callback => false,
            };
            let runs_first = match scope.kind {
                ScopeKind::Case | ScopeKind::Group => false,
                _ => is_set_up(&scope.name) || is_hook(&scope.name),
            };
            let autouse = scope.marks.iter().any(|it| it.code.contains("autouse"));
            found.push((
                is_new || is_one && !self.known.contains(&at),
                first || runs_first || autouse,
            ));
        }
        let old = found.into_iter().map(|(is_new, first)| first || !is_new);
        old.collect()
    }
}

// Whether a list that a name is bound to has all its rows, and others after them.
fn keeps_rows(old: &TestStatement, new: &TestStatement) -> bool {
    let names =
        |one: &TestStatement| -> Vec<String> { one.binds.iter().map(|it| it.0.clone()).collect() };
    !old.rows.is_empty()
        && new.rows.starts_with(&old.rows)
        && !old.binds.is_empty()
        && names(old) == names(new)
}
