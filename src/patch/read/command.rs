//! Recognizes shell commands that change files. They are never run, but a reply with one is refused,
//! because it is half of the change.

use crate::patch::set::Suspect;

/// Where a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Among words, where most lines that begin like a command are none.
    Prose,
    /// In a fence, or in the call of a shell.
    Script,
}

/// Finds the first command of a line that deletes, moves, edits or writes a file. Nothing is ever run.
pub(super) fn find_command(line: &[u8], place: Place) -> Option<Suspect> {
    let text = std::str::from_utf8(line).ok()?.trim();
    // A longer line is no command that a person types.
    if text.len() > 2000 {
        return None;
    }
    let words = text.split(' ').skip_while(|word| *word == "git").skip(1);
    let is_bare = text.contains(' ')
        && words.clone().all(|word| word.contains(['.', '/']) || word.starts_with('-'));
    let quoted = text.split('`').skip(1).step_by(2);
    let lines: Vec<&str> = match place {
        Place::Prose if !text.starts_with("$ ") && !is_bare => quoted.collect(),
        _ => vec![text],
    };
    let mut commands = lines.into_iter().flat_map(|line| line.split(['|', ';', '&']));
    commands.find_map(suspect_text)
}

fn suspect_text(text: &str) -> Option<Suspect> {
    let words = text.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
    let mut words = words.skip_while(|word| matches!(*word, "$" | "sudo" | "command" | "git"));
    let head = words.next()?;
    let rest: Vec<&str> = words.collect();
    let target = rest.iter().position(|word| word.starts_with('>'));
    let paths: Vec<&str> = match (head, target) {
        ("rm" | "mv" | "unlink" | "rmdir" | "cp" | "ln" | "touch" | "truncate", _) => {
            rest.iter().filter(|word| !word.starts_with('-')).copied().collect()
        }
        ("sed" | "perl", _) if rest.iter().any(is_in_place) => vec![*rest.last()?],
        ("tee", _) if text.contains("<<") => vec![*rest.first()?],
        ("echo" | "printf" | "cat", Some(at)) => {
            let mut after = rest.get(at..)?.iter().map(|word| word.trim_start_matches('>'));
            vec![after.find(|word| !word.is_empty())?]
        }
        _ => return None,
    };
    if paths.iter().all(|path| path.starts_with("/tmp/") || path.starts_with("/dev/")) {
        return None;
    }
    let deletes = matches!(head, "rm" | "mv" | "unlink" | "rmdir");
    let takes = paths.into_iter().filter(|_| deletes);
    Some(Suspect::Command {
        text: text.trim().to_owned(),
        takes: takes.map(str::to_owned).collect(),
    })
}

fn is_in_place(flag: &&str) -> bool {
    flag.starts_with("-i") || matches!(*flag, "-pi" | "--in-place")
}
