use std::path::{Path, PathBuf};

/// Folders in which the agent of a command line keeps its own settings, sessions and logins, below
/// the user's home; empty for a command that is not known. An agent writes there while it works.
#[must_use]
pub fn settings_folders(command: &str, home: &Path) -> Vec<PathBuf> {
    let words = command.split(|it: char| it.is_whitespace() || "|;&()'\"".contains(it));
    let programs: Vec<&str> = words
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .collect();
    KNOWN
        .iter()
        .filter(|(program, _)| programs.contains(program))
        .flat_map(|(_, folders)| folders.iter().map(|below| home.join(below)))
        .collect()
}

#[rustfmt::skip]
const KNOWN: &[(&str, &[&str])] = &[
    ("aider", &[".aider"]),
    ("amp", &[".config/amp", ".local/share/amp"]),
    ("claude", &[".claude", ".claude.json"]),
    ("codex", &[".codex"]),
    ("copilot", &[".copilot"]),
    ("crush", &[".config/crush", ".local/share/crush"]),
    ("cursor-agent", &[".cursor"]),
    ("gemini", &[".gemini"]),
    ("goose", &[".config/goose", ".local/share/goose", ".local/state/goose"]),
    ("llm", &[".config/io.datasette.llm"]),
    ("opencode", &[".config/opencode", ".local/share/opencode", ".local/state/opencode"]),
    ("qwen", &[".qwen"]),
];

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::settings_folders;

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
}
