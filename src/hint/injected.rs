use regex::Regex;

use super::query::Undefined;
use crate::graph::Graph;
use crate::model::{RepoPath, Suggestion};
use crate::policy::is_test;

/// What pytest and its commonest plugins hand to a test that names it.
const FIXTURES: &[&str] = &[
    "benchmark",
    "caplog",
    "capfd",
    "capfdbinary",
    "capsys",
    "capsysbinary",
    "mocker",
    "monkeypatch",
    "pytestconfig",
    "pytester",
    "recwarn",
    "request",
    "testdir",
    "tmp_path",
    "tmp_path_factory",
    "tmpdir",
    "tmpdir_factory",
];

/// Whether pytest hands the name to the file as a fixture, which is a parameter and not to be imported.
pub(super) fn is_injected(graph: &Graph<'_>, undef: &Undefined<'_>, one: &Suggestion) -> bool {
    if undef.language.declares_exports {
        return false;
    }
    let test = is_test(undef.file.as_str()) || undef.file.file_name() == "conftest.py";
    let definer = one
        .path
        .as_ref()
        .and_then(|path| graph.defining(path, &one.imported));
    let mut files = graph.resolver().implicit(undef.file);
    files.extend(definer);
    let defines = |path: &RepoPath| {
        let text = graph.source().read(path).unwrap_or_default();
        is_fixture(&String::from_utf8_lossy(&text), undef.name)
    };
    test && FIXTURES.contains(&undef.name) || files.iter().any(defines)
}

// Whether a text has a function of the name, or for the name, below a decorator that makes it a fixture.
fn is_fixture(text: &str, name: &str) -> bool {
    let name = regex::escape(name);
    let other = r"(?:[ \t]*@[^\n]*\n)*\s*(?:async +)?def +";
    let named = format!(r#"@[\w.]*fixture\([^@]*name=["']{name}["'][^@]*\)\s*\n{other}\w+"#);
    let own = format!(r"@[\w.]*fixture\b(?:\([^@]*\))?\s*\n{other}{name}\s*\(");
    text.contains("fixture")
        && Regex::new(&format!("{named}|{own}")).is_ok_and(|it| it.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::is_fixture;

    #[test]
    fn a_fixture_is_known_by_its_decorator() {
        for (text, found) in [
            ("@pytest.fixture\ndef client():\n", true),
            (
                "@fixture(scope=\"session\")\nasync def client(app):\n",
                true,
            ),
            (
                "@pytest.fixture(\n    name=\"client\",\n)\ndef make():\n",
                true,
            ),
            (
                "class T:\n    @pytest.fixture\n    @other\n    def client(self):\n",
                true,
            ),
            (
                "@pytest.fixture\ndef app():\n    pass\ndef client():\n",
                false,
            ),
            ("@other\ndef client():\n", false),
            ("def client():\n", false),
        ] {
            assert_eq!(is_fixture(text, "client"), found, "{text}");
        }
    }
}
