//! Types and contracts that the code under test refers to, and definitions that it lacks.

use crate::support::{Repo, texts};

fn shop() -> Repo {
    let body = "  const step = 1;\n".repeat(10);
    let shape = format!(
        "import {{ z }} from 'zod';\nexport const Shape = z.object({{ id: z.string() }});\n\
         export function parse(text: string): Shape {{\n{body}}}\n"
    );
    let others: Vec<(String, String)> = (0..12)
        .map(|n| (format!("src/a{n:02}.ts"), "x.frobnicate();\n".to_owned()))
        .collect();
    let mut files: Vec<(&str, &str)> = vec![
        (
            "src/order.test.ts",
            "import { order } from './order';\norder();\n",
        ),
        (
            "src/order.ts",
            "import { Shape } from './all';\nexport const order = () => Shape;\n",
        ),
        ("src/all.ts", "export * from './shared/shape';\n"),
        ("src/shared/shape.ts", &shape),
    ];
    files.extend(
        others
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str())),
    );
    let repo = Repo::with(&files);
    repo.write("log", "frobnicate failed\n");
    repo
}

#[test]
fn the_contract_behind_a_barrel_gets_a_place_as_signatures() {
    let repo = shop();
    let base = [
        "--target",
        "src/order.test.ts",
        "--log",
        "log",
        "--level",
        "2",
    ];
    let context = repo.context(&[&base[..], &["--max-files", "5"]].concat());
    let included = texts(&context["filesIncluded"], None);
    assert_eq!(included.len(), 6, "{included:?}");
    let files = context["files"].as_array().unwrap().iter();
    let mut contract = files.filter(|it| it["path"] == "src/shared/shape.ts");
    let last = contract.next().unwrap().clone();
    assert_eq!(
        (&last["role"], &last["mode"]),
        (&"closure".into(), &"skeleton".into())
    );
    let content = last["content"].as_str().unwrap();
    assert!(content.contains("export const Shape = z.object") && !content.contains("const step"));
    let why = last["why"].as_str().unwrap();
    assert!(
        why.contains("`Shape`") && why.contains("src/order.ts"),
        "{why}"
    );

    // Where there is room for all, each file is there once.
    let context = repo.context(&base);
    let mut all = texts(&context["filesIncluded"], None);
    all.sort();
    let count = all.len();
    all.dedup();
    assert_eq!((all.len(), count), (16, 16), "{all:?}");
}

#[test]
fn level_one_has_no_place_for_contracts() {
    let repo = shop();
    let base = [
        "--target",
        "src/order.test.ts",
        "--log",
        "log",
        "--level",
        "1",
    ];
    let context = repo.context(&[&base[..], &["--max-files", "3"]].concat());
    let included = texts(&context["filesIncluded"], None);
    assert!(
        !included.contains(&"src/shared/shape.ts".to_owned()),
        "{included:?}"
    );
}

#[test]
fn what_defines_a_missing_name_has_a_place() {
    let busy =
        "def decorate(command, context):\n    return context.decorate(command)\n\n".repeat(40);
    let quiet = "def other():\n    return None\n\n\n".repeat(40);
    let globals = format!("{quiet}def current_state():\n    return {{}}\n");
    let core = format!("from .globals import current_state\n\n\n{busy}");
    let repo = Repo::with(&[
        (
            "tests/test_decorators.py",
            "from pkg.decorators import decorate\n\n\ndef test_decorate():\n    decorate(1, 2)\n",
        ),
        ("pkg/__init__.py", ""),
        (
            "pkg/decorators.py",
            "from . import core\n\n\ndef decorate(command, context):\n    \
             core.decorate(command, current_state())\n",
        ),
        ("pkg/globals.py", &globals),
        ("pkg/core.py", &core),
        ("pkg/command.py", &core.replace("decorate", "command")),
    ]);
    let log = "FAILED tests/test_decorators.py::test_decorate - NameError: name 'current_state' is not \
               defined\npkg/decorators.py:5: NameError\ncore.decorate(command, context)\n";
    repo.write("log", log);
    let context = repo.context(&["--log", "log", "--max-files", "1"]);
    let files = context["files"].as_array().unwrap();
    let found = files.iter().find(|it| it["path"] == "pkg/globals.py");
    let found = found.unwrap_or_else(|| panic!("{:?}", context["filesIncluded"]));
    let shown = found["content"].as_str().unwrap();
    assert!(shown.contains("def current_state():"), "{shown}");
    let why = found["why"].as_str().unwrap();
    assert!(
        why.starts_with("defines `current_state`, which is missing"),
        "{why}"
    );
}
