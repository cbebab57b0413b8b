use serde_json::Value;

use super::walk::{Walk, join};

/// Packages of a workspace whose scripts are read.
const MAX_PACKAGES: usize = 300;

impl Walk<'_> {
    pub(super) fn package_manager(
        &mut self,
        (manager, words): (&str, &[&str]),
        directory: &str,
        by: &str,
        depth: usize,
    ) {
        let mut directory = directory.to_owned();
        let (mut everywhere, mut some) = (false, false);
        let mut plain: Vec<&str> = Vec::new();
        let mut left = words.iter();
        while let Some(word) = left.next() {
            match *word {
                "--prefix" | "-C" | "--dir" | "--cwd" => {
                    let to = left.next().and_then(|to| join(&directory, to));
                    directory = to.unwrap_or(directory);
                }
                "-w" | "--workspace" | "--filter" | "-F" => {
                    (everywhere, some) = (true, true);
                    left.next();
                }
                "-r" | "--recursive" | "--workspaces" | "-ws" => everywhere = true,
                "--" => break,
                option if option.starts_with("--workspace=") || option.starts_with("--filter=") => {
                    (everywhere, some) = (true, true);
                }
                option if option.starts_with('-') => {}
                word => plain.push(word),
            }
        }
        // The words of a program that it starts are that program's, its options too.
        let behind = |name: &str| {
            let at = words.iter().position(|word| *word == name);
            at.and_then(|at| words.get(at..)).unwrap_or_default()
        };
        let name = match plain.as_slice() {
            ["workspace", _, rest @ ..] | ["workspaces", "foreach" | "run", rest @ ..] => {
                (everywhere, some) = (true, true);
                match rest {
                    ["run", name, ..] | [name, ..] => *name,
                    [] => return,
                }
            }
            [exec @ ("exec" | "x" | "dlx"), ..] => {
                let started = behind(exec).iter().skip(1).copied();
                let started: Vec<&str> = started.skip_while(|it| it.starts_with('-')).collect();
                return self.command(&started, &directory, by, depth + 1);
            }
            ["t" | "tst", ..] => "test",
            ["run" | "run-script" | "rum" | "urn", name, ..] | [name, ..] => *name,
            [] => return,
        };
        if everywhere {
            if !some && !self.is_guessing() {
                self.everywhere = Some([manager.to_owned(), name.to_owned()]);
            }
            self.everywhere(name, some, depth);
        } else if !self.script(name, &directory, depth) {
            self.command(behind(name), &directory, by, depth + 1);
        }
    }

    // Runs a script of the nearest package.json, with what runs before and after it.
    pub(super) fn script(&mut self, name: &str, directory: &str, depth: usize) -> bool {
        let mut at = Some(directory);
        while let Some(directory) = at {
            if let Some(found) = self.package(directory, name, depth) {
                return found;
            }
            at = (!directory.is_empty())
                .then(|| directory.rsplit_once('/').map_or("", |(above, _)| above));
        }
        false
    }

    pub(super) fn package(&mut self, directory: &str, name: &str, depth: usize) -> Option<bool> {
        let path = join(directory, "package.json")?;
        let manifest: Value = serde_json::from_slice(&self.read(&path)?).ok()?;
        let mut found = false;
        for name in [format!("pre{name}"), name.to_owned(), format!("post{name}")] {
            let script = manifest
                .pointer("/scripts")
                .and_then(|all| all.get(&name)?.as_str());
            if let Some(script) = script {
                self.line(script, directory, &path, depth + 1);
                found = true;
            }
        }
        Some(found)
    }

    // Of some packages, and of the root where all are meant, it is not known whether they are.
    pub(super) fn everywhere(&mut self, name: &str, some: bool, depth: usize) {
        let packages: Vec<String> = self
            .source
            .listing()
            .files()
            .map(|entry| entry.path.as_str())
            .filter(|path| *path == "package.json" || path.ends_with("/package.json"))
            .take(MAX_PACKAGES)
            .map(|path| {
                path.rsplit_once('/')
                    .map_or("", |(above, _)| above)
                    .to_owned()
            })
            .collect();
        for directory in packages {
            let all = |walk: &mut Self| {
                walk.package(&directory, name, depth);
            };
            if some || directory.is_empty() {
                self.guess(all);
            } else {
                all(self);
            }
        }
    }
}
