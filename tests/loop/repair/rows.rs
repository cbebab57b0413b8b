//! A sample of the rows of `tests/loop/tricks`; `scripts/proof_rows.py` tries all of them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::world::{World, has_program, needs};

#[derive(Deserialize)]
struct Worlds {
    world: BTreeMap<String, Project>,
}

// A project whose test fails.
#[derive(Deserialize)]
struct Project {
    command: String,
    app: String,
    text: String,
    wrong: String,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Rows {
    row: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    class: String,
    world: String,
    app: Option<String>,
    // It is known to end as fixed; a row that no longer does loses the mark.
    #[serde(default)]
    missed: bool,
    #[serde(default)]
    files: BTreeMap<String, String>,
}

fn worlds() -> BTreeMap<String, Project> {
    let table: Worlds = toml::from_str(include_str!("../tricks/worlds.toml")).unwrap();
    table.world
}

fn rows(text: &str) -> Vec<Row> {
    toml::from_str::<Rows>(text).unwrap().row
}

// The result of a repair that an agent tries with what a row says.
fn result_of(project: &Project, row: &Row) -> Value {
    let app = project.text.replace("{}", &project.wrong);
    let mut files: Vec<(&str, &str)> = vec![(&project.app, &app)];
    files.extend(project.files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    let world = World::with(&files);
    let mut changed = row.files.clone();
    if let Some(app) = &row.app {
        changed.insert(project.app.clone(), project.text.replace("{}", app));
    }
    let changed: Vec<Value> = changed
        .iter()
        .map(|(path, content)| serde_json::json!({ "path": path, "content": content }))
        .collect();
    let reply = serde_json::json!({ "status": "patch", "files": changed }).to_string();
    let agent = world.agent(&[&reply], "");
    let arguments = [
        "--no-heal", "--max-attempts", "1", "--test", &project.command, "--agent", &agent,
    ];
    world.repair(&arguments);
    world.json("result.json")
}

fn runs_here(project: &Project) -> bool {
    let plain =
        project.command.starts_with("python3 -m unittest") || project.command.starts_with("node ");
    plain && has_program(project.command.split(' ').next().unwrap())
}

#[test]
fn tricks_are_unproven() {
    let worlds = worlds();
    let mut seen: BTreeMap<(String, bool), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    let tables = [
        include_str!("../tricks/python.toml"),
        include_str!("../tricks/javascript.toml"),
    ];
    for (is_script, table) in tables.into_iter().enumerate() {
        for row in rows(table).iter().filter(|it| it.class != "hard-coded") {
            let project = &worlds[&row.world];
            let count = seen.entry((row.class.clone(), is_script == 1)).or_default();
            if *count > 0 || !runs_here(project) {
                continue;
            }
            *count += 1;
            let result = result_of(project, row);
            let fixed = result["status"] == "fixed";
            if fixed != row.missed {
                wrong.push(format!("{} {:?}: {}", row.class, row.app, result["status"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn honest_fixes_are_proven() {
    let worlds = worlds();
    let rows = rows(include_str!("../tricks/honest.toml"));
    let mut last = "";
    for row in &rows {
        let project = &worlds[&row.world];
        if last == row.world || !runs_here(project) {
            continue;
        }
        last = &row.world;
        let result = result_of(project, row);
        assert_eq!(result["status"], "fixed", "{:?}: {result:#}", row.app);
    }
}

// What a test can see of who runs it.
#[test]
fn tests_cannot_detect_mendit() {
    needs!("python3");
    let probe = "import os, sys, unittest\n\nfrom app import f\n\n\nclass T(unittest.TestCase):\n    def test_f(self):\n        \
                 seen = [str(os.environ), os.getcwd(), str(sys.argv), str(sys.path), str(list(sys.modules)), str(os.listdir('.'))]\n        \
                 if os.path.exists('/proc/self/mounts'):\n            seen += [line.split()[0] for line in open('/proc/self/mounts')]\n        \
                 name = 'men' 'dit'\n        traces = [it for it in seen if name in it.lower()]\n        \
                 self.assertEqual(traces, [])\n        self.assertEqual(f(), 2)\n";
    let world = World::with(&[
        ("app.py", "def f():\n    return 1\n"),
        ("test_app.py", probe),
    ]);
    std::fs::create_dir_all(world.repo.root().join(".mendit")).unwrap();
    let fix = "def f():\n    return 2\n";
    let reply =
        serde_json::json!({ "status": "patch", "files": [{ "path": "app.py", "content": fix }] });
    let agent = world.agent(&[&reply.to_string()], "");
    world.repair(&[
        "--no-heal", "--test", "python3 -m unittest", "--agent", &agent,
    ]);
    let result = world.json("result.json");
    assert_eq!(result["status"], "fixed", "{}", world.text("baseline.log"));
}
