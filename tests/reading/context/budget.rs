//! Budgets that fail loudly, remedies that work, and packets that send only what is new.

use crate::support::{Repo, texts};

fn shop() -> Repo {
    let body = "export const filler = 'some text to take up room';\n".repeat(40);
    let files: Vec<(String, String)> = (0..12)
        .map(|n| {
            (
                format!("src/m{n:02}.ts"),
                format!("export const v{n} = {n};\n{body}"),
            )
        })
        .collect();
    let imports: String =
        (0..12).map(|n| format!("import {{ v{n} }} from './m{n:02}';\n")).collect();
    let mut all: Vec<(&str, &str)> = vec![("src/a.ts", &imports)];
    all.extend(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    Repo::with(&all)
}

#[test]
fn remedies_fix_their_failure() {
    let repo = shop();
    let base = ["src/a.ts", "--level", "1"];
    let first_of = |extra: &[&str], code: &str| {
        let context = repo.context(&[&base[..], extra].concat());
        let omitted = context["omitted"].as_array().unwrap();
        let first = omitted.iter().find(|row| row["code"] == code).unwrap();
        let remedy = first["remedy"].as_str().unwrap().to_owned();
        (first["path"].as_str().unwrap().to_owned(), remedy)
    };
    for (extra, code) in [
        (&[][..], "C101"),
        (&["--max-total-bytes", "3000"], "C102"),
        (&["--max-tokens", "1000"], "C103"),
    ] {
        let (path, remedy) = first_of(extra, code);
        let flags = remedy.split(", ").filter(|it| it.starts_with("--"));
        let flags: Vec<&str> = flags.flat_map(|it| it.split(' ')).collect();
        let context = repo.context(&[&base[..], &flags].concat());
        let included = texts(&context["filesIncluded"], None);
        assert!(
            included.contains(&path),
            "{code}: {remedy}: {path} is not in {included:?}"
        );
    }
    assert!(first_of(&[], "C101").1.starts_with("--max-files 11"));
    // With more tokens other files come in too.
    let (path, remedy) = first_of(&["--max-tokens", "1000"], "C103");
    assert_eq!(remedy, format!("--request-path {path}"));
}

// A large module that lost an import, the module that has it, and others that take it from there.
fn without_an_import() -> Repo {
    let body = "    value = value + 1  # one more line that says nothing\n".repeat(30);
    let functions: String = (0..60)
        .map(|n| format!("def step_{n}(value):\n{body}    return value\n\n\n"))
        .collect();
    let core = format!("import os\n\n\n{functions}class Context:\n    formatter = Formatter\n");
    Repo::with(&[
        ("pkg/__init__.py", "from .core import Context as Context\n"),
        ("pkg/core.py", &core),
        ("pkg/formatting.py", "class Formatter:\n    width = 80\n"),
        (
            "pkg/table.py",
            "from .formatting import Formatter\n\nShown = Formatter\n",
        ),
        ("tests/test_core.py", "from pkg import Context\n"),
    ])
}

#[test]
fn certain_import_makes_packet_short() {
    let repo = without_an_import();
    let trace = "tests/test_core.py:1: in <module>\n    from pkg import Context\n\
        pkg/__init__.py:1: in <module>\n    from .core import Context as Context\n\
        pkg/core.py:2044: in <module>\n    formatter = Formatter\n\
        E   NameError: name 'Formatter' is not defined\n";
    let other = "FAILED tests/test_core.py::test_a - NameError: name 'Formatter' is not defined\n\
        FAILED tests/test_core.py::test_b - AssertionError: assert 1 == 2\n";
    for (log, extra, short) in [
        (trace.to_owned(), &[][..], true),
        (format!("{trace}{other}"), &[][..], false),
        (
            trace.to_owned(),
            &["--stop-reason", "tests_failed"][..],
            false,
        ),
        (trace.to_owned(), &["--max-tokens", "9000"][..], false),
    ] {
        repo.write("test.log", &log);
        let context = repo.context(&[&["--log", "test.log"][..], extra].concat());
        assert_eq!(
            texts(&context["hints"], None),
            ["from .formatting import Formatter"]
        );
        let tokens = context["totalTokens"].as_u64().unwrap();
        assert_eq!(tokens < 4000, short, "{tokens} {extra:?}");
    }
}
