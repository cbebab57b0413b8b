use std::path::{Path, PathBuf};

use super::files::{below_no_link, write_file};
use super::json_insert::{with_element, with_member};
use super::{App, AppError};
use crate::git::Repository;

/// What setting an agent up did to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetUpFile {
    /// The file, below the root of the worktree.
    pub path: String,
    /// What was done.
    pub done: SetUp,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetUp {
    /// It was not there and is written.
    Written,
    /// Something was added to what stands in it.
    Added,
    /// It is as it shall be.
    Same,
    /// It is a person's own and was left alone; what stands beside it is for them to add.
    Left(&'static str),
}

/// Names of the agents that can be set up.
pub const SET_UP_AGENTS: &[&str] = &["claude", "codex", "cursor", "gemini", "opencode"];

/// Writes what an agent reads of this repository: how to run tests through mendit, a command, its
/// hook and the MCP server, as far as that agent has such things. Files that a person wrote are
/// added to or left alone; `force` replaces those that stand in the way.
///
/// # Errors
/// An agent that is not known, or a file that cannot be written.
pub fn set_up_agent(app: &App, name: &str, force: bool) -> Result<Vec<SetUpFile>, AppError> {
    let rows = files(name).ok_or_else(|| {
        AppError::usage(format!("there is no set-up for `{name}`"))
            .hint(format!("known are {}", SET_UP_AGENTS.join(", ")))
    })?;
    let root = root(app)?;
    let mut done = Vec::new();
    for (path, part) in rows {
        // Where opencode has its settings with comments, they stay in that one file.
        let path = match *path {
            "opencode.json" if !there(&root, path) && there(&root, "opencode.jsonc") => {
                &"opencode.jsonc"
            }
            _ => path,
        };
        done.push(SetUpFile {
            path: (*path).to_owned(),
            done: set_up(&root, path, part, force)?,
        });
    }
    Ok(done)
}

fn there(root: &Path, path: &str) -> bool {
    root.join(path).symlink_metadata().is_ok()
}

// What one file needs.
enum Part {
    /// All of it.
    Whole(&'static str),
    /// A block of its own inside a text that may hold more.
    Block(&'static str),
    /// A member of an object: where, name, value.
    Member(&'static [&'static str], &'static str, &'static str),
    /// A table of a TOML file: the table that holds it, its name, its lines.
    Table(&'static str, &'static str, &'static str),
    /// Elements of the lists in `hooks`: the file when there is none, name, value.
    Hooks(&'static str, &'static [(&'static str, &'static str)]),
    /// Several of them.
    All(&'static [Part]),
}

fn files(name: &str) -> Option<&'static [(&'static str, Part)]> {
    Some(match name {
        "claude" => &[
            (".claude/skills/mendit/SKILL.md", Part::Whole(SKILL)),
            (".claude/commands/fix-tests.md", Part::Whole(FIX_TESTS)),
            (
                ".claude/settings.json",
                Part::Hooks(
                    "{}\n",
                    &[("PostToolUse", HOOK), ("PostToolUseFailure", HOOK)],
                ),
            ),
            (".mcp.json", Part::Member(&["mcpServers"], "mendit", SERVER)),
        ],
        "codex" => &[
            ("AGENTS.md", Part::Block(SKILL)),
            (".agents/skills/mendit/SKILL.md", Part::Whole(SKILL)),
            (
                ".codex/hooks.json",
                Part::Hooks("{}\n", &[("PostToolUse", HOOK)]),
            ),
            (
                ".codex/config.toml",
                Part::Table("mcp_servers", "mendit", TOML_SERVER),
            ),
        ],
        "cursor" => &[
            (".cursor/rules/mendit.mdc", Part::Whole(SKILL)),
            (".cursor/commands/fix-tests.md", Part::Whole(FIX_TESTS)),
            (
                ".cursor/hooks.json",
                Part::Hooks("{\n  \"version\": 1\n}\n", &[("postToolUse", CURSOR_HOOK)]),
            ),
            (
                ".cursor/mcp.json",
                Part::Member(&["mcpServers"], "mendit", SERVER),
            ),
        ],
        "gemini" => &[
            ("GEMINI.md", Part::Block(SKILL)),
            (
                ".gemini/commands/fix-tests.toml",
                Part::Whole(include_str!("agent_files/fix_tests.toml")),
            ),
            (
                ".gemini/settings.json",
                Part::All(&[
                    Part::Hooks("{}\n", &[("AfterTool", GEMINI_HOOK)]),
                    Part::Member(&["mcpServers"], "mendit", SERVER),
                ]),
            ),
        ],
        "opencode" => &[
            ("AGENTS.md", Part::Block(SKILL)),
            (".opencode/command/fix-tests.md", Part::Whole(FIX_TESTS)),
            (
                ".opencode/plugins/mendit.js",
                Part::Whole(include_str!("agent_files/opencode.js")),
            ),
            (
                "opencode.json",
                Part::Member(&["mcp"], "mendit", OPENCODE_SERVER),
            ),
        ],
        _ => return None,
    })
}

fn set_up(root: &Path, path: &str, part: &Part, force: bool) -> Result<SetUp, AppError> {
    let place = below_no_link(root, path)?;
    let old = match std::fs::read_to_string(&place) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(AppError::unreadable(path, &error)),
    };
    let new = match part.made(old.as_deref(), force) {
        Ok(new) => new,
        Err(why) => return Ok(SetUp::Left(why)),
    };
    if old.as_ref() == Some(&new) {
        return Ok(SetUp::Same);
    }
    write_file(&place, new)?;
    Ok(if old.is_none() {
        SetUp::Written
    } else {
        SetUp::Added
    })
}

impl Part {
    // The file with it, or why it is left alone.
    fn made(&self, old: Option<&str>, force: bool) -> Result<String, &'static str> {
        match self {
            Self::Whole(text) if force || old.is_none_or(|old| old == *text) => {
                Ok((*text).to_owned())
            }
            Self::Whole(_) => Err("`--force` replaces it"),
            Self::Block(text) => Ok(with_block(old.unwrap_or_default(), text)),
            Self::Member(at, name, value) => with_member(old.unwrap_or("{}\n"), at, name, value)
                .ok_or("it is no JSON object; add the server `mendit mcp`"),
            Self::Table(at, name, lines) => with_table(old.unwrap_or_default(), at, name, lines)
                .ok_or("a table cannot be added to it; add the server `mendit mcp`"),
            Self::Hooks(start, rows) => {
                let text = old.unwrap_or(start).to_owned();
                let add = |text: String, (name, value): &(&str, &str)| {
                    with_element(&text, &["hooks"], name, value)
                };
                rows.iter()
                    .try_fold(text, add)
                    .ok_or("it is no JSON object; add the hook `mendit hook`")
            }
            Self::All(parts) => {
                let mut text = old.map(str::to_owned);
                for part in *parts {
                    text = Some(part.made(text.as_deref(), force)?);
                }
                Ok(text.unwrap_or_default())
            }
        }
    }
}

// The text with the block in it; an older block gives way, everything else stays.
fn with_block(text: &str, block: &str) -> String {
    // What stands above a skill is for tools that read skills.
    let body = block.split_once("---\n\n").map_or(block, |it| it.1);
    let made = format!("{BEGIN}\n{}\n{END}\n", body.trim_end());
    if let (Some(from), Some(to)) = (text.find(BEGIN), text.find(END))
        && from < to
    {
        let head = text.get(..from).unwrap_or_default();
        let tail = text.get(to + END.len()..).unwrap_or_default();
        return format!("{head}{}{tail}", made.trim_end_matches('\n'));
    }
    let sign = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{sign}{made}")
}

// The text with the table behind it, each byte before as it was; as it is when it has one of that name.
// `None` where that makes no TOML.
fn with_table(text: &str, at: &str, name: &str, lines: &str) -> Option<String> {
    let has = |text: &str| -> Option<bool> {
        let all: toml::Table = text.parse().ok()?;
        let table = all.get(at).and_then(toml::Value::as_table);
        Some(table.is_some_and(|it| it.contains_key(name)))
    };
    if has(text)? {
        return Some(text.to_owned());
    }
    let gap = match text {
        "" => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let new = format!("{text}{gap}[{at}.{name}]\n{lines}");
    has(&new)?.then_some(new)
}

fn root(app: &App) -> Result<PathBuf, AppError> {
    let git = Repository::discover(app.directory())?;
    let Some(git) = git else {
        return Ok(app.directory().to_owned());
    };
    let root = git.workdir().map(Path::to_owned);
    root.ok_or_else(|| AppError::bare(": an agent has nothing to read there"))
}

const SKILL: &str = include_str!("agent_files/skill.md");
const FIX_TESTS: &str = include_str!("agent_files/fix_tests.md");
const BEGIN: &str = "<!-- mendit: begin -->";
const END: &str = "<!-- mendit: end -->";
const SERVER: &str = r#"{"command": "mendit", "args": ["mcp", "--run-last"]}"#;
const TOML_SERVER: &str = "command = \"mendit\"\nargs = [\"mcp\", \"--run-last\"]\n";
const OPENCODE_SERVER: &str =
    r#"{"type": "local", "command": ["mendit", "mcp", "--run-last"], "enabled": true}"#;
const HOOK: &str = r#"{"matcher": "Bash", "hooks": [{"type": "command", "command": "mendit hook", "timeout": 20}]}"#;
const GEMINI_HOOK: &str = r#"{"matcher": "run_shell_command", "hooks": [{"name": "mendit", "type": "command", "command": "mendit hook", "timeout": 20000}]}"#;
const CURSOR_HOOK: &str = r#"{"command": "mendit hook", "matcher": "Shell", "timeout": 20}"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_put_in_once_and_renewed() {
        let text = "# Ours\n\nWords.\n";
        let one = with_block(text, "new");
        assert!(
            one.starts_with(text) && one.ends_with(&format!("{END}\n")),
            "{one}"
        );
        assert_eq!(with_block(&one, "new"), one);
        let after = format!("{one}\nMore.\n");
        let renewed = with_block(&after, "newer");
        assert!(
            renewed.contains("newer") && renewed.ends_with("\nMore.\n"),
            "{renewed}"
        );
        assert_eq!(renewed.matches(BEGIN).count(), 1);
    }

    #[test]
    fn a_table_is_added_behind_what_is_there() {
        let added = |text| with_table(text, "mcp_servers", "mendit", TOML_SERVER);
        let text = "# ours\nmodel = \"m\"\n[mcp_servers.other]\ncommand = \"x\"";
        let new = added(text).unwrap();
        assert_eq!(
            new,
            format!("{text}\n\n[mcp_servers.mendit]\n{TOML_SERVER}")
        );
        assert_eq!(added(&new).as_ref(), Some(&new));
        // One that is written otherwise is one, too; one that takes no more is left.
        let inline = "mcp_servers.mendit.command = \"other\"\n";
        assert_eq!(added(inline).as_deref(), Some(inline));
        assert_eq!(added("mcp_servers = { a = { command = \"x\" } }\n"), None);
        assert_eq!(added("no toml"), None);
    }

    #[test]
    fn every_agent_has_files_and_texts_fit() {
        for name in SET_UP_AGENTS {
            assert!(files(name).is_some_and(|it| it.len() > 1), "{name}");
        }
        assert!(SKILL.contains("mendit run --brief") && SKILL.starts_with("---\n"));
        // The command is the same in each agent's form.
        let text = include_str!("agent_files/fix_tests.toml");
        let text: toml::Table = text.parse().unwrap();
        let prompt = text["prompt"].as_str().unwrap();
        assert_eq!(prompt.replace("{{args}}", "$ARGUMENTS"), FIX_TESTS);
    }
}
