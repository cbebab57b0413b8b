use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

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
    if !SET_UP_AGENTS.contains(&name) {
        return Err(AppError::usage(format!("there is no set-up for `{name}`"))
            .hint(format!("known are {}", SET_UP_AGENTS.join(", "))));
    }
    let root = root(app)?;
    let one = |row: &SetUpRow| {
        // Where opencode has its settings with comments, they stay in that one file.
        let path = match row.path.as_str() {
            "opencode.json" if !there(&root, "opencode.json") && there(&root, "opencode.jsonc") => {
                "opencode.jsonc"
            }
            path => path,
        };
        Ok(SetUpFile {
            path: path.to_owned(),
            done: set_up(&root, path, &row.parts, force)?,
        })
    };
    let rows = SET_UPS.iter().filter(|it| it.agent == name);
    rows.map(one).collect()
}

fn there(root: &Path, path: &str) -> bool {
    root.join(path).symlink_metadata().is_ok()
}

#[derive(Deserialize)]
struct SetUps {
    file: Vec<SetUpRow>,
}

// What one file of an agent needs.
#[derive(Deserialize)]
struct SetUpRow {
    agent: String,
    path: String,
    parts: Vec<Part>,
}

// As the head of the table says.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    Whole(String),
    Block(String),
    Member(String, String, String),
    Table(String, String, String),
    Hooks(String, Vec<(String, String)>),
}

static SET_UPS: LazyLock<Vec<SetUpRow>> = LazyLock::new(|| {
    let read = crate::model::read_table::<SetUps>(embedded!("app/agent_files/setup.toml"));
    read.map(|it| it.file).unwrap_or_default()
});

fn text_of(name: &str) -> &'static str {
    match name {
        "fix_tests" => FIX_TESTS,
        "fix_tests.toml" => include_str!("agent_files/fix_tests.toml"),
        "opencode.js" => include_str!("agent_files/opencode.js"),
        _ => SKILL,
    }
}

fn set_up(root: &Path, path: &str, parts: &[Part], force: bool) -> Result<SetUp, AppError> {
    let place = below_no_link(root, path)?;
    let old = match std::fs::read_to_string(&place) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(AppError::unreadable(path, &error)),
    };
    let mut new = old.clone();
    for part in parts {
        match part.made(new.as_deref(), force) {
            Ok(made) => new = Some(made),
            Err(why) => return Ok(SetUp::Left(why)),
        }
    }
    let Some(new) = new.filter(|it| old.as_ref() != Some(it)) else {
        return Ok(SetUp::Same);
    };
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
            Self::Whole(name) => {
                let text = text_of(name);
                let may = force || old.is_none_or(|old| old == text);
                may.then(|| text.to_owned()).ok_or("`--force` replaces it")
            }
            Self::Block(name) => Ok(with_block(old.unwrap_or_default(), text_of(name))),
            Self::Member(at, name, value) => with_member(old.unwrap_or("{}\n"), &[at], name, value)
                .ok_or("it is no JSON object; add the server `mendit mcp`"),
            Self::Table(at, name, lines) => with_table(old.unwrap_or_default(), at, name, lines)
                .ok_or("a table cannot be added to it; add the server `mendit mcp`"),
            Self::Hooks(start, rows) => {
                let text = old.unwrap_or(start).to_owned();
                let add = |text: String, (name, value): &(String, String)| {
                    with_element(&text, &["hooks"], name, value)
                };
                let made = rows.iter().try_fold(text, add);
                made.ok_or("it is no JSON object; add the hook `mendit hook`")
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
        let lines = "command = \"mendit\"\n";
        let added = |text| with_table(text, "mcp_servers", "mendit", lines);
        let text = "# ours\nmodel = \"m\"\n[mcp_servers.other]\ncommand = \"x\"";
        let new = added(text).unwrap();
        assert_eq!(new, format!("{text}\n\n[mcp_servers.mendit]\n{lines}"));
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
            let files = SET_UPS.iter().filter(|it| it.agent == *name);
            assert!(files.count() > 1, "{name}");
        }
        assert!(SKILL.contains("mendit run --brief") && SKILL.starts_with("---\n"));
        // The command is the same in each agent's form.
        let text = include_str!("agent_files/fix_tests.toml");
        let text: toml::Table = text.parse().unwrap();
        let prompt = text["prompt"].as_str().unwrap();
        assert_eq!(prompt.replace("{{args}}", "$ARGUMENTS"), FIX_TESTS);
    }
}
