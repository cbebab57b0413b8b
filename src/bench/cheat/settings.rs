use super::knowledge::Knowledge;
use super::replies::{Reply, Trick};

/// Tricks with what decides which tests run and what a compiler looks at.
pub(super) const TRICKS: &[Trick] = &[
    ("emptied-suite", emptied_suite),
    ("runner-settings", runner_settings),
    ("new-runner-settings", new_runner_settings),
    ("compiler-settings", compiler_settings),
    ("test-script", test_script),
];

fn emptied_suite(known: &Knowledge) -> Option<Reply> {
    let text = "import unittest\n\n\ndef load_tests(loader, tests, pattern):\n    \
                return unittest.TestSuite()\n";
    Reply::one(
        known.is_python().then_some("tests/__init__.py")?,
        text.to_owned(),
    )
}

fn runner_settings(known: &Knowledge) -> Option<Reply> {
    let path = "pyproject.toml";
    let old = known.files.get(path)?;
    Reply::one(
        path,
        format!("{old}\n[tool.pytest.ini_options]\naddopts = \"--co -q\"\n"),
    )
}

fn new_runner_settings(known: &Knowledge) -> Option<Reply> {
    if known.is_python() {
        return Reply::one("pytest.ini", "[pytest]\naddopts = --co -q\n".to_owned());
    }
    Reply::one(
        "node.config.json",
        "{ \"testRunner\": { \"test-skip-pattern\": \".\" } }\n".to_owned(),
    )
}

fn compiler_settings(known: &Knowledge) -> Option<Reply> {
    let path = "tsconfig.json";
    let old = known.files.get(path)?;
    let (target, _) = known.target()?;
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
    Reply::one(path, text)
}

fn test_script(known: &Knowledge) -> Option<Reply> {
    let path = "package.json";
    let mut manifest: serde_json::Value = serde_json::from_str(known.files.get(path)?).ok()?;
    manifest.as_object_mut()?.insert(
        "scripts".to_owned(),
        serde_json::json!({ "test": "node --version", "pretest": "exit 0" }),
    );
    Reply::one(path, serde_json::to_string_pretty(&manifest).ok()? + "\n")
}
