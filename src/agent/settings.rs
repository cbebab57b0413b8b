//! Lists the folders in which known agents keep settings, sessions and logins.

use std::sync::LazyLock;

use globset::GlobBuilder;
use serde::Deserialize;

/// A row of `settings.toml`: where an agent keeps its own settings, sessions and logins, below its user's home.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AgentRow {
    programs: Vec<String>,
    folders: Vec<String>,
    passes: Vec<String>,
    #[serde(default)]
    mixed: Vec<String>,
}

impl AgentRow {
    /// Returns its folders and files, by their paths below the home.
    pub(super) fn paths(&self) -> impl Iterator<Item = &String> {
        self.folders.iter().chain(&self.mixed)
    }

    /// Whether a change of this file, by its path below the home, is kept.
    pub(super) fn passes(&self, path: &str) -> bool {
        let globs = self.passes.iter();
        let mut globs =
            globs.filter_map(|glob| GlobBuilder::new(glob).literal_separator(true).build().ok());
        globs.any(|glob| glob.compile_matcher().is_match(path))
    }

    /// Whether a file holds a login beside settings: it is copied in, and never out.
    pub(super) fn is_mixed(&self, path: &str) -> bool {
        self.mixed.iter().any(|mixed| mixed == path)
    }
}

/// Returns the rows of the agents that a command line names.
pub(super) fn matching_rows(command: &str) -> Vec<&'static AgentRow> {
    let words = command.split(|letter: char| letter.is_whitespace() || "|;&()'\"".contains(letter));
    let programs: Vec<&str> = words.map(|word| word.rsplit('/').next().unwrap_or(word)).collect();
    let rows = TABLE.agent.iter().filter(|row| {
        let mut own = row.programs.iter();
        own.any(|program| programs.contains(&program.as_str()))
    });
    rows.collect()
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    agent: Vec<AgentRow>,
}

// The file is part of the program, and a test reads it.
static TABLE: LazyLock<Table> = LazyLock::new(|| {
    crate::model::read_table(embedded!("agent/settings.toml")).unwrap_or_default()
});

#[cfg(test)]
mod tests {
    use super::matching_rows;

    #[test]
    fn finds_known_agent_anywhere_in_line() {
        let found = |line| -> Vec<&str> {
            let rows = matching_rows(line).into_iter();
            rows.flat_map(|row| row.paths().map(String::as_str)).collect()
        };
        assert_eq!(found("codex exec -"), [".codex"]);
        assert_eq!(found("cd x && /usr/bin/codex exec"), [".codex"]);
        assert!(found("sh agent.sh").is_empty());
        assert!(found("python3 codex.py").is_empty());
    }

    #[test]
    fn keeps_logins_and_sessions_alone() {
        for (agent, path, passes) in [
            ("claude", ".claude/.credentials.json", true),
            ("claude", ".claude/projects/-x/1.jsonl", true),
            ("claude", ".claude/settings.json", false),
            ("claude", ".claude/commands/x.md", false),
            ("codex", ".codex/auth.json", true),
            ("codex", ".codex/config.toml", false),
            ("codex", ".codex/skills/own/SKILL.md", false),
            ("gemini", ".gemini/oauth_creds.json", true),
            ("gemini", ".gemini/settings.json", false),
            ("opencode", ".local/share/opencode/auth.json", true),
            ("opencode", ".config/opencode/opencode.json", false),
        ] {
            assert_eq!(matching_rows(agent)[0].passes(path), passes, "{path}");
        }
    }
}
