use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{self, Repo};
pub(crate) use crate::support::{builds_in_temporary, has_program, needs};

/// A repository, and beside it the scripts that act as agents.
pub(crate) struct World {
    pub(crate) repo: Repo,
}

impl World {
    pub(crate) fn with(files: &[(&str, &str)]) -> Self {
        Self {
            repo: Repo::with(files),
        }
    }

    /// A repository whose test wants `ANSWER` to be 42; it needs no more than a shell.
    pub(crate) fn shell() -> Self {
        Self::with(&[
            ("answer.sh", "ANSWER=41\n"),
            ("other.sh", "OTHER=1\n"),
            ("check.sh", CHECK),
        ])
    }

    /// A repository of which one file lacks an import that another has.
    pub(crate) fn of_engine() -> Self {
        Self::with(&[
            ("pkg/__init__.py", ""),
            ("pkg/core.py", "class Engine:\n    pass\n"),
            ("pkg/one.py", "from pkg.core import Engine\n\nEngine()\n"),
            ("pkg/two.py", "Engine()\n"),
        ])
    }

    /// A file beside the repository.
    pub(crate) fn outside(&self, name: &str) -> PathBuf {
        self.repo.outside().join(name)
    }

    /// Returns an agent that gives these replies in turn, then the last one again, and counts its calls. It runs
    /// the script `run` before it answers.
    pub(crate) fn agent(&self, replies: &[&str], run: &str) -> String {
        let folder = self.outside("replies");
        std::fs::create_dir_all(&folder).unwrap();
        for (at, reply) in replies.iter().enumerate() {
            std::fs::write(folder.join((at + 1).to_string()), reply).unwrap();
        }
        let last = replies.len();
        let folder = folder.display();
        self.script(&format!(
            "cat > /dev/null\n{run}\ntouch {folder}/calls\nn=$(($(wc -l < {folder}/calls) + 1))\n\
             [ $n -gt {last} ] && n={last}\ncat {folder}/$n\necho call >> {folder}/calls\n"
        ))
    }

    /// A command line that runs this as a shell script.
    pub(crate) fn script(&self, text: &str) -> String {
        let path = self.outside("agent.sh");
        std::fs::write(&path, text).unwrap();
        format!("sh {}", path.display())
    }

    pub(crate) fn calls(&self) -> usize {
        let calls = std::fs::read_to_string(self.outside("replies/calls"));
        calls.unwrap_or_default().lines().count()
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = support::command(&self.repo.root(), arguments);
        command.env("XDG_CACHE_HOME", self.outside("cache"));
        // The files that these scripts read represent the code under test, not the test.
        command.env("MENDIT_PATCH_ALLOW_PROTECTED", CODE);
        command
    }

    /// Runs `repair` into the folder `run` and gives its output.
    pub(crate) fn repair(&self, arguments: &[&str]) -> Output {
        let run = self.run_folder();
        let out = ["repair", "--out", run.to_str().unwrap()];
        let output = self.command(&[&out, arguments].concat()).output().unwrap();
        artifacts_are_valid(&run);
        output
    }

    pub(crate) fn run_folder(&self) -> PathBuf {
        self.outside("run")
    }

    /// A JSON file of the run.
    pub(crate) fn json(&self, name: &str) -> Value {
        let path = self.run_folder().join(name);
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
        serde_json::from_slice(&bytes).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.run_folder().join(name)).unwrap_or_default()
    }

    /// One field of every attempt's result, in order.
    pub(crate) fn attempts(&self, field: &str) -> Vec<Value> {
        (1..100)
            .map(|number| format!("attempts/{number:02}/result.json"))
            .take_while(|name| self.run_folder().join(name).is_file())
            .map(|name| self.json(&name)[field].clone())
            .collect()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.run_folder().join(name).is_file()
    }
}

/// Every document of a run's folder fits its schema.
#[track_caller]
fn artifacts_are_valid(folder: &Path) {
    let mut open = vec![folder.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = match path.file_name().and_then(|it| it.to_str()) {
                Some("context.json") => "context",
                Some("failure-packet.json") => "failure-packet",
                Some("diagnosis.json") => "diagnosis",
                Some("result.json") => "result",
                Some("preflight.json") => "patch-verdict",
                Some("repair-packet.json") => "repair-packet",
                Some("report.json") => "report",
                _ => continue,
            };
            let schema = mendit::documents::schema(name).unwrap().schema();
            let document = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let wrong: Vec<String> = jsonschema::validator_for(&schema)
                .unwrap()
                .iter_errors(&document)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(wrong.is_empty(), "{}: {wrong:#?}", path.display());
        }
    }
}

// Files that the small worlds of shell scripts are repaired in.
const CODE: &str = "answer.sh,a.sh,first/value.sh,second/value.sh";

pub(crate) const CHECK: &str = "\
. ./answer.sh
[ \"$ANSWER\" = 42 ] || { echo \"check.sh:2: AssertionError: expected 42, got $ANSWER\"; exit 1; }
";

pub(crate) const FIX: &str = "\
```diff
--- a/answer.sh
+++ b/answer.sh
@@ -1 +1 @@
-ANSWER=41
+ANSWER=42
```
";

/// The end of a program that must have ended this way.
#[track_caller]
pub(crate) fn ended(output: &Output, exit: i32) {
    let said = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(exit), "{said}{printed}");
}

pub(crate) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// Every file below a folder, with its bytes; runs that the program writes are left out.
pub(crate) fn everything(at: &Path) -> std::collections::BTreeMap<PathBuf, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut open = vec![at.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.extend(Some(path).filter(|path| !path.ends_with(".git/mendit")));
            } else {
                let bytes = std::fs::read(&path).unwrap_or_default();
                found.insert(path, bytes);
            }
        }
    }
    found
}
