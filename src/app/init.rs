//! The task of `mendit init`: writes, extends or removes the files of an agent, editor or CI host.

use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;

use super::files::{below_no_link, write_file};
use super::flags::request;
use super::open::root_to_run_in;
use super::runs::{RunStore, no_run};
use super::{App, AppError, Result};
use crate::agent::McpServer;
use crate::git::unified_hunks;
use crate::model::{AtPath as _, parse_rows};

request! {
/// Connect an agent, an editor or a CI host.
#[derive(Default)]
InitRequest {
    /// The agent, editor or host; without it the supported names are listed
    #[arg(value_name = "NAME")] name: Option<String>;
    /// The test command of a workflow [default: the command of the last run]
    #[arg(long, value_name = "CMD")] test: Option<String>;
    /// Show the changes and write nothing
    #[arg(long)] dry_run: bool;
    /// Remove what `mendit init NAME` wrote
    #[arg(long)] remove: bool;
}
}

/// One file of a target and its change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitFile {
    /// The file, below the root of the worktree.
    pub path: String,
    /// The change as a patch; empty when there is none.
    pub diff: String,
    /// Why a person's own file is left alone, and what to do.
    pub left: Option<&'static str>,
}

// One file of a target: all of it, or a marked block in a text.
#[derive(Deserialize)]
struct Row {
    names: Vec<String>,
    path: String,
    text: String,
    #[serde(default)]
    block: bool,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| parse_rows(embedded!("app/init.toml")));

/// Lists the supported names, sorted.
pub fn init_names() -> Vec<&'static str> {
    let names = ROWS.iter().flat_map(|row| &row.names);
    let mut names: Vec<&str> = names.map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Writes, shows or removes the files of one name.
///
/// # Errors
/// An unknown name, a workflow without a test command, or a file that cannot be written.
pub fn init_target(app: &App, request: &InitRequest) -> Result<Vec<InitFile>> {
    let name = request.name.clone().unwrap_or_default();
    let root = root_to_run_in(&app.worktree()?)?;
    let rows = ROWS.iter().filter(|row| row.names.contains(&name));
    let files = rows.map(|row| change_file(app, &root, row, request));
    let files: Vec<InitFile> = files.collect::<Result<_, _>>()?;
    if files.is_empty() {
        let error = AppError::usage(format!("`{name}` is not supported"));
        return Err(error.hint(format!("supported are {}", init_names().join(", "))));
    }
    Ok(files)
}

fn change_file(app: &App, root: &Path, row: &Row, request: &InitRequest) -> Result<InitFile> {
    let place = below_no_link(root, &row.path)?;
    let old = match std::fs::read_to_string(&place) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        read => Some(read.at(&row.path)?),
    };
    let changed = if request.remove {
        row.remove(old.as_deref())
    } else {
        let text = fill_in(app, row.text(), request)?;
        row.insert(&text, old.as_deref()).map(Some)
    };
    let (new, left) = match changed {
        Ok(new) => (new, None),
        Err(why) => (old.clone(), Some(why)),
    };
    let mut diff = String::new();
    if new != old {
        diff = show_change(&row.path, old.as_deref(), new.as_deref());
        match new {
            _ if request.dry_run => {}
            Some(text) => write_file(&place, text)?,
            None => std::fs::remove_file(&place).at(&row.path)?,
        }
    }
    Ok(InitFile {
        path: row.path.clone(),
        diff,
        left,
    })
}

fn show_change(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    format!(
        "--- {}\n+++ {}\n{}",
        side_name("a", old, path),
        side_name("b", new, path),
        unified_hunks(old.unwrap_or_default(), new.unwrap_or_default())
    )
}

fn side_name(side: &str, text: Option<&str>, path: &str) -> String {
    match text {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    }
}

impl Row {
    fn text(&self) -> &str {
        match self.text.as_str() {
            "skill.md" => include_str!("init_files/skill.md"),
            "fix_tests.md" => include_str!("init_files/fix_tests.md"),
            "fix_tests.toml" => include_str!("init_files/fix_tests.toml"),
            "aider.yml" => include_str!("init_files/aider.yml"),
            "pre_commit.yml" => include_str!("init_files/pre_commit.yml"),
            "github.yml" => include_str!("init_files/github.yml"),
            "gitlab.yml" => include_str!("init_files/gitlab.yml"),
            text => text,
        }
    }

    fn is_toml(&self) -> bool {
        self.path.ends_with(".toml")
    }

    fn marks(&self) -> &'static [&'static str; 2] {
        if self.is_toml() { &COMMENT } else { &MARKDOWN }
    }

    // The file with our part in it, or why it is left alone.
    fn insert(&self, text: &str, old: Option<&str>) -> Result<String, &'static str> {
        if !self.block {
            let is_settings = self.path.ends_with(".json");
            return match old {
                Some(old) if is_settings => McpServer::read(text)
                    .and_then(|server| server.add_to(old))
                    .ok_or("it is not JSON; add a server `mendit` with the command `mendit mcp --run-last`"),
                Some(old) if old != text => Err("it exists with other content; move it away first"),
                _ => Ok(text.to_owned()),
            };
        }
        let made = with_block(old.unwrap_or_default(), text, self.marks());
        let is_valid = !self.is_toml() || made.parse::<toml::Table>().is_ok();
        is_valid
            .then_some(made)
            .ok_or("the table `mcp_servers.mendit` cannot be added, or is already there")
    }

    // The file without our part; `None` when nothing else was in it.
    fn remove(&self, old: Option<&str>) -> Result<Option<String>, &'static str> {
        let Some(old) = old else {
            return Ok(None);
        };
        if self.block {
            let rest = replace_block(old, "", self.marks()).unwrap_or(old.to_owned());
            return Ok(Some(rest).filter(|rest| !rest.trim().is_empty()));
        }
        // A workflow has values filled in, and says who wrote it.
        if old == self.text() || old.starts_with(WRITTEN) {
            return Ok(None);
        }
        let server = Some(self.text()).filter(|_| self.path.ends_with(".json"));
        let rest = server.and_then(McpServer::read).and_then(|server| server.remove_from(old));
        rest.map(Some).ok_or("it was edited by hand; remove it yourself")
    }
}

// Puts the test command and the line that installs mendit into a workflow.
fn fill_in(app: &App, text: &str, request: &InitRequest) -> Result<String> {
    if !text.contains("@TEST@") {
        return Ok(text.to_owned());
    }
    let test = request
        .test
        .clone()
        .or_else(|| RunStore::open(app).ok()?.last_command()?.line());
    let test = test.ok_or_else(|| no_run().hint("or pass the command: `--test CMD`"))?;
    let version = env!("CARGO_PKG_VERSION");
    let install = json_string(&format!("npm install --global mendit@{version}"));
    Ok(text.replace("@TEST@", &json_string(&test)).replace("@INSTALL@", &install))
}

// JSON strings are strings of YAML, too.
fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn with_block(text: &str, block: &str, marks: &[&str; 2]) -> String {
    // The front matter of a skill is for tools that read skills.
    let body = block.split_once("---\n\n").map_or(block, |parts| parts.1);
    let made = format!("{}\n{}\n{}\n", marks[0], body.trim_end(), marks[1]);
    if let Some(replaced) = replace_block(text, &made, marks) {
        return replaced;
    }
    let gap = match text {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    format!("{text}{gap}{made}")
}

// The text with another block in place of ours; `None` when ours is not in it.
fn replace_block(text: &str, block: &str, [begin, end]: &[&str; 2]) -> Option<String> {
    let (from, to) = (text.find(begin)?, text.find(end)?);
    let head = text.get(..from)?;
    let tail = text.get(to + end.len()..)?;
    let tail = tail.strip_prefix('\n').unwrap_or(tail);
    (from < to).then(|| format!("{head}{block}{tail}"))
}

/// The lines around a block of ours, in Markdown and where `#` begins a comment.
const MARKDOWN: [&str; 2] = ["<!-- mendit: begin -->", "<!-- mendit: end -->"];
const COMMENT: [&str; 2] = ["# mendit: begin", "# mendit: end"];
const WRITTEN: &str = "# Written by `mendit init ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_is_inserted_once_and_renewed() {
        let text = "# Ours\n\nWords.\n";
        let one = with_block(text, "new", &MARKDOWN);
        assert!(
            one.starts_with(text) && one.ends_with(&format!("{}\n", MARKDOWN[1])),
            "{one}"
        );
        assert_eq!(with_block(&one, "new", &MARKDOWN), one);
        let after = format!("{one}\nMore.\n");
        let renewed = with_block(&after, "newer", &MARKDOWN);
        assert!(
            renewed.contains("newer") && renewed.ends_with("\nMore.\n"),
            "{renewed}"
        );
        assert_eq!(renewed.matches(MARKDOWN[0]).count(), 1);
    }

    #[test]
    fn table_is_added_behind_existing_text() {
        let row = ROWS.iter().find(|row| row.is_toml() && row.block).unwrap();
        let text = "# ours\n[mcp_servers.other]\ncommand = \"x\"\n";
        let new = row.insert(row.text(), Some(text)).unwrap();
        assert!(
            new.starts_with(text) && new.contains("[mcp_servers.mendit]"),
            "{new}"
        );
        assert_eq!(row.insert(row.text(), Some(&new)).as_ref(), Ok(&new));
        let rest = row.remove(Some(&new)).unwrap().unwrap();
        assert_eq!(rest.trim_end(), text.trim_end());
        for taken in ["mcp_servers.mendit.command = \"other\"\n", "no toml"] {
            assert!(row.insert(row.text(), Some(taken)).is_err(), "{taken}");
        }
    }

    #[test]
    fn command_is_the_same_in_both_formats() {
        let skill = include_str!("init_files/skill.md");
        assert!(skill.contains("mendit run --brief") && skill.starts_with("---\n"));
        let text: toml::Table = include_str!("init_files/fix_tests.toml").parse().unwrap();
        let prompt = text["prompt"].as_str().unwrap();
        let markdown = include_str!("init_files/fix_tests.md");
        assert_eq!(prompt.replace("{{args}}", "$ARGUMENTS"), markdown);
    }
}
