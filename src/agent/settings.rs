use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

/// Folders and files in which the agent of a command line keeps its own settings, sessions and logins, below
/// the user's home; empty for a command that is not known. An agent writes there while it works.
#[must_use]
pub fn settings_folders(command: &str, home: &Path) -> Vec<PathBuf> {
    let rows = rows(command);
    let below = rows.flat_map(|row| row.folders.iter().chain(&row.mixed));
    below.map(|below| home.join(below)).collect()
}

/// The agents that a command line names.
pub(super) fn rows(command: &str) -> impl Iterator<Item = &'static AgentRow> {
    let words = command.split(|it: char| it.is_whitespace() || "|;&()'\"".contains(it));
    let programs: Vec<String> = words
        .map(|word| word.rsplit('/').next().unwrap_or(word).to_owned())
        .collect();
    let all = TABLE.agent.iter();
    all.filter(move |row| row.programs.iter().any(|it| programs.contains(it)))
}

/// Members of a mixed file that stay as they were.
pub(super) fn is_held(member: &str) -> bool {
    TABLE.held.iter().any(|it| it == member)
}

/// A file of its settings that an agent changed, and that stays as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsChange {
    /// Below the home.
    pub path: String,
    /// What stood there; `None` for no file.
    pub before: Option<Vec<u8>>,
    /// What the agent made of it.
    pub after: Option<Vec<u8>>,
    /// Whether a later session would run, ask or obey it.
    pub steers: bool,
}

/// A row of `settings.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentRow {
    programs: Vec<String>,
    pub(super) folders: Vec<String>,
    passes: Vec<String>,
    #[serde(default)]
    pub(super) mixed: Vec<String>,
    #[serde(default)]
    unpacks: Vec<String>,
    #[serde(rename = "seen")]
    _seen: String,
}

impl AgentRow {
    /// Whether a change of this file, by its path below the home, is kept.
    pub(super) fn passes(&self, path: &str) -> bool {
        let fits = |glob: &String| fast_glob::glob_match(glob, path);
        self.passes.iter().any(fits)
    }

    /// Whether a later session runs, asks or obeys this file, by its path below the home.
    pub(super) fn steers(&self, path: &str) -> bool {
        let fits = |glob: &String| fast_glob::glob_match(glob, path);
        TABLE.steers.iter().any(fits) && !self.unpacks.iter().any(fits)
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    steers: Vec<String>,
    held: Vec<String>,
    agent: Vec<AgentRow>,
}

// The file is part of the program, and a test reads it.
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    crate::model::read_table(embedded!("agent/settings.toml")).unwrap_or_default()
});

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{rows, settings_folders};

    #[test]
    fn a_known_agent_is_found_wherever_it_stands_in_the_line() {
        let home = Path::new("/h");
        let found = |line| settings_folders(line, home);
        let codex = [PathBuf::from("/h/.codex")];
        assert_eq!(found("codex exec -"), codex);
        assert_eq!(found("cd x && /usr/bin/codex exec"), codex);
        assert_eq!(found("sh agent.sh"), Vec::<PathBuf>::new());
        assert_eq!(found("python3 codex.py"), Vec::<PathBuf>::new());
    }

    #[test]
    fn logins_and_sessions_pass_and_what_steers_does_not() {
        for (agent, path, passes, steering) in [
            ("claude", ".claude/.credentials.json", true, false),
            ("claude", ".claude/projects/-x/1.jsonl", true, false),
            ("claude", ".claude/settings.json", false, true),
            ("claude", ".claude/commands/x.md", false, true),
            ("claude", ".claude/CLAUDE.md", false, true),
            ("codex", ".codex/auth.json", true, false),
            ("codex", ".codex/config.toml", false, true),
            ("codex", ".codex/odd", false, false),
            ("codex", ".codex/skills/own/SKILL.md", false, true),
            ("codex", ".codex/skills/.system/x/SKILL.md", false, false),
            ("gemini", ".gemini/oauth_creds.json", true, false),
            ("gemini", ".gemini/settings.json", false, true),
            ("opencode", ".local/share/opencode/auth.json", true, false),
            ("opencode", ".config/opencode/opencode.json", false, true),
        ] {
            let row = rows(agent).next().unwrap();
            assert_eq!(row.passes(path), passes, "{path}");
            assert_eq!(!passes && row.steers(path), steering, "{path}");
        }
    }
}
