use std::collections::HashMap;

use super::change::{ChangeRules, ChangedFile, LET_PASS};
use super::test_comparison::Comparison;
use super::test_files::{
    is_assertion, is_comment, is_foreign_program, is_skip, is_test, is_test_head, is_test_name,
    is_test_text, muffles,
};
use crate::languages::test_file;
use crate::model::{Code, Operation, PatchProblem, RepoPath, file_name};

/// Refuses a change after which an existing test asks for less. Where both sides parse, their trees are
/// compared: every assertion comes back token for token, below the same constructs, in a test that is
/// still collected; and what it compares with is what it was. Else lines are.
pub(super) fn weakened_test(
    file: &ChangedFile<'_>,
    rules: &ChangeRules<'_>,
) -> Option<PatchProblem> {
    let before = file.before?;
    let is_run = rules.run.get(file.path).is_some_and(|file| file.is_test);
    let is_one = is_run || is_test(file.path) || is_test_text(file.path, before);
    if !is_one || file.operation == Operation::Copy {
        return None;
    }
    let refuse = |what: &str| {
        Some(PatchProblem::new(
            Code::P703,
            format!("the patch {what} an existing test: {LET_PASS}"),
        ))
    };
    let after = match file.after {
        Some(after) if file.operation != Operation::Delete => after,
        _ if rules
            .created
            .iter()
            .any(|(path, bytes)| collects_as(path, file.path) && *bytes == before) =>
        {
            return None;
        }
        _ => return refuse("deletes"),
    };
    if before == after {
        return None;
    }
    if file.path.contains("__snapshots__/") || file.path.ends_with(SNAPSHOT) {
        return refuse("rewrites the snapshot of");
    }
    let read = |bytes: &[u8]| test_file(&RepoPath::new(file.path).ok()?, bytes);
    let (Some(was), Some(is)) = (read(before), read(after)) else {
        return refuse(fewer_lines(file.path, before, after)?);
    };
    let committed = || (rules.committed)(file.path).and_then(|bytes| read(&bytes));
    let is_stand_in = |module: &str| stands_in(module, file.path, rules);
    let what = Comparison::of(&was, &is).loses(&committed, &is_stand_in)?;
    refuse(what)
}

// Whether a runner that finds the one as a test finds the other, too.
fn collects_as(path: &str, other: &str) -> bool {
    is_test(path) && (is_test_name(file_name(path)) || !is_test_name(file_name(other)))
}

// Whether a module is a file that the change makes among the tests.
fn stands_in(module: &str, path: &str, rules: &ChangeRules<'_>) -> bool {
    let slashed = module.replace('.', "/");
    let name = slashed.rsplit('/').next().unwrap_or_default();
    let folder = |path: &str| {
        path.rsplit_once('/')
            .map_or(String::new(), |it| it.0.to_owned())
    };
    let folder_of_test = folder(path);
    rules.created.keys().any(|made| {
        let stem = file_name(made).split('.').next().unwrap_or_default();
        let stem = if stem == "__init__" || stem == "index" {
            file_name(made.rsplit_once('/').map_or("", |it| it.0))
        } else {
            stem
        };
        !name.is_empty() && stem == name && (is_test(made) || folder(made) == folder_of_test)
    })
}

pub(super) const ALTERS: &str = "removes or alters an assertion of";
pub(super) const REMOVES: &str = "removes a case of";
pub(super) const MUFFLES: &str = "takes the force from a case of";
pub(super) const SKIPS: &str = "skips a case of";
const SNAPSHOT: &str = ".snap";

// Of files that are not read as trees.
fn fewer_lines(path: &str, before: &[u8], after: &[u8]) -> Option<&'static str> {
    let (removed, added) = changed_lines(before, after);
    let foreign = is_foreign_program(path);
    let loses =
        |line: &&[u8]| is_assertion(line) || foreign && !line.is_empty() && !is_comment(line);
    if removed.iter().any(loses) {
        return Some(ALTERS);
    }
    let count = |lines: &[&[u8]], is: fn(&[u8]) -> bool| lines.iter().filter(|it| is(it)).count();
    let (gone, come) = (count(&removed, is_test_head), count(&added, is_test_head));
    if gone > come {
        return Some(REMOVES);
    }
    // New cases may be written in any way; old ones may not be made to say nothing.
    if come == gone && added.iter().any(|line| muffles(line)) {
        return Some(MUFFLES);
    }
    // A new case may be born skipped; an old one may not be made so.
    (count(&added, is_skip) > come - gone).then_some(SKIPS)
}

/// Lines that are in one side only, as a multiset, white space at both ends aside.
pub(super) fn changed_lines<'a>(
    before: &'a [u8],
    after: &'a [u8],
) -> (Vec<&'a [u8]>, Vec<&'a [u8]>) {
    let lines = |bytes: &'a [u8]| bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let (before, after): (Vec<&[u8]>, Vec<&[u8]>) =
        (lines(before).collect(), lines(after).collect());
    (missing(&before, &after), missing(&after, &before))
}

/// What of the one is not in the other, as a multiset.
pub(super) fn missing<T: Copy + Eq + std::hash::Hash>(one: &[T], other: &[T]) -> Vec<T> {
    let mut left: HashMap<T, usize> = HashMap::new();
    for it in other {
        *left.entry(*it).or_default() += 1;
    }
    let mut found = Vec::new();
    for it in one {
        match left.get_mut(it).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None => found.push(*it),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Comparison, weakened_test};
    use crate::languages::test_file;
    use crate::model::RepoPath;
    use crate::policy::change::tests::code_of_modified;

    fn is_refused(path: &str, before: &str, after: &str) -> bool {
        let source = crate::source::Memory::new([]);
        code_of_modified(weakened_test, path, [before, after], &source).is_some()
    }

    const PYTHON: &str = r#"import pytest
from shop import total, vat

ORDER = {"a": 1}
EXPECTED = {
    "a": 19,
}


@pytest.mark.parametrize("n, want", [(1, 2), (3, 4)])
def test_rows(n, want):
    assert total(n) == want


class TestShop:
    def test_total(self):
        assert total(ORDER) == {
            "a": 19,
            "b": 38,
        }
        assert vat(1) == EXPECTED

    def test_raises(self):
        with pytest.raises(ValueError):
            total(None)
"#;

    #[test]
    fn a_test_of_python_keeps_what_it_asks() {
        let held = "        assert vat(1) == EXPECTED\n";
        let below = |head: &str| format!("        {head}\n    {held}");
        for (old, new) in [
            ("\"b\": 38", "\"b\": 39"),
            ("\"a\": 19,\n}", "\"a\": 20,\n}"),
            ("{\"a\": 1}", "{\"a\": 2}"),
            ("(1, 2), ", ""),
            ("(1, 2)", "pytest.param(1, 2, marks=pytest.mark.xfail)"),
            (held, &below("if vat(1) == EXPECTED:")),
            (held, &below("for _ in []:")),
            (held, &below("def later():")),
            (held, &below("with pytest.raises(AssertionError):")),
            (held, &format!("        \"\"\"\n{held}        \"\"\"\n")),
            (
                held,
                &format!("        if ORDER:\n            return\n{held}"),
            ),
            (held, &format!("        vat = lambda n: EXPECTED\n{held}")),
            (
                "            total(None)",
                "            raise ValueError\n            total(None)",
            ),
            ("            total(None)", "            total(0)"),
            ("def test_total", "def tst_total"),
            ("class TestShop", "class Old"),
            (
                "    def test_total",
                "    @pytest.fixture\n    def test_total",
            ),
            (
                "import total, vat",
                "import total\nfrom shop import total as vat",
            ),
            (
                "\n\nclass TestShop",
                "\n\ndel test_rows\n\n\nclass TestShop",
            ),
            (
                "\n\nclass TestShop",
                "\n\ntest_rows = None\n\n\nclass TestShop",
            ),
            (
                "\n\nclass TestShop",
                "\n\ndef test_rows():\n    pass\n\n\nclass TestShop",
            ),
            (
                "import pytest\n",
                "import pytest\n\npytest.importorskip(\"x\")\n",
            ),
        ] {
            assert!(PYTHON.contains(old), "{old}");
            assert!(
                is_refused("tests/test_a.py", PYTHON, &PYTHON.replacen(old, new, 1)),
                "{new}"
            );
        }
        for (old, new) in [
            (
                held,
                "        assert (\n            vat(1)\n            == EXPECTED  # why\n        )\n",
            ),
            ("\"a\": 19,\n            \"b\": 38,\n", "'a': 19, 'b': 38"),
            ("(1, 2), ", "(1, 2), (5, 6), "),
            ("def test_total", "def test_whole"),
            ("class TestShop", "class TestStore"),
            (
                "    def test_total",
                "    @pytest.mark.asyncio\n    def test_total",
            ),
            (
                "from shop import total, vat",
                "from store import total\nfrom tax import vat",
            ),
            (held, &format!("{held}        assert vat(2)\n")),
            (held, &format!("        print(1)\n{held}")),
            (held, &format!("{held}        vat = 1\n{held}")),
            (
                "    def test_raises",
                "    def test_raises(self):\n        pass\n\n    def test_it_raises",
            ),
            (
                "\n\nclass TestShop",
                "\n\ndef test_b():\n    return\n\n\nclass TestShop",
            ),
        ] {
            assert!(PYTHON.contains(old), "{old}");
            assert!(
                !is_refused("tests/test_a.py", PYTHON, &PYTHON.replacen(old, new, 1)),
                "{new}"
            );
        }
    }

    const SCRIPT: &str = r"import { describe, expect, it, test } from 'vitest'
import { format } from '../src'

const want = '1.00'

describe('money', () => {
  it('formats', () => {
    expect(
      format(100),
    ).toEqual({
      total: '1.00',
    })
    expect(format(100)).toBe(want)
  })
})

test.each([
  [1, 'a'],
  [2, 'b'],
])('row %i', (n, it) => expect(format(n)).toBe(it))
";

    #[test]
    fn a_test_of_javascript_keeps_what_it_asks() {
        let held = "    expect(format(100)).toBe(want)\n";
        for (old, new) in [
            ("total: '1.00'", "total: expect.anything()"),
            ("      format(100),", "      format(200),"),
            ("want = '1.00'", "want = '2.00'"),
            ("  [1, 'a'],\n", ""),
            (held, &format!("    try {{\n{held}    }} catch {{}}\n")),
            (held, &format!("    const f = () => {{\n{held}    }}\n")),
            (held, &format!("    /*\n{held}    */\n")),
            (
                held,
                &format!("    if (format(100) !== want) return\n{held}"),
            ),
            (held, "    false && expect(format(100)).toBe(want)\n"),
            ("'formats', ()", "'formats', { retry: 5 }, ()"),
            ("it('formats'", "it.skipIf(true)('formats'"),
            ("test.each", "test.only.each"),
            ("describe('money'", "describe.skip('money'"),
            (
                "describe('money'",
                "const format = () => '1.00'\ndescribe('money'",
            ),
            ("describe('money'", "expect.extend({})\ndescribe('money'"),
            ("describe('money'", "if (false) describe('money'"),
        ] {
            assert!(SCRIPT.contains(old), "{old}");
            assert!(
                is_refused("test/a.test.ts", SCRIPT, &SCRIPT.replacen(old, new, 1)),
                "{new}"
            );
        }
        for (old, new) in [
            (
                "    expect(\n      format(100),\n    )",
                "    expect(format(100))",
            ),
            (held, "    // why\n    expect(format(100)).toBe(want);\n"),
            ("total: '1.00'", "total: \"1.00\""),
            ("  [1, 'a'],\n", "  [1, 'a'],\n  [3, 'c'],\n"),
            ("'formats', ()", "'formats', { timeout: 5 }, async ()"),
            ("it('formats'", "it('formats well'"),
            ("describe('money'", "describe('amounts'"),
            (held, &format!("{held}    expect(1).toBe(1)\n")),
            (
                "const want",
                "const on = make(() => {\n  const want = 1\n  return want\n})\nconst want",
            ),
            (
                "  it('formats'",
                "  it('more', () => {\n    return\n  })\n  it('formats'",
            ),
        ] {
            assert!(SCRIPT.contains(old), "{old}");
            assert!(
                !is_refused("test/a.test.ts", SCRIPT, &SCRIPT.replacen(old, new, 1)),
                "{new}"
            );
        }
    }

    #[test]
    fn of_two_functions_of_one_name_each_keeps_what_it_asks() {
        let one = "    @on\n    def read():\n        assert f() == 1\n\n";
        let other = "    @on\n    def read():\n        assert g() == 2\n\n";
        let before = format!("def test_a():\n{one}{other}    run()\n");
        let after = |other: &str| format!("def test_a():\n{one}{other}    run()\n");
        let renamed = other.replace("read", "read_again");
        let path = "tests/test_a.py";
        assert!(!is_refused(path, &before, &after(&renamed)));
        assert!(is_refused(
            path,
            &before,
            &after(&renamed.replace('2', "3"))
        ));
    }

    #[test]
    fn a_file_is_as_strong_as_itself() {
        for (path, text) in [("a.py", PYTHON), ("a.ts", SCRIPT)] {
            let read = || test_file(&RepoPath::new(path).unwrap(), text.as_bytes()).unwrap();
            let (one, other) = (read(), read());
            let found = Comparison::of(&one, &other).loses(&|| None, &|_| false);
            assert_eq!(found, None, "{path}");
        }
    }
}
