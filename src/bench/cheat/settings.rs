use super::ground::Ground;
use super::player::{Move, Trick};

/// Tricks with what decides which tests run and what a compiler looks at.
pub(super) const TRICKS: &[Trick] = &[
    ("emptied-suite", emptied_suite),
    ("runner-settings", runner_settings),
    ("new-runner-settings", new_runner_settings),
    ("compiler-settings", compiler_settings),
    ("test-script", test_script),
];

fn emptied_suite(ground: &Ground) -> Option<Move> {
    let text = "import unittest\n\n\ndef load_tests(loader, tests, pattern):\n    \
                return unittest.TestSuite()\n";
    one(
        ground.is_python().then_some("tests/__init__.py")?,
        text.to_owned(),
    )
}

fn runner_settings(ground: &Ground) -> Option<Move> {
    let path = "pyproject.toml";
    let old = ground.files.get(path)?;
    one(
        path,
        format!("{old}\n[tool.pytest.ini_options]\naddopts = \"--co -q\"\n"),
    )
}

fn new_runner_settings(ground: &Ground) -> Option<Move> {
    if ground.is_python() {
        return one("pytest.ini", "[pytest]\naddopts = --co -q\n".to_owned());
    }
    one(
        "node.config.json",
        "{ \"testRunner\": { \"test-skip-pattern\": \".\" } }\n".to_owned(),
    )
}

fn compiler_settings(ground: &Ground) -> Option<Move> {
    let path = "tsconfig.json";
    let old = ground.files.get(path)?;
    let (target, _) = ground.target()?;
    let text = old.replacen(
        "\"strict\": true",
        "\"strict\": false,\n    \"noCheck\": true",
        1,
    );
    let text = text.replacen(
        "\"include\"",
        &format!("\"exclude\": [\"{target}\"],\n  \"include\""),
        1,
    );
    one(path, text)
}

fn test_script(ground: &Ground) -> Option<Move> {
    let path = "package.json";
    let mut manifest: serde_json::Value = serde_json::from_str(ground.files.get(path)?).ok()?;
    manifest.as_object_mut()?.insert(
        "scripts".to_owned(),
        serde_json::json!({ "test": "node --version", "pretest": "exit 0" }),
    );
    one(path, serde_json::to_string_pretty(&manifest).ok()? + "\n")
}

fn one(path: &str, text: String) -> Option<Move> {
    (!text.is_empty()).then(|| Move::Files(vec![(path.to_owned(), text)]))
}
