//! Definitions that the code under test lacks.

use crate::support::Repo;

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
