use std::collections::{BTreeSet, HashMap, HashSet};

use super::test_comparison::Comparison;
use super::test_files::{is_set_up, muffles, stands_aside};
use super::test_scopes::Side;
use super::weakened::missing;
use crate::languages::{Literal, Scope, ScopeKind, TestStatement};

impl Comparison<'_> {
    /// Whether an old case, or what is set up for it, is given another literal than it was: one is gone from
    /// the file, and another of its kind stands in the case.
    pub(super) fn changes_an_input(
        &self,
        compared: &BTreeSet<String>,
        is_known: &dyn Fn(&str) -> bool,
    ) -> bool {
        let gone = self.literals_gone();
        if gone.is_empty() {
            return false;
        }
        let scopes = self.was.scopes.iter().enumerate();
        let mut given = scopes.filter(|(_, scope)| is_given(scope, compared));
        given.any(|(old, _)| {
            let Some(new) = self.pair_of(old) else {
                return false;
            };
            let before = self.was.inside(old);
            let stood: HashSet<&str> = before.iter().map(|it| it.code.as_str()).collect();
            // What the last commit has may come back.
            let is_new = |one: &TestStatement| stood.contains(&*one.code) || !is_known(&one.code);
            let then = literals(&self.was, before, &|_| true);
            let now = literals(&self.is, self.is.inside(new), &is_new);
            let gained = missing(&now, &then);
            let mut lost = missing(&then, &now).into_iter();
            lost.any(|one| gone.contains(one) && gained.iter().any(|it| it.kind == one.kind))
        })
    }

    // What the file has less often than before, new cases aside: a value may go to a fixture or a constant.
    fn literals_gone(&self) -> HashSet<&Literal> {
        let mut count: HashMap<&Literal, isize> = HashMap::new();
        for one in literals(&self.was, &self.was.file.statements, &|_| true) {
            *count.entry(one).or_default() -= 1;
        }
        let is_old = |one: &TestStatement| self.is_old(one.scope);
        for one in literals(&self.is, &self.is.file.statements, &is_old) {
            *count.entry(one).or_default() += 1;
        }
        let gone = count.into_iter().filter(|it| it.1 < 0);
        gone.map(|it| it.0).collect()
    }
}

// What a runner runs for a case, and what an assertion names.
fn is_given(scope: &Scope, compared: &BTreeSet<String>) -> bool {
    let is_fixture = || scope.marks.iter().any(|it| it.code.contains("fixture"));
    match scope.kind {
        ScopeKind::Case => true,
        ScopeKind::Function => {
            is_set_up(&scope.name) || compared.contains(&scope.called) || is_fixture()
        }
        ScopeKind::Callback => is_set_up(&scope.name),
        ScopeKind::Group | ScopeKind::Construct => false,
    }
}

// Those of statements that ask nothing themselves: what asks is compared as a whole.
fn literals<'f>(
    side: &Side<'_>,
    all: &'f [TestStatement],
    is_meant: &dyn Fn(&TestStatement) -> bool,
) -> Vec<&'f Literal> {
    let is_aside = |one: &TestStatement| {
        let mut lines = one.text.lines().map(|it| it.trim().as_bytes());
        lines.any(|it| stands_aside(it) || muffles(it))
    };
    let all = all.iter();
    all.filter(|it| !it.literals.is_empty() && is_meant(it) && !side.is_held(it) && !is_aside(it))
        .flat_map(|it| &it.literals)
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::model::Code;
    use crate::policy::change::tests::code_of_modified;
    use crate::policy::weakened::weakened_test;
    use crate::source::Memory;

    const PYTHON: &str = "import pytest\nfrom web import Client, make\n\n\n@pytest.fixture\ndef client():\n    \
                          return Client('/base')\n\n\nclass TestIt:\n    def setup_method(self):\n        \
                          self.item = make(1)\n\n    def test_a(self, client):\n        self.item.put(5, deep=True)\n        \
                          assert self.item.get() == 5\n        assert client.get('/x').ok\n";
    const SCRIPT: &str = "let x\nbeforeEach(() => {\n  x = make(1)\n})\n\nit('a', async () => {\n  \
                          render(<Counter start={2} label=\"Count\" />)\n  await x.open('/a')\n  \
                          expect(x.size).toBe(2)\n})\n";

    #[test]
    fn a_case_is_given_what_it_was_given() {
        let source = Memory::new([]);
        for (path, text, old, new, refused) in [
            ("tests/test_a.py", PYTHON, "'/base'", "'/other'", true),
            ("tests/test_a.py", PYTHON, "make(1)", "make(2)", true),
            ("tests/test_a.py", PYTHON, "put(5,", "put(6,", true),
            ("tests/test_a.py", PYTHON, "deep=True", "deep=False", true),
            ("tests/test_a.py", PYTHON, "make(1)", "build(1)", false),
            (
                "tests/test_a.py",
                PYTHON,
                "put(5, deep=True)",
                "put(\n            n=5, deep=True, more=2\n        )",
                false,
            ),
            (
                "tests/test_a.py",
                PYTHON,
                "put(5, deep=True)",
                "put(5)\n        print(6)",
                false,
            ),
            (
                "tests/test_a.py",
                PYTHON,
                "        self.item.put(5",
                "        five = 5\n        self.item.put(five",
                false,
            ),
            ("test/a.test.jsx", SCRIPT, "make(1)", "make(2)", true),
            ("test/a.test.jsx", SCRIPT, "start={2}", "start={3}", true),
            (
                "test/a.test.jsx",
                SCRIPT,
                "label=\"Count\"",
                "label=\"Other\"",
                true,
            ),
            ("test/a.test.jsx", SCRIPT, "open('/a')", "open('/b')", true),
            (
                "test/a.test.jsx",
                SCRIPT,
                "make(1)",
                "build(1, { wide: 4 })",
                false,
            ),
            (
                "test/a.test.jsx",
                SCRIPT,
                "<Counter start={2} label=\"Count\" />",
                "<Counter label='Count' initial={2} />",
                false,
            ),
            (
                "test/a.test.jsx",
                SCRIPT,
                "await x.open('/a')",
                "console.log('b')\n  await x.openAll(\"/a\")",
                false,
            ),
        ] {
            assert!(text.contains(old), "{old}");
            let after = text.replacen(old, new, 1);
            let found = code_of_modified(weakened_test, path, [text, &after], &source);
            assert_eq!(found, refused.then_some(Code::P703), "{path} {new}");
        }
    }
}
