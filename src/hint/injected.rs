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

/// What runners of scripts put into the global scope of a test.
const GLOBALS: &[&str] = &[
    "after",
    "afterAll",
    "afterEach",
    "assert",
    "assertType",
    "before",
    "beforeAll",
    "beforeEach",
    "chai",
    "context",
    "describe",
    "expect",
    "expectTypeOf",
    "it",
    "jest",
    "onTestFailed",
    "onTestFinished",
    "suite",
    "test",
    "vi",
    "vitest",
    "xdescribe",
    "xit",
];

/// What Playwright hands to a test that takes it out of its first parameter.
const PAGES: &[&str] = &["browser", "browserName", "context", "page", "request"];

/// Runners whose globals are there unless the settings say otherwise.
const GLOBAL_RUNNERS: &[&str] = &["jest", "mocha", "jasmine", "cypress"];

const ENDS: &[&str] = &["ts", "mts", "cts", "js", "mjs", "cjs"];

/// Whether the name is handed to the file by what runs it: a fixture, which is a parameter and not to be
/// imported, or a global of a test runner.
pub(super) fn is_injected(graph: &Graph<'_>, asked: &Undefined<'_>, one: &Suggestion) -> bool {
    let test = is_test(asked.file.as_str()) || asked.file.file_name() == "conftest.py";
    if asked.language.declares_exports {
        return test && is_global(graph, asked, one);
    }
    let definer = one
        .path
        .as_ref()
        .and_then(|path| graph.defining(path, &one.imported));
    let mut files = graph.resolver().implicit(asked.file);
    files.extend(definer);
    let defines = |path: &RepoPath| {
        let text = graph.source().read(path).unwrap_or_default();
        is_fixture(&String::from_utf8_lossy(&text), asked.name)
    };
    test && FIXTURES.contains(&asked.name) || files.iter().any(defines)
}

// Whether a text has a function of the name, or for the name, below a decorator that makes it a fixture.
fn is_fixture(text: &str, name: &str) -> bool {
    let renamed = [format!("name=\"{name}\""), format!("name='{name}'")];
    let (mut decorated, mut meant) = (false, false);
    for line in text.lines().map(str::trim_start) {
        let function = line.strip_prefix("async ").unwrap_or(line);
        if let Some(rest) = function.strip_prefix("def ") {
            let own = rest
                .strip_prefix(name)
                .is_some_and(|it| it.trim_start().starts_with('('));
            if decorated && (own || meant) {
                return true;
            }
        }
        if line.starts_with('@') {
            let called = line.split('(').next().unwrap_or_default();
            decorated |= called.ends_with("fixture");
        } else if line.starts_with("def ")
            || line.starts_with("class ")
            || line.starts_with("async ")
        {
            (decorated, meant) = (false, false);
        }
        meant |= decorated && renamed.iter().any(|it| line.contains(it.as_str()));
    }
    false
}

fn is_global(graph: &Graph<'_>, asked: &Undefined<'_>, one: &Suggestion) -> bool {
    if one.path.is_some() {
        return false;
    }
    let resolver = graph.resolver();
    let takes = |module: &str| asked.facts.imports.iter().any(|it| it.specifier == module);
    if PAGES.contains(&asked.name) && takes("@playwright/test") {
        return true;
    }
    if !GLOBALS.contains(&asked.name) {
        return false;
    }
    let declares = |package: &str| resolver.declares(asked.file, package);
    let settings = |names: &[&str], ends: &[&str], says: &[&str]| {
        names.iter().any(|name| {
            ends.iter().any(|end| {
                let text = resolver.text_above(asked.file, &format!("{name}.{end}"));
                let text = text.map(|it| it.split_whitespace().collect::<String>());
                text.is_some_and(|text| says.iter().any(|it| text.contains(it)))
            })
        })
    };
    if one.module == "vitest" {
        let names = [
            "vitest.config",
            "vite.config",
            "vitest.workspace",
            "vitest.shared",
        ];
        return settings(
            &names,
            ENDS,
            &["globals:true", "\"globals\":true", "--globals"],
        ) || settings(&["package"], &["json"], &["--globals"]);
    }
    // A file that takes other names from the same module does without the globals.
    let off = ["injectGlobals:false", "\"injectGlobals\":false"];
    let global = GLOBAL_RUNNERS.iter().any(|it| declares(it)) && !takes(&one.module);
    global && !settings(&["jest.config"], ENDS, &off) && !settings(&["package"], &["json"], &off)
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
