use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use super::query::Undefined;
use crate::git::changed_lines;
use crate::languages::{
    PYTHON, facts, free_names, import_lines, removed, syntax_errors, uses, words,
};
use crate::model::{FileFacts, Import, ImportedName, RepoPath, Suggestion};

/// Runs of changed lines that are looked at in one file.
const MAX_RUNS: usize = 400;
/// Imports that come back in one run and that the file no longer needs.
const MAX_UNNEEDED: usize = 40;

/// The text with the lines back by which the newest version of `past` that imported the suggested name
/// had it, at the place where they stood: between the lines that still stand around it. `None` where
/// that version took the name from elsewhere, or where the place cannot be told.
pub(super) fn restored(
    file: &RepoPath,
    text: &str,
    past: &[Vec<u8>],
    one: &Suggestion,
) -> Option<String> {
    let mut others = past.iter().filter(|it| **it != *text.as_bytes());
    let then = others.find_map(|version| {
        let then = written_like(text, version)?;
        let facts = facts(file, then.as_bytes());
        let binds = facts.imports.iter().any(|it| it.binds(&one.name));
        binds.then_some(then)
    })?;
    let (was, is) = (Version::of(file, &then), Version::of(file, text));
    let mut runs = changed_lines(then.as_bytes(), text.as_bytes());
    runs.truncate(MAX_RUNS);
    let gone = |(before, _): &&Run| {
        let lines = |at: usize| was.imports.get(at).cloned().unwrap_or_default();
        let imports = was.facts.imports.iter().enumerate();
        let mut own = imports.filter(|(_, it)| it.binds(&one.name));
        own.any(|(at, _)| meets(before, &lines(at)))
    };
    // Where the import went that stands elsewhere now.
    let moved = |(before, after): &&Run| {
        let lines = is.facts.imports.iter().zip(&is.imports);
        let mut inside = lines.filter(|(_, lines)| meets(after, lines)).peekable();
        before.is_empty()
            && inside.peek().is_some()
            && inside.all(|(it, _)| takes_it(it, one) && it.names.len() < 2)
            && is.is_of_imports(after)
    };
    let lost: Vec<&Run> = runs.iter().filter(gone).collect();
    if lost.is_empty() {
        return None;
    }
    let moved: Vec<&Run> = runs.iter().filter(moved).collect();
    let place = Place {
        file,
        one,
        was: &was,
        is: &is,
        runs: &runs,
    };
    [Version::whole, Version::part].iter().find_map(|taken| {
        let mut lines = is.lines.clone();
        let mut edits: Vec<(Range<usize>, Vec<&str>)> = Vec::new();
        for (before, after) in &lost {
            edits.push(taken(&was, &is, before, after, &one.name)?);
        }
        edits.extend(moved.iter().map(|(_, after)| (after.clone(), Vec::new())));
        edits.sort_by_key(|(at, _)| at.start);
        for (at, back) in edits.into_iter().rev() {
            lines.get(at.clone())?;
            lines.splice(at, back);
        }
        place.needed(lines.concat())
    })
}

/// Whether the lines of an import go back to where they stood in the file that lacks it.
pub(super) fn stands_again(asked: &Undefined<'_>, one: &Suggestion) -> bool {
    let text = std::str::from_utf8(asked.text);
    text.is_ok_and(|text| restored(asked.file, text, asked.past, one).is_some())
}

/// Lines of before and those that stand for them now.
type Run = (Range<usize>, Range<usize>);

/// A text by its lines.
struct Version<'t> {
    lines: Vec<&'t str>,
    facts: FileFacts,
    /// The lines of each import.
    imports: Vec<Range<usize>>,
}

impl<'t> Version<'t> {
    fn of(file: &RepoPath, text: &'t str) -> Self {
        let facts = facts(file, text.as_bytes());
        Self {
            lines: text.split_inclusive('\n').collect(),
            imports: import_lines(file, text, &facts),
            facts,
        }
    }

    fn line(&self, at: usize) -> &'t str {
        self.lines.get(at).copied().unwrap_or_default().trim()
    }

    fn is_import(&self, at: usize) -> bool {
        let future = self.line(at).starts_with("from __future__ import");
        future || self.imports.iter().any(|it| it.contains(&at))
    }

    // Nothing but imports, what parts them, and branches around them.
    fn is_of_imports(&self, range: &Range<usize>) -> bool {
        let mut nested = self.facts.imports.iter().zip(&self.imports);
        let branches = nested.any(|(it, lines)| it.nested && meets(range, lines));
        range.clone().all(|at| {
            let line = self.line(at);
            self.is_import(at) || is_gap(line) || is_nothing(line) || (branches && is_branch(line))
        })
    }

    // All lines of the run.
    fn whole(
        &self,
        now: &Self,
        before: &Range<usize>,
        after: &Range<usize>,
        _: &str,
    ) -> Option<(Range<usize>, Vec<&'t str>)> {
        let imports = self.is_of_imports(before) && now.is_of_imports(after);
        let back = self.lines.get(before.clone())?.to_vec();
        imports.then(|| (after.clone(), back))
    }

    // The statements at one end of the run, and what the run has in their place stays.
    fn part(
        &self,
        now: &Self,
        before: &Range<usize>,
        after: &Range<usize>,
        name: &str,
    ) -> Option<(Range<usize>, Vec<&'t str>)> {
        let imports = self.facts.imports.iter().zip(&self.imports);
        let own = imports.filter(|(it, lines)| it.binds(name) && meets(before, lines));
        let own: Vec<&Range<usize>> = own.map(|(_, lines)| lines).collect();
        let mut start = own.iter().map(|it| it.start).min()?;
        let mut end = own.iter().map(|it| it.end).max()?;
        if start < before.start || end > before.end || !self.is_of_imports(&(start..end)) {
            return None;
        }
        while start > before.start && is_gap(self.line(start - 1)) {
            start -= 1;
        }
        while end < before.end && self.line(end).is_empty() {
            end += 1;
        }
        let at = if start == before.start {
            while end > start && self.line(end - 1).is_empty() && now.line(after.start).is_empty() {
                end -= 1;
            }
            after.start
        } else if end == before.end {
            after.end
        } else {
            return None;
        };
        Some((at..at, self.lines.get(start..end)?.to_vec()))
    }
}

struct Place<'p> {
    file: &'p RepoPath,
    one: &'p Suggestion,
    was: &'p Version<'p>,
    is: &'p Version<'p>,
    runs: &'p [Run],
}

impl Place<'_> {
    // The text without what came back beside the name and is not needed, when the name then comes from
    // where it is said to come from and nothing else is lost.
    fn needed(&self, mut text: String) -> Option<String> {
        let now: String = self.is.lines.concat();
        let bound = |facts: &FileFacts| -> BTreeSet<String> {
            let imports = facts.imports.iter();
            imports.flat_map(locals).map(str::to_owned).collect()
        };
        let own = bound(&self.is.facts);
        let unneeded = |name: &str| {
            name != self.one.name
                && !own.contains(name)
                && words(now.as_bytes(), name).next().is_none()
        };
        for _ in 0..MAX_UNNEEDED {
            let Some(next) = self.without_one(&text, &unneeded) else {
                break;
            };
            text = next;
        }
        let found = facts(self.file, text.as_bytes());
        let mut came = found.imports.iter().filter(|it| self.is_new(it));
        if came.any(|it| locals(it).any(&unneeded)) {
            return None;
        }
        let defined = |facts: &FileFacts| -> Vec<String> {
            let all = facts.definitions.iter();
            all.map(|it| it.name.clone()).collect()
        };
        let mut ways = found.imports.iter().filter(|it| takes_it(it, self.one));
        let way = ways.clone().find(|it| !it.nested).or(ways.next())?;
        let free = |text: &str| -> BTreeSet<String> {
            let names = free_names(self.file, text.as_bytes()).into_iter();
            names.filter(|it| !PYTHON.is_global(it)).collect()
        };
        let after = free(&text);
        // A statement that took other names meanwhile is another.
        let same = |facts: &FileFacts| {
            let all = facts.imports.iter().filter(|it| !it.nested);
            all.filter(|it| it.specifier == self.one.module && it.kind == way.kind)
                .count()
        };
        let errors = |text: &str| syntax_errors(self.file, text.as_bytes()).len();
        (own.is_subset(&bound(&found))
            && defined(&self.is.facts) == defined(&found)
            && errors(&text) <= errors(&now)
            && !after.contains(&self.one.name)
            && after.is_subset(&free(&now))
            && same(&found) <= same(&self.was.facts).max(same(&self.is.facts))
            && (!way.nested || self.serves(way, &now)))
        .then_some(text)
    }

    fn is_new(&self, import: &Import) -> bool {
        let mut own = self.is.facts.imports.iter();
        !own.any(|it| is_same(it, import))
    }

    // The text without an import, or one name of it, that is not needed.
    fn without_one(&self, text: &str, unneeded: &dyn Fn(&str) -> bool) -> Option<String> {
        let found = facts(self.file, text.as_bytes());
        let lines = import_lines(self.file, text, &found);
        let all = found.imports.iter().zip(&lines);
        let mut new = all.filter(|(it, _)| self.is_new(it));
        let (import, lines) = new.find(|(it, _)| locals(it).any(unneeded))?;
        if locals(import).all(unneeded) {
            let kept = text.split_inclusive('\n').enumerate();
            let kept = kept.filter(|(at, _)| !lines.contains(at));
            return Some(kept.map(|(_, line)| line).collect());
        }
        let name = import.names.iter().find(|it| unneeded(it.local()))?;
        let module = &import.specifier;
        removed(self.file, text, &found, module, &name.name)
    }

    // Whether an import within a function or a branch serves all uses: they stood there with it, and
    // none that needs a value came to what was there for types.
    fn serves(&self, import: &Import, now: &str) -> bool {
        let changed = |line: usize| self.runs.iter().any(|(_, after)| after.contains(&line));
        let mut lines = words(now.as_bytes(), &self.one.name).map(|at| {
            let above = now.as_bytes().get(..at).unwrap_or_default();
            memchr::memchr_iter(b'\n', above).count()
        });
        let value = |text: &str| {
            uses(self.file, text.as_bytes(), &self.one.name).is_some_and(|it| it.value)
        };
        lines.all(|line| !changed(line) || self.is.is_import(line))
            && (!import.type_only || !value(now) || value(&self.was.lines.concat()))
    }
}

// A version as the text is written: without a mark at the start and with its line ends.
fn written_like<'v>(text: &str, version: &'v [u8]) -> Option<Cow<'v, str>> {
    let then = std::str::from_utf8(version).ok()?;
    let then = then.strip_prefix('\u{feff}').unwrap_or(then);
    Some(match (text.contains("\r\n"), then.contains("\r\n")) {
        (true, false) => Cow::Owned(then.replace('\n', "\r\n")),
        (false, true) => Cow::Owned(then.replace("\r\n", "\n")),
        _ => Cow::Borrowed(then),
    })
}

fn meets(one: &Range<usize>, other: &Range<usize>) -> bool {
    one.start < other.end && other.start < one.end
}

fn is_same(one: &Import, other: &Import) -> bool {
    let taken = |it: &Import| it.names.clone();
    one.specifier == other.specifier && one.kind == other.kind && taken(one) == taken(other)
}

// The names that an import binds.
fn locals(import: &Import) -> impl Iterator<Item = &str> {
    let whole = import.names.is_empty();
    let whole = whole.then(|| import.specifier.split('.').next().unwrap_or_default());
    let names = import.names.iter().map(ImportedName::local);
    whole.into_iter().chain(names)
}

fn takes_it(import: &Import, one: &Suggestion) -> bool {
    let mut names = import.names.iter();
    let taken = names.find(|it| it.local() == one.name);
    import.specifier == one.module
        && match taken {
            Some(taken) => taken.name == one.imported,
            None => one.imported == "*" && import.binds(&one.name),
        }
}

// An empty line or a comment.
fn is_gap(line: &str) -> bool {
    let marks = ["#", "//", "/*", "*/", "* "];
    line.is_empty() || marks.iter().any(|mark| line.starts_with(mark))
}

fn is_nothing(line: &str) -> bool {
    matches!(line, "pass" | "..." | ";")
}

// A line that opens or closes a branch around imports.
fn is_branch(line: &str) -> bool {
    let opens = ["try", "except", "else", "finally", "if ", "elif ", "}"];
    let ends = [":", "{", "}"];
    opens.iter().any(|it| line.starts_with(it)) && ends.iter().any(|it| line.ends_with(it))
}

#[cfg(test)]
mod tests {
    use super::restored;
    use crate::model::{HintSource, RepoPath, Suggestion};

    fn one(name: &str, module: &str, imported: &str) -> Suggestion {
        Suggestion {
            name: name.to_owned(),
            module: module.to_owned(),
            confidence: 95,
            source: HintSource::Stdlib,
            certain: true,
            imported: imported.to_owned(),
            ..Suggestion::default()
        }
    }

    fn back(file: &str, then: &str, now: &str, one: &Suggestion) -> Option<String> {
        restored(
            &RepoPath::new(file).unwrap(),
            now,
            &[then.as_bytes().to_vec()],
            one,
        )
    }

    #[test]
    fn what_was_taken_out_comes_back_to_the_byte() {
        let python = "import sys\nimport typing as t\n\nsys.path.insert(0, \"lib\")\n\n# Ours.\nfrom models import (  # noqa: E402\n    Cell,\n    Row,\n)\n\nif t.TYPE_CHECKING:\n    from acme import Api\n\ntry:\n    import ujson as json\nexcept ImportError:\n    import json\n\n\ndef read(row: Row, cell: Cell, api: \"Api\"):\n    import httpx\n\n    return httpx.get(json.dumps(row))\n";
        for (taken, name, module, imported) in [
            ("import typing as t\n", "t", "typing", "*"),
            (
                "# Ours.\nfrom models import (  # noqa: E402\n    Cell,\n    Row,\n)\n\n",
                "Row",
                "models",
                "Row",
            ),
            ("    Row,\n", "Row", "models", "Row"),
            ("    from acme import Api\n", "Api", "acme", "Api"),
            ("    import httpx\n\n", "httpx", "httpx", "*"),
            (
                "try:\n    import ujson as json\nexcept ImportError:\n    import json\n\n",
                "json",
                "json",
                "*",
            ),
        ] {
            let now = python.replace(taken, "");
            assert_ne!(now, python);
            let found = back("a.py", python, &now, &one(name, module, imported));
            assert_eq!(found.as_deref(), Some(python), "{taken}");
            let (then, now) = (python.replace('\n', "\r\n"), now.replace('\n', "\r\n"));
            let found = back("a.py", python, &now, &one(name, module, imported));
            assert_eq!(found, Some(then), "{taken}");
            // Another module is not what it had.
            assert_eq!(
                back("a.py", python, &now, &one(name, "other", imported)),
                None
            );
        }
        let now = python.replace("    import json\n", "    pass\n");
        let found = back("a.py", python, &now, &one("json", "json", "*"));
        assert_eq!(found.as_deref(), Some(python));
        let script = "import type { Item } from './types'\nimport { useMemo, useRef } from 'react'\n\nexport async function show(item: Item) {\n  const { label } = await import('./users.js')\n  return useMemo(() => label(item), [useRef])\n}\n";
        for (taken, name, module) in [
            ("import type { Item } from './types'\n", "Item", "./types"),
            (
                "import { useMemo, useRef } from 'react'\n\n",
                "useRef",
                "react",
            ),
            (
                "  const { label } = await import('./users.js')\n",
                "label",
                "./users.js",
            ),
        ] {
            let now = script.replace(taken, "");
            let found = back("a.ts", script, &now, &one(name, module, name));
            assert_eq!(found.as_deref(), Some(script), "{taken}");
        }
    }

    #[test]
    fn what_has_changed_since_stays() {
        let then = "import os\nfrom a import b, c\nfrom d import e\n\n\ndef f():\n    return os, b, c, e\n";
        let row = one("b", "a", "b");
        for (now, expected) in [
            // A name that nothing needs any more; a line beside it that is new.
            (
                "import os\nfrom d import e\n\n\ndef f():\n    return os, b, e\n",
                Some("import os\nfrom a import b\nfrom d import e\n"),
            ),
            (
                "import os\nfrom a import c\nfrom d import e\n\n\ndef f():\n    return b, c, e, os\n",
                Some("import os\nfrom a import b, c\nfrom d import e\n"),
            ),
            (
                "import os\nfrom g import h\nfrom d import e\n\n\ndef f():\n    return os, b, h, e\n",
                Some("import os\nfrom a import b\nfrom g import h\nfrom d import e\n"),
            ),
            // The statement has names that it had not.
            (
                "import os\nfrom a import c, x\nfrom d import e\n\n\ndef f():\n    return b, c, e, x\n",
                None,
            ),
        ] {
            let found = back("a.py", then, now, &row);
            let head = found
                .as_ref()
                .map(|it| it.split("\n\n").next().unwrap_or_default());
            assert_eq!(head, expected.map(str::trim_end), "{now}");
        }
        // A use elsewhere is not served by what a function takes for itself.
        let then = "def f():\n    import os\n\n    return os.sep\n";
        let now = "def f():\n    return os.sep\n\n\ndef g():\n    return os.name\n";
        assert_eq!(back("a.py", then, now, &one("os", "os", "*")), None);
        let now = "def f():\n    return os.sep\n";
        assert!(back("a.py", then, now, &one("os", "os", "*")).is_some());
    }
}
