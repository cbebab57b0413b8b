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
/// Names that come back beside the one that is asked for and that the file no longer needs.
const MAX_UNNEEDED: usize = 40;

/// Lines of an earlier version and those that stand for them now, both counted from 0.
pub type Run = (Range<usize>, Range<usize>);

/// A text beside an earlier version of it.
pub struct Change<'t> {
    now: &'t str,
    then: Cow<'t, str>,
    runs: Vec<Run>,
}

impl<'t> Change<'t> {
    /// What changed since a version, which is read without a mark at its start and with the line ends of the
    /// text; `None` where nothing did.
    #[must_use]
    pub fn since(now: &'t str, version: &'t [u8]) -> Option<Self> {
        let then = std::str::from_utf8(version).ok()?;
        let then = then.strip_prefix('\u{feff}').unwrap_or(then);
        let then = match (now.contains("\r\n"), then.contains("\r\n")) {
            (true, false) => Cow::Owned(then.replace('\n', "\r\n")),
            (false, true) => Cow::Owned(then.replace("\r\n", "\n")),
            _ => Cow::Borrowed(then),
        };
        let mut runs = changed_lines(then.as_bytes(), now.as_bytes());
        runs.truncate(MAX_RUNS);
        (!runs.is_empty()).then_some(Self { now, then, runs })
    }

    /// The runs of lines that changed.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The lines of a run, before and after.
    #[must_use]
    pub fn sides(&self, run: &Run) -> (String, String) {
        let side = |text: &str, range: &Range<usize>| -> String {
            let lines = text.split_inclusive('\n').skip(range.start);
            lines.take(range.len()).collect()
        };
        (side(&self.then, &run.0), side(self.now, &run.1))
    }

    /// The text with some runs taken back, in their order.
    #[must_use]
    pub fn without<'r>(&self, taken: impl IntoIterator<Item = &'r Run>) -> String {
        let now: Vec<&str> = self.now.split_inclusive('\n').collect();
        let (mut text, mut at) = (String::new(), 0);
        for run in taken {
            text.extend(now.get(at..run.1.start).unwrap_or_default().iter().copied());
            text.push_str(&self.sides(run).0);
            at = run.1.end;
        }
        text.extend(now.get(at..).unwrap_or_default().iter().copied());
        text
    }

    /// The text with the one run taken back that makes it good; `None` where two do.
    #[must_use]
    pub fn undone(&self, is_good: &dyn Fn(&str) -> bool) -> Option<String> {
        let texts = self.runs.iter().map(|run| self.without([run]));
        let mut good = texts.filter(|it| is_good(it));
        good.next().filter(|_| good.next().is_none())
    }
}

/// The text with the lines back by which the newest version of `past` that imported the suggested name
/// had it, at the place where they stood. `None` where that version took the name from elsewhere, or where
/// something else than imports changed in the same lines.
pub(super) fn restored(
    file: &RepoPath,
    text: &str,
    past: &[Vec<u8>],
    one: &Suggestion,
) -> Option<String> {
    let (change, old) = past.iter().find_map(|version| {
        let change = Change::since(text, version)?;
        let old = facts(file, change.then.as_bytes());
        let binds = old.imports.iter().any(|it| it.binds(&one.name));
        binds.then_some((change, old))
    })?;
    let current = facts(file, text.as_bytes());
    let lines = import_lines(file, &change.then, &old);
    let own = || {
        let all = old.imports.iter().zip(&lines);
        all.filter(|(it, _)| it.binds(&one.name))
    };
    let is_lost = |run: &&Run| own().any(|(_, it)| it.start < run.0.end && run.0.start < it.end);
    let lost: Vec<&Run> = change.runs.iter().filter(is_lost).collect();
    let back = change.without(lost.iter().copied());
    let mut all = BTreeSet::new();
    all.extend(bound(&current));
    let unneeded = |name: &str| {
        name != one.name && !all.contains(name) && words(text.as_bytes(), name).next().is_none()
    };
    let back = without_unneeded(file, back, &unneeded);
    let found = facts(file, back.as_bytes());
    let mut ways = found.imports.iter().filter(|it| takes_it(it, one));
    let way = ways.clone().find(|it| !it.nested).or(ways.next())?;
    let free = |text: &str| -> BTreeSet<String> {
        let names = free_names(file, text.as_bytes()).into_iter();
        names.filter(|it| !PYTHON.is_global(it)).collect()
    };
    let same = |facts: &FileFacts| {
        let alike = |it: &&Import| it.specifier == one.module && it.kind == way.kind && !it.nested;
        facts.imports.iter().filter(alike).count()
    };
    let errors = |text: &str| syntax_errors(file, text.as_bytes()).len();
    let (names, after) = (bound(&found), free(&back));
    let holds = !lost.is_empty()
        && beside_imports(file, text, &current) == beside_imports(file, &back, &found)
        && all.is_subset(&names)
        && !names.iter().any(|it| unneeded(it))
        && errors(&back) <= errors(text)
        && !after.contains(&one.name)
        && after.is_subset(&free(text))
        // A statement that took other names meanwhile is another.
        && same(&found) <= same(&old).max(same(&current))
        && (!way.nested || serves(file, &change, way, &one.name));
    holds.then_some(back)
}

// The lines that say anything beside imports and the branches around them.
fn beside_imports<'t>(file: &RepoPath, text: &'t str, facts: &FileFacts) -> Vec<&'t str> {
    let imports = import_lines(file, text, facts);
    let marks = ["#", "//", "/*", "*/", "* ", "from __future__"];
    let branches = ["try", "except", "else", "finally", "if ", "elif ", "}"];
    let code = |(at, line): (usize, &'t str)| {
        let line = line.trim();
        let is_empty = matches!(line, "" | "pass" | "..." | ";")
            || marks.iter().any(|it| line.starts_with(it))
            || branches.iter().any(|it| line.starts_with(it)) && line.ends_with([':', '{', '}'])
            || imports.iter().any(|it| it.contains(&at));
        (!is_empty).then_some(line)
    };
    text.lines().enumerate().filter_map(code).collect()
}

// The text without names that came back and that nothing needs.
fn without_unneeded(file: &RepoPath, mut text: String, unneeded: &dyn Fn(&str) -> bool) -> String {
    for _ in 0..MAX_UNNEEDED {
        let found = facts(file, text.as_bytes());
        let all = found.imports.iter().flat_map(|import| {
            let names = import.names.iter().filter(|it| unneeded(it.local()));
            names.map(|it| (&import.specifier, &it.name))
        });
        let less = all
            .into_iter()
            .find_map(|(module, name)| removed(file, &text, &found, module, name));
        match less {
            Some(less) => text = less,
            None => break,
        }
    }
    text
}

// Whether an import within a function or a branch serves all uses: they stood there with it, and
// none that needs a value came to what was there for types.
fn serves(file: &RepoPath, change: &Change<'_>, import: &Import, name: &str) -> bool {
    let is_new = |line: &str| words(line.as_bytes(), name).next().is_some();
    let imports = |line: &str| {
        ["import ", "from "]
            .iter()
            .any(|it| line.trim().starts_with(it))
    };
    let mut sides = change.runs.iter().map(|run| change.sides(run).1);
    let value = |text: &str| uses(file, text.as_bytes(), name).is_some_and(|it| it.value);
    !sides.any(|side| side.lines().any(|line| is_new(line) && !imports(line)))
        && (!import.type_only || !value(change.now) || value(&change.then))
}

/// Whether the lines of an import go back to where they stood in the file that lacks it.
pub(super) fn stands_again(undef: &Undefined<'_>, one: &Suggestion) -> bool {
    let text = std::str::from_utf8(undef.text);
    text.is_ok_and(|text| restored(undef.file, text, undef.past, one).is_some())
}

/// The names that a file's imports bind.
pub(super) fn bound(facts: &FileFacts) -> BTreeSet<String> {
    let locals = facts.imports.iter().flat_map(|import| {
        let whole = import.names.is_empty();
        let whole = whole.then(|| import.specifier.split('.').next().unwrap_or_default());
        whole
            .into_iter()
            .chain(import.names.iter().map(ImportedName::local))
    });
    locals.map(str::to_owned).collect()
}

fn takes_it(import: &Import, one: &Suggestion) -> bool {
    let taken = import.names.iter().find(|it| it.local() == one.name);
    import.specifier == one.module
        && match taken {
            Some(taken) => taken.name == one.imported,
            None => one.imported == "*" && import.binds(&one.name),
        }
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
                None,
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
