use super::commands::CommandsRun;
use super::error::RepairError;
use super::progress::{Effect, effect};
use super::session::Session;
use crate::languages::Language;
use crate::model::{Observed, RepoPath};
use crate::patch::{Change, FileState};
use crate::workplace::{Kind, editable_install, installed_copy};

/// What became of the commands with the changed files made unloadable.
pub(super) enum LoadCheck {
    /// They ended in another way: what was changed is what runs.
    Loaded,
    /// They ended as before, in words.
    NotLoaded {
        /// What was made unloadable, and what to make of it.
        finding: String,
        /// Whether the commands are known to run files outside the workplace.
        elsewhere: bool,
    },
    /// Nothing was left for everything while they ran.
    CutShort,
}

/// How the commands end with a change that is what runs.
pub(super) struct Expected<'a> {
    /// All of them.
    pub(super) whole: &'a Observed,
    /// The failing tests alone, where that is known.
    pub(super) alone: Option<&'a Observed>,
}

impl Session<'_> {
    /// Makes the files of a change unloadable in the workplace and looks whether the commands
    /// end otherwise than `expected`: the failing tests alone, and where these do not, all of them. `None` when there is no file that a program would load, or
    /// it was seen before. The workplace is as without the change afterwards.
    pub(super) fn check_load(
        &mut self,
        changes: &[Change],
        expected: &Expected<'_>,
    ) -> Result<Option<LoadCheck>, RepairError> {
        let broken: Vec<RepoPath> = changes
            .iter()
            .filter(|change| change.after.as_ref().is_some_and(|it| it.mode != 0o120_000))
            .map(|change| change.path.clone())
            .filter(is_loaded)
            .collect();
        if broken.is_empty() || broken.iter().any(|path| self.seen.contains(path)) {
            return Ok(None);
        }
        self.place.reset()?;
        let mut written = Vec::new();
        for path in &broken {
            let before = self.place.state(path)?;
            let mode = before.as_ref().map_or(0o100_644, |state| state.mode);
            let after = Some(FileState::new(UNLOADABLE, mode));
            written.push(Change::between(path.clone(), before, after));
        }
        self.place.write(&written)?;
        let alone = expected.alone.filter(|_| self.alone.is_some());
        let mut ran = match alone {
            Some(_) => self.run_alone()?,
            None => self.run_commands()?,
        };
        let ended = |ran: &CommandsRun| !ran.interrupted && !ran.cut_short;
        // What the failing tests do not load others may.
        if alone.is_some_and(|alone| ended(&ran) && same(alone, &ran.observed)) {
            ran = self.run_commands()?;
        } else if alone.is_some() && ended(&ran) {
            self.place.reset()?;
            self.seen.extend(broken);
            return Ok(Some(LoadCheck::Loaded));
        }
        self.place.reset()?;
        if ran.interrupted {
            return Ok(None);
        }
        if ran.cut_short {
            return Ok(Some(LoadCheck::CutShort));
        }
        if !same(expected.whole, &ran.observed) {
            self.seen.extend(broken);
            return Ok(Some(LoadCheck::Loaded));
        }
        Ok(Some(self.not_loaded(&broken, &ran)))
    }

    // What to make of commands that end the same.
    fn not_loaded(&self, broken: &[RepoPath], ran: &CommandsRun) -> LoadCheck {
        let names: Vec<String> = broken.iter().map(|path| format!("`{path}`")).collect();
        let names = names.join(", ");
        let original = self.setup.root.to_string_lossy().into_owned();
        let leads_out = (self.place.kind() == Kind::Copy)
            .then(|| {
                let lines = &self.setup.commands.lines;
                let lead =
                    editable_install(self.setup.root, lines).map(|it| it.display().to_string());
                named_below(&ran.log, &original).or(lead)
            })
            .flatten();
        let commands = &self.setup.commands;
        let lines = &commands.lines;
        let copy = broken.iter().find_map(|path| {
            let path = path.as_str();
            named_copy(&ran.log, path, &original).or_else(|| {
                let found = installed_copy(self.setup.root, lines, &commands.environment, path)?;
                Some(found.display().to_string())
            })
        });
        let message = match (&leads_out, &copy) {
            (Some(path), _) => format!(
                "`{path}` leads to the worktree, not to the copy in which {names} was changed; \
                 `--workplace overlay` or an install in the copy (`--setup`) mends that"
            ),
            (None, Some(path)) => format!(
                "`{path}` is what runs, and {names} was changed: install the project editable \
                 (`pip install -e .`), or in the workplace with `--setup`"
            ),
            (None, None) => format!(
                "the commands end the same with {names} made unloadable: they do not run it"
            ),
        };
        LoadCheck::NotLoaded {
            finding: message,
            elsewhere: leads_out.is_some() || copy.is_some(),
        }
    }
}

fn same(expected: &Observed, ran: &Observed) -> bool {
    if expected.passed {
        ran.passed
    } else {
        effect(expected, ran, &[]) == Effect::Same
    }
}

// No language, and no format of settings, reads this; some ended at a NUL at its start, as if empty.
const UNLOADABLE: &[u8] = b"(([[{{\"'` mendit made this unloadable to see whether it runs \0\n";

// What is not loaded may be wrong without a program's ending otherwise.
fn is_loaded(path: &RepoPath) -> bool {
    let name = path.file_name();
    let extension = name.rsplit_once('.').map_or("", |(_, it)| it);
    Language::of_path(name).is_some() || SETTINGS.contains(&extension)
}

const SETTINGS: &[&str] = &["json", "toml", "cfg", "ini", "yaml", "yml", "sh"];

// A file of the same package and name elsewhere that a log names: the workplace's own path is not in
// it.
fn named_copy(log: &str, path: &str, original: &str) -> Option<String> {
    let package = path.rsplitn(3, '/').take(2).collect::<Vec<_>>();
    let [name, folder] = package.as_slice() else {
        return None;
    };
    let ending = format!("/{folder}/{name}");
    log.match_indices(&ending).find_map(|(at, _)| {
        let before = log.get(..at)?;
        let from = before.rfind(|it: char| it.is_whitespace() || "\"'(".contains(it))? + 1;
        let found = format!("{}{ending}", before.get(from..)?);
        let whole = found.starts_with('/') && found != format!("{original}/{path}");
        whole.then_some(found)
    })
}

// A file below a folder that a log names.
fn named_below(log: &str, folder: &str) -> Option<String> {
    let at = log.find(&format!("{folder}/"))?;
    let rest = log.get(at..)?;
    let end = rest.find(|it: char| it.is_whitespace() || "\"':,()<>".contains(it));
    Some(rest.get(..end.unwrap_or(rest.len()))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{named_below, named_copy};

    #[test]
    fn a_copy_of_a_file_is_found_in_a_log() {
        let log = "Traceback:\n  File \"/v/lib/site-packages/pk/core.py\", line 3\n";
        let found = named_copy(log, "src/pk/core.py", "/w/r");
        assert_eq!(found.as_deref(), Some("/v/lib/site-packages/pk/core.py"));
        let own = "  File \"src/pk/core.py\", line 3\n  File \"/w/r/src/pk/core.py\"\n";
        assert_eq!(named_copy(own, "src/pk/core.py", "/w/r"), None);
        assert_eq!(named_copy(log, "core.py", "/w/r"), None);
    }

    #[test]
    fn a_path_of_the_original_is_found_in_a_log() {
        let log = "Traceback:\n  File \"/w/r/src/pkg/a.py\", line 3\n";
        assert_eq!(
            named_below(log, "/w/r").as_deref(),
            Some("/w/r/src/pkg/a.py")
        );
        assert_eq!(named_below(log, "/w/r/lib"), None);
    }
}
