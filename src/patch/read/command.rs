use crate::patch::set::Suspect;

/// Where a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Among words, where most lines that begin like a command are none.
    Prose,
    /// In a fence, or in the call of a shell.
    Script,
}

/// The first command of a line that deletes, moves, edits or writes a file. Nothing is ever run.
pub(super) fn command(line: &[u8], place: Place) -> Option<Suspect> {
    let text = std::str::from_utf8(line)
        .ok()
        .filter(|it| it.len() < LONGEST)?;
    if place == Place::Script {
        return script(text);
    }
    let line = text.trim();
    if let Some(prompted) = line.strip_prefix("$ ") {
        return script(prompted);
    }
    let path = |word: &str| word.contains(['.', '/']) || word.starts_with('-');
    let mut words = line
        .split_whitespace()
        .skip_while(|it| *it == "git")
        .skip(1);
    if !line.contains('`') && words.clone().next().is_some() && words.all(path) {
        return script(line);
    }
    // "Also run `git mv a b`."
    line.split('`').skip(1).step_by(2).find_map(script)
}

const LONGEST: usize = 2000;

fn script(text: &str) -> Option<Suspect> {
    let simple = text.split(['|', ';', '&']).map(str::trim);
    simple.into_iter().find_map(simple_command)
}

fn simple_command(text: &str) -> Option<Suspect> {
    let text = text.strip_prefix("$ ").unwrap_or(text);
    let mut words = text
        .split_whitespace()
        .map(|word| word.trim_matches(['\'', '"']))
        .skip_while(|word| *word == "sudo" || *word == "command");
    let mut head = words.next()?;
    let git = head == "git";
    if git {
        head = words.next()?;
    }
    let rest: Vec<&str> = words.collect();
    let (flags, paths): (Vec<&str>, Vec<&str>) = rest.iter().partition(|it| it.starts_with('-'));
    let in_place = |flag: &&str| flag.starts_with("-i") || *flag == "-pi" || *flag == "--in-place";
    let redirects = || {
        rest.iter()
            .any(|word| word.starts_with('>') && !to_nowhere(word, &rest))
    };
    let (takes, writes) = match head {
        "rm" | "mv" => (paths, false),
        "unlink" | "rmdir" if !git => (paths, false),
        "tee" if text.contains("<<") => (Vec::new(), true),
        "cp" | "ln" | "touch" | "truncate" if !git => (Vec::new(), !paths.is_empty()),
        "sed" | "perl" if flags.iter().any(in_place) => (Vec::new(), true),
        "echo" | "printf" | "cat" if !git && redirects() => (Vec::new(), true),
        _ => return None,
    };
    let elsewhere = |path: &&str| path.starts_with("/tmp/") || path.starts_with("/dev/");
    if takes.iter().all(elsewhere) && !writes {
        return None;
    }
    Some(Suspect::Command {
        text: text.to_owned(),
        takes: takes.into_iter().map(str::to_owned).collect(),
        writes,
    })
}

// `> /dev/null`, `>/tmp/x`
fn to_nowhere(word: &str, rest: &[&str]) -> bool {
    let target = word.trim_start_matches('>');
    let after = || rest.iter().skip_while(|it| **it != word).nth(1).copied();
    let target = Some(target).filter(|it| !it.is_empty()).or_else(after);
    target.is_some_and(|it| it.starts_with("/dev/") || it.starts_with("/tmp/"))
}

#[cfg(test)]
mod tests {
    use super::{Place, command};

    #[test]
    fn says_what_changes_files() {
        use Place::{Prose, Script};
        for (line, place, found) in [
            ("rm src/old.py", Prose, true),
            ("git mv a.py b.py", Prose, true),
            ("$ rm x", Prose, true),
            ("Then run `git rm src/old.py` to end.", Prose, true),
            ("rm -rf x", Script, true),
            ("cd x && sed -i 's/a/b/' y.py", Script, true),
            ("echo a > b.txt", Script, true),
            ("tee a.py <<EOF", Script, true),
            ("pytest 2>&1 | tee log.txt", Script, false),
            ("rm is the command that deletes a file.", Prose, false),
            ("Run `pytest tests/a.py`.", Prose, false),
            ("pytest -q > /dev/null", Script, false),
            ("echo a > /dev/null", Script, false),
            ("rm /tmp/x", Script, false),
            ("x = a > b", Script, false),
        ] {
            let suspect = command(line.as_bytes(), place);
            assert_eq!(suspect.is_some(), found, "{line}");
        }
    }
}
