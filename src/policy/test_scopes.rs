use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::test_files::{asks, is_assertion};
use crate::languages::{Bound, Scope, ScopeKind, TestFile, TestStatement};

/// A file of tests with what is asked of it often.
pub(super) struct Side<'f> {
    pub(super) file: &'f TestFile,
    pub(super) children: Vec<Vec<usize>>,
    // By the function, case or group, and the name.
    pub(super) binds: HashMap<(usize, &'f str), Vec<&'f TestStatement>>,
    // By the function, case or group, each with the constructs around it.
    pub(super) ends: HashMap<usize, Vec<(String, &'f TestStatement)>>,
    pub(super) held: Vec<&'f TestStatement>,
    // The names that ask: assertions of libraries, and what of the file itself holds some.
    pub(super) asks: HashSet<&'f str>,
    // By the scope.
    waits: Vec<bool>,
    // The statements of a scope and of those in it: they stand side by side.
    pub(super) spans: Vec<Range<usize>>,
}

impl std::ops::Deref for Side<'_> {
    type Target = TestFile;

    fn deref(&self) -> &TestFile {
        self.file
    }
}

impl<'f> Side<'f> {
    pub(super) fn of(file: &'f TestFile) -> Self {
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
            held: Vec::new(),
            asks: names_that_ask(file),
            waits: file.scopes.iter().map(waits_itself).collect(),
            spans: vec![0..0; file.scopes.len()],
        };
        for (at, scope) in file.scopes.iter().enumerate() {
            let around = scope
                .parent
                .and_then(|parent| it.waits.get(parent))
                .copied();
            if let Some(waits) = it.waits.get_mut(at) {
                *waits |= around.unwrap_or_default();
            }
        }
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
        let held = file.statements.iter().filter(|one| it.is_held(one));
        it.held = held.collect();
        it
    }

    /// Whether what stands around a scope waits for an error.
    pub(super) fn waits_for_error(&self, scope: usize) -> bool {
        self.waits.get(scope).copied().unwrap_or_default()
    }

    pub(super) fn is_held(&self, one: &TestStatement) -> bool {
        says_assertion(one)
            || one
                .names
                .iter()
                .any(|it| self.asks.contains(it.as_str()) && !one.binds_name(it))
                && !one.text.is_empty()
            || self.waits_for_error(one.scope)
    }

    pub(super) fn children(&self, scope: usize) -> &[usize] {
        self.children.get(scope).map_or(&[], Vec::as_slice)
    }

    pub(super) fn inside(&self, scope: usize) -> &'f [TestStatement] {
        let span = self.spans.get(scope).cloned().unwrap_or_default();
        self.file.statements.get(span).unwrap_or_default()
    }

    pub(super) fn asserts(&self, scope: usize) -> bool {
        let inside = self.inside(scope);
        inside.iter().any(|it| self.is_held(it))
    }

    pub(super) fn is_bound_before(&self, scope: usize, name: &str, code: &str, line: u32) -> bool {
        let all = self.binds.get(&(scope, name)).into_iter().flatten();
        all.filter(|it| it.code == code).any(|it| it.line <= line)
    }

    // What a scope asks, each with what stands around it in there: its assertions, or all that it says.
    pub(super) fn asked(&self, scope: usize) -> Vec<String> {
        let inside = self.inside(scope);
        let said = |one: &TestStatement| said(self.file, one, scope);
        let held: Vec<String> = inside
            .iter()
            .filter(|it| self.is_held(it))
            .map(said)
            .collect();
        if held.is_empty() {
            inside.iter().map(said).collect()
        } else {
            held
        }
    }

    // What binds a name in a scope, below its constructs, too.
    pub(super) fn bindings(&self, scope: usize, name: &str) -> Vec<(&'f TestStatement, Bound)> {
        let all = self.binds.get(&(scope, name)).into_iter().flatten();
        let said = all.filter_map(|one| {
            let (_, bound) = one.binds.iter().find(|it| it.0 == name)?;
            matches!(bound, Bound::Literal | Bound::Value).then_some((*one, *bound))
        });
        said.collect()
    }
}

pub(super) fn borrowed(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}

// A scope and those around it, the innermost first.
pub(super) fn above(file: &TestFile, scope: usize) -> Vec<usize> {
    let mut found = vec![scope];
    let mut at = scope;
    while let Some(parent) = file.scopes.get(at).and_then(|it| it.parent) {
        found.push(parent);
        at = parent;
    }
    found
}

pub(super) fn is_below(file: &TestFile, scope: usize, whole: usize) -> bool {
    above(file, scope).contains(&whole)
}

// Whether a runner finds cases there.
pub(super) fn is_collected(file: &TestFile, scope: usize) -> bool {
    let above = above(file, scope);
    let mut scopes = above.iter().filter_map(|it| file.scopes.get(*it));
    scopes.all(|it| it.collects)
}

// The function, case or group around a scope, or itself.
pub(super) fn function_of(file: &TestFile, scope: usize) -> usize {
    let is_one = |at: &usize| {
        let scope = file.scopes.get(*at);
        scope.is_some_and(|it| it.kind != ScopeKind::Construct)
    };
    above(file, scope).into_iter().find(is_one).unwrap_or(0)
}

pub(super) fn says_assertion(one: &TestStatement) -> bool {
    let mut lines = one.text.lines().map(|it| it.trim().as_bytes());
    lines.any(is_assertion)
}

// Assertions that are imported by name, and functions of the file that hold some.
fn names_that_ask(file: &TestFile) -> HashSet<&str> {
    let imports = file.imports.iter().filter(|it| asks(&it.module));
    let mut names: HashSet<&str> = imports.map(|it| it.name.as_str()).collect();
    let is_one = |one: &&TestStatement| {
        says_assertion(one) || one.names.iter().any(|it| names.contains(it.as_str()))
    };
    let mut more = Vec::new();
    for one in file.statements.iter().filter(is_one) {
        let scopes = above(file, one.scope).into_iter();
        let scopes = scopes.filter_map(|it| file.scopes.get(it));
        more.extend(scopes.map(|it| it.called.as_str()));
        if one.text.contains("=>") {
            let bound = one.binds.iter().filter(|it| it.1 == Bound::Value);
            more.extend(bound.map(|it| it.0.as_str()));
        }
    }
    names.extend(more.into_iter().filter(|it| !it.is_empty()));
    names
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

fn waits_itself(scope: &Scope) -> bool {
    let name = || scope.name.to_lowercase();
    match scope.kind {
        ScopeKind::Construct => name().contains("raises"),
        ScopeKind::Callback => name().contains("throw"),
        ScopeKind::Case | ScopeKind::Group | ScopeKind::Function => false,
    }
}
