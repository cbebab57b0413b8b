use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use super::files::{below_no_link, write_file};
use super::flags::Args;
use super::runs::last_words;
use super::{App, AppError, Result};
use crate::exec::CommandLine;
use crate::git::{Repository, unified_hunks};
use crate::heal::span_of;

/// Connect an agent, an editor or a CI host.
#[derive(Debug, Clone, Default, Args)]
pub struct InitRequest {
    /// The agent, editor or host; without it the supported names are listed
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// The test command of a workflow [default: the command of the last run]
    #[arg(long, value_name = "CMD")]
    pub test: Option<String>,
    /// Show the changes and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Remove what `mendit init NAME` wrote
    #[arg(long)]
    pub remove: bool,
}

/// One file of a target and its change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitFile {
    /// The file, below the root of the worktree.
    pub path: String,
    /// The change as a patch; empty when there is none.
    pub diff: String,
    /// What was done, or would be done without `--dry-run`.
    pub outcome: InitOutcome,
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InitOutcome {
    /// It was created or extended.
    Written,
    /// It or our part of it was removed.
    Removed,
    /// Nothing had to change.
    Unchanged,
    /// It is a person's own file; the reason says what to do.
    Left(&'static str),
}

#[derive(Deserialize)]
struct Table {
    file: Vec<Row>,
}

// One file of a target, and how our part gets into it.
#[derive(Deserialize)]
struct Row {
    names: Vec<String>,
    path: String,
    #[serde(flatten)]
    part: Part,
}

// As the head of the table says.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    Whole(String),
    Block(String),
    Json(Entry),
    Toml(String),
}

// A member of an object: `at` holds it.
#[derive(Deserialize)]
struct Entry {
    at: String,
    name: String,
    value: String,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let read = crate::model::read_table::<Table>(embedded!("app/init.toml"));
    read.map(|table| table.file).unwrap_or_default()
});

/// Lists the supported names, sorted.
#[must_use]
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
    let name = request.name.as_deref().unwrap_or_default();
    let root = worktree_root(app)?;
    let rows = ROWS
        .iter()
        .filter(|row| row.names.iter().any(|other| other == name));
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
        Ok(text) => Some(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(AppError::unreadable(&row.path, &error)),
    };
    let file = |diff, outcome| InitFile {
        path: row.path.clone(),
        diff,
        outcome,
    };
    let changed = if request.remove {
        row.part.remove(old.as_deref())
    } else {
        let text = fill_in(app, row.part.text(), request)?;
        row.part.insert(&text, old.as_deref()).map(Some)
    };
    let new = match changed {
        Ok(new) if new == old => return Ok(file(String::new(), InitOutcome::Unchanged)),
        Ok(new) => new,
        Err(why) => return Ok(file(String::new(), InitOutcome::Left(why))),
    };
    let diff = show_change(&row.path, old.as_deref(), new.as_deref());
    let outcome = [InitOutcome::Written, InitOutcome::Removed][usize::from(request.remove)];
    if !request.dry_run {
        match new {
            Some(text) => write_file(&place, text)?,
            None => std::fs::remove_file(&place)
                .map_err(|error| AppError::unreadable(&row.path, &error))?,
        }
    }
    Ok(file(diff, outcome))
}

fn show_change(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    let name = |side: &str, text: Option<&str>| match text {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    format!(
        "--- {}\n+++ {}\n{}",
        name("a", old),
        name("b", new),
        unified_hunks(old.unwrap_or_default(), new.unwrap_or_default())
    )
}

impl Part {
    fn text(&self) -> &str {
        match self {
            Self::Whole(name) | Self::Block(name) => match name.as_str() {
                "fix_tests.md" => include_str!("init_files/fix_tests.md"),
                "fix_tests.toml" => include_str!("init_files/fix_tests.toml"),
                "aider.yml" => include_str!("init_files/aider.yml"),
                "pre_commit.yml" => include_str!("init_files/pre_commit.yml"),
                "github.yml" => include_str!("init_files/github.yml"),
                "gitlab.yml" => include_str!("init_files/gitlab.yml"),
                _ => include_str!("init_files/skill.md"),
            },
            Self::Json(entry) => &entry.value,
            Self::Toml(table) => table,
        }
    }

    // The file with our part in it, or why it is left alone.
    fn insert(&self, text: &str, old: Option<&str>) -> Result<String, &'static str> {
        match self {
            Self::Whole(_) => match old {
                Some(old) if old != text => Err("it exists and differs; move it away first"),
                _ => Ok(text.to_owned()),
            },
            Self::Block(_) => Ok(with_block(old.unwrap_or_default(), text, &MARKDOWN)),
            Self::Json(entry) => {
                let old = old.unwrap_or("{}\n");
                with_member(old, entry)
                    .ok_or("it is not a JSON object; add the server `mendit mcp`")
            }
            Self::Toml(_) => {
                let old = old.unwrap_or_default();
                let made = with_block(old, text, &COMMENT);
                let is_valid = made.parse::<toml::Table>().is_ok();
                is_valid.then_some(made).ok_or(
                    "no table can be added to it, or it is already there; see `mcp_servers.mendit`",
                )
            }
        }
    }

    // The file without our part; `None` when nothing else was in it.
    fn remove(&self, old: Option<&str>) -> Result<Option<String>, &'static str> {
        let Some(old) = old else {
            return Ok(None);
        };
        let is_ours = |text: &str| self.insert(text, None).is_ok_and(|made| made == old);
        if is_ours(self.text()) {
            return Ok(None);
        }
        match self {
            // A workflow has values filled in, and says who wrote it.
            Self::Whole(_) if old.starts_with(WRITTEN) => Ok(None),
            Self::Whole(_) => Err("it was changed by hand; remove it yourself"),
            Self::Block(_) => Ok(Some(
                replace_block(old, "", &MARKDOWN).unwrap_or(old.to_owned()),
            )),
            Self::Toml(_) => Ok(Some(
                replace_block(old, "", &COMMENT).unwrap_or(old.to_owned()),
            )),
            Self::Json(entry) => {
                let member = format!("\n    {}", member_text(entry));
                let old = old.replacen(&format!("{member},"), "", 1);
                Ok(Some(old.replacen(&format!("{member}\n"), "", 1)))
            }
        }
    }
}

// Puts the test command and the line that installs mendit into a workflow.
fn fill_in(app: &App, text: &str, request: &InitRequest) -> Result<String> {
    if !text.contains("@TEST@") {
        return Ok(text.to_owned());
    }
    let test = match &request.test {
        Some(line) => line.clone(),
        None => match last_words(app)
            .map_err(|error| error.hint("or name it with `--test`"))?
            .as_slice()
        {
            [line] => line.to_string_lossy().into_owned(),
            words => CommandLine::Program(words.to_vec()).to_string(),
        },
    };
    // JSON strings are strings of YAML, too.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let version = env!("CARGO_PKG_VERSION");
    let install = quoted(&format!("npm install --global mendit@{version}"));
    Ok(text
        .replace("@TEST@", &quoted(&test))
        .replace("@INSTALL@", &install))
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

// Inserts a member as the first of its object; every other byte, comments included, stays. `None` for what is no JSON
// object.
fn with_member(text: &str, entry: &Entry) -> Option<String> {
    let plain = without_comments(text)?;
    let document: Value = serde_json::from_str(&plain).ok()?;
    let inner = document.as_object()?.get(&entry.at);
    if inner.is_some_and(|inner| inner.get(&entry.name).is_some()) {
        return Some(text.to_owned());
    }
    let member = member_text(entry);
    let (at, object, indent, member) = match inner {
        Some(inner) => {
            let at = span_of(&plain, &[&entry.at])?.start;
            (at, inner.as_object()?, "    ", member)
        }
        None => {
            let made = format!("{:?}: {{\n    {member}\n  }}", entry.at);
            (plain.find('{')?, document.as_object()?, "  ", made)
        }
    };
    let end = if object.is_empty() { "\n" } else { "," };
    let (head, rest) = text.split_at(at + 1);
    let made = format!("{head}\n{indent}{member}{end}{rest}");
    serde_json::from_str::<Value>(&without_comments(&made)?).ok()?;
    Some(made)
}

fn member_text(entry: &Entry) -> String {
    format!("{:?}: {}", entry.name, entry.value)
}

// Blanks stand for comments, so that each place is the same place in the text.
fn without_comments(text: &str) -> Option<String> {
    let mut plain = text.to_owned();
    json_strip_comments::strip(&mut plain).ok()?;
    Some(plain)
}

fn worktree_root(app: &App) -> Result<PathBuf> {
    let git = Repository::discover(app.directory())?;
    let Some(git) = git else {
        return Ok(app.directory().to_owned());
    };
    let root = git
        .workdir()
        .ok_or_else(|| AppError::bare(": an agent has nothing to read there"))?;
    Ok(root.to_owned())
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
        let part = Part::Toml("[mcp_servers.mendit]\ncommand = \"mendit\"\n".to_owned());
        let text = "# ours\n[mcp_servers.other]\ncommand = \"x\"\n";
        let new = part.insert(part.text(), Some(text)).unwrap();
        assert!(
            new.starts_with(text) && new.contains("[mcp_servers.mendit]"),
            "{new}"
        );
        assert_eq!(part.insert(part.text(), Some(&new)).as_ref(), Ok(&new));
        assert_eq!(
            part.remove(Some(&new)).unwrap().unwrap().trim_end(),
            text.trim_end()
        );
        for taken in ["mcp_servers.mendit.command = \"other\"\n", "no toml"] {
            assert!(part.insert(part.text(), Some(taken)).is_err(), "{taken}");
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
