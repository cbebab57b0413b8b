use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::by_hand::SetUp;
use crate::support::{self, Repo};

/// Repairs a set-up with a wrong patch and with a right one, in each workplace that can be had, and
/// says what was not as it must be.
pub(crate) fn problems(set_up: &SetUp) -> Vec<String> {
    let programs = set_up.programs.iter();
    if !programs.copied().all(support::has_program) {
        return Vec::new();
    }
    let repo = Repo::with(&[]);
    (set_up.build)(&repo);
    let before = everything(&repo.root());
    let mut wrong = Vec::new();
    for mode in modes() {
        for (answer, exit) in [("3", 1), ("2", 0)] {
            let said = repair(&repo, set_up, mode, answer, exit);
            wrong.extend(said.map(|said| format!("{}, {mode:?}, {answer}: {said}", set_up.name)));
        }
    }
    let after = everything(&repo.root());
    let changed = before.iter().find(|(path, bytes)| after.get(*path) != Some(bytes));
    let made = after.keys().find(|path| !before.contains_key(*path));
    if let Some(at) = changed.map(|it| it.0).or(made) {
        let at = at.display();
        wrong.push(format!("{}: the worktree changed: {at}", set_up.name));
    }
    wrong
}

/// Where commands run.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mode {
    Overlay,
    Copy,
    /// What is chosen where the system refuses namespaces.
    Refused,
}

fn modes() -> Vec<Mode> {
    let mut modes = vec![Mode::Copy];
    if can_overlay() {
        modes.push(Mode::Overlay);
    }
    let tried = Command::new("unshare")
        .args(["-U", "-r", "sh", "-c", NO_NAMESPACES, "true"])
        .output();
    if tried.is_ok_and(|it| it.status.success()) {
        modes.push(Mode::Refused);
    } else {
        crate::support::skip("namespaces cannot be refused");
    }
    modes
}

const NO_NAMESPACES: &str = "echo 0 > /proc/sys/user/max_user_namespaces; \
                             echo 0 > /proc/sys/user/max_mnt_namespaces; exec \"$0\" \"$@\"";

fn can_overlay() -> bool {
    let repo = Repo::with(&[("a", "")]);
    let words = ["run", "--workplace", "overlay", "--", "true"];
    let output = support::command(&repo.root(), &words).output().unwrap();
    if !output.status.success() {
        crate::support::skip("no overlay");
    }
    output.status.success()
}

fn repair(repo: &Repo, set_up: &SetUp, mode: Mode, answer: &str, exit: i32) -> Option<String> {
    let folder = repo.outside().join(format!("run-{mode:?}-{answer}"));
    let inner = repair_command(repo, set_up, mode, answer, &folder);
    let mut command = inner;
    if mode == Mode::Refused {
        let mut outer = Command::new("unshare");
        outer.args(["-U", "-r", "sh", "-c", NO_NAMESPACES]);
        outer.arg(command.get_program()).args(command.get_args());
        let set = command.get_envs();
        outer.envs(set.filter_map(|(name, value)| Some((name, value?))));
        outer.current_dir(repo.root());
        command = outer;
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let result = std::fs::read(folder.join("result.json")).unwrap_or_default();
    let result: Value = serde_json::from_slice(&result).unwrap_or_default();
    let logs = || {
        let log = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        format!("{}\n{}", log("baseline.log"), log("attempts/01/test.log"))
    };
    if output.status.code() != Some(exit) {
        let code = output.status.code();
        return Some(format!("exit {code:?}\n{said}{}", logs()));
    }
    let kind = match mode {
        Mode::Overlay => "overlay",
        Mode::Copy | Mode::Refused => "copy",
    };
    let is_said = mode != Mode::Refused || said.contains("no overlay: no private namespaces");
    if result["workplace"]["kind"] != kind || !is_said {
        return Some(format!("{}\n{said}", result["workplace"]));
    }
    None
}

fn repair_command(repo: &Repo, set_up: &SetUp, mode: Mode, answer: &str, folder: &Path) -> Command {
    let old = std::fs::read_to_string(repo.root().join(set_up.file)).unwrap();
    let line = old.lines().find(|line| line.contains('1')).unwrap();
    let reply = serde_json::json!({
        "status": "patch",
        "edits": [{ "path": set_up.file, "old": line, "new": line.replace('1', answer) }],
    });
    let said = repo.outside().join(format!("reply-{answer}.json"));
    std::fs::write(&said, reply.to_string()).unwrap();
    let agent = format!("cat > /dev/null; cat {}", said.display());
    let venv = repo.outside().join("venv");
    let test = set_up.test.replace("$VENV", venv.to_str().unwrap());
    let workplace = match mode {
        Mode::Overlay => "overlay",
        Mode::Copy => "copy",
        Mode::Refused => "auto",
    };
    let out = folder.to_str().unwrap();
    let mut words = vec!["repair", "--no-heal", "--max-attempts", "1"];
    words.extend(["--workplace", workplace, "--test", &test, "--agent", &agent]);
    words.extend(["--out", out]);
    words.extend(set_up.more);
    let mut command = support::command(&repo.root(), &words);
    command.env("XDG_CACHE_HOME", repo.outside().join("cache"));
    command
}

// Every file and link of the worktree and its repository, but for the folder of runs.
fn everything(at: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![at.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = path.symlink_metadata().unwrap();
            if path.ends_with(".git/mendit") {
            } else if kind.is_symlink() {
                let target = std::fs::read_link(&path).unwrap();
                found.insert(path, target.to_string_lossy().into_owned().into_bytes());
            } else if kind.is_dir() {
                open.push(path);
            } else {
                let bytes = std::fs::read(&path).unwrap();
                found.insert(path, bytes);
            }
        }
    }
    found
}
