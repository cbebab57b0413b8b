//! Reads the header of a section as git does.

use super::naming::{Naming, Stop, decode_name, is_null};
use super::section::Section;
use super::timestamp::is_epoch;
use super::white_space::is_space;
use super::{Fatal, line_of};
use crate::patch::change::recorded_mode;
use crate::patch::text::leading_number;

/// Takes the names that a git header leaves to the first line.
pub(in crate::patch) fn complete_names(
    found: &mut Section<'_>,
    strip: usize,
    line: usize,
) -> Result<(), Fatal> {
    if found.old_name.is_none() && found.new_name.is_none() {
        if found.default_name.is_none() {
            let plural = if strip == 1 { "" } else { "s" };
            return Err(Fatal(format!(
                "git diff header lacks filename information when removing {strip} leading pathname component{plural} (line {line})"
            )));
        }
        found.old_name.clone_from(&found.default_name);
        found.new_name.clone_from(&found.default_name);
    }
    let lacks_new = found.new_name.is_none() && !found.deletes();
    let lacks_old = found.old_name.is_none() && !found.creates();
    if lacks_new || lacks_old {
        return Err(Fatal(format!(
            "git diff header lacks filename information (line {line})"
        )));
    }
    found.from_root = true;
    Ok(())
}

/// Reads a `---` line and a `+++` line of tools other than git.
pub(in crate::patch) fn read_traditional(
    first: &[u8],
    second: &[u8],
    naming: &mut Naming,
    line: usize,
    section: &mut Section<'_>,
) -> Result<(), Fatal> {
    let first = first.get(4..).unwrap_or_default();
    let second = second.get(4..).unwrap_or_default();
    if !naming.settled {
        let (one, two) = (naming.guess_strip(first), naming.guess_strip(second));
        if let (Some(one), Some(two)) = (one.or(two), two)
            && one == two
        {
            naming.strip = one;
            naming.settled = true;
        }
    }
    let (has_old, has_new) = (!is_null(first), !is_null(second));
    let find = |line: &[u8], default| naming.find_traditional(line, default, naming.strip);
    let old = has_old.then(|| find(first, None)).flatten();
    let name = if has_new { find(second, old.as_deref()) } else { old };
    let path = decode_name(
        name.ok_or_else(|| Fatal(format!("unable to find filename in patch at line {line}")))?,
    )?;
    let is_new = !has_old || has_new && is_epoch(first);
    let is_delete = !is_new && (!has_new || is_epoch(second));
    if is_new || is_delete {
        (section.is_new, section.is_delete) = (Some(is_new), Some(is_delete));
    }
    section.old_name = (!is_new).then(|| path.clone());
    section.new_name = (!is_delete).then_some(path);
    Ok(())
}

/// Reads the header lines of one section: those of git, or a `---` line and a `+++` line.
pub(in crate::patch) fn read_header<'a>(
    text: &'a [u8],
    naming: &mut Naming,
) -> Result<Section<'a>, Fatal> {
    let mut section = Section::default();
    if text.starts_with(b"diff --git ") {
        git_header(text, 1, naming, &mut section)?;
        complete_names(&mut section, naming.strip, 1)?;
    } else {
        let first = line_of(text);
        let second = line_of(text.get(first.len()..).unwrap_or_default());
        read_traditional(first, second, naming, 1, &mut section)?;
    }
    Ok(section)
}

/// Reads the header lines after a `diff --git` line. Gives how many bytes they take, the line
/// itself included, and their number.
pub(in crate::patch) fn git_header<'a>(
    input: &'a [u8],
    number: usize,
    naming: &Naming,
    section: &mut Section<'a>,
) -> Result<(usize, usize), Fatal> {
    // git says what is new and what is deleted.
    (section.is_new, section.is_delete) = (Some(false), Some(false));
    let first = line_of(input);
    let names = first.strip_prefix(b"diff --git ").unwrap_or_default();
    section.default_name = naming.of_git_line(names).map(decode_name).transpose()?;
    let mut at = first.len();
    let mut count = 1;
    loop {
        let line = line_of(input.get(at..).unwrap_or_default());
        if !line.ends_with(b"\n") {
            break;
        }
        let Some((mark, word)) = WORDS.iter().find(|(mark, _)| line.starts_with(mark)) else {
            break;
        };
        if *word == Word::Hunk {
            break;
        }
        let rest = line.get(mark.len()..).unwrap_or_default();
        section.is_copy |= mark.starts_with(b"copy ");
        section.is_rename |= mark.starts_with(b"rename ");
        read_word(*word, rest, number + count, naming, section)?;
        check_extensions(number + count, section)?;
        at += line.len();
        count += 1;
    }
    Ok((at, count))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Hunk,
    OldName,
    NewName,
    OldMode,
    NewMode,
    Deleted,
    New,
    MovedFrom,
    MovedTo,
    Score,
    Index,
}

const WORDS: &[(&[u8], Word)] = &[
    (b"@@ -", Word::Hunk),
    (b"--- ", Word::OldName),
    (b"+++ ", Word::NewName),
    (b"old mode ", Word::OldMode),
    (b"new mode ", Word::NewMode),
    (b"deleted file mode ", Word::Deleted),
    (b"new file mode ", Word::New),
    (b"copy from ", Word::MovedFrom),
    (b"copy to ", Word::MovedTo),
    (b"rename old ", Word::MovedFrom),
    (b"rename new ", Word::MovedTo),
    (b"rename from ", Word::MovedFrom),
    (b"rename to ", Word::MovedTo),
    (b"similarity index ", Word::Score),
    (b"dissimilarity index ", Word::Score),
    (b"index ", Word::Index),
];

/// Whether a line is one of the header lines that follow a `diff --git` line.
pub(in crate::patch) fn is_header_word(line: &[u8]) -> bool {
    let mut words = WORDS.iter().filter(|(_, word)| *word != Word::Hunk);
    words.any(|(mark, _)| line.starts_with(mark))
}

fn read_word<'a>(
    word: Word,
    rest: &'a [u8],
    number: usize,
    naming: &Naming,
    section: &mut Section<'a>,
) -> Result<(), Fatal> {
    let strip = naming.strip.saturating_sub(1);
    let moved = naming.find(rest, None, strip, Stop::Nothing);
    match word {
        Word::Hunk => {}
        Word::Score => {
            let score = leading_number(rest).filter(|(score, _)| *score <= 100);
            section.score = score.map_or(section.score, |(score, _)| score);
        }
        Word::OldName => {
            let null = section.creates();
            verify_name(rest, null, &mut section.old_name, "old", number, naming)?;
        }
        Word::NewName => {
            let null = section.deletes();
            verify_name(rest, null, &mut section.new_name, "new", number, naming)?;
        }
        Word::OldMode => section.old_mode = parse_mode(rest, number)?,
        Word::NewMode => section.new_mode = parse_mode(rest, number)?,
        Word::Deleted => {
            section.is_delete = Some(true);
            section.old_name.clone_from(&section.default_name);
            section.old_mode = parse_mode(rest, number)?;
        }
        Word::New => {
            section.is_new = Some(true);
            section.new_name.clone_from(&section.default_name);
            section.new_mode = parse_mode(rest, number)?;
        }
        Word::MovedFrom => section.old_name = moved.map(decode_name).transpose()?,
        Word::MovedTo => section.new_name = moved.map(decode_name).transpose()?,
        Word::Index => read_index(rest, number, section)?,
    }
    Ok(())
}

// Two ids and perhaps a mode: `1234567..89abcde 100644`.
fn read_index<'a>(rest: &'a [u8], number: usize, section: &mut Section<'a>) -> Result<(), Fatal> {
    let mut words = rest.strip_suffix(b"\n").unwrap_or(rest).splitn(2, |byte| *byte == b' ');
    let ids = words.next().unwrap_or_default();
    let Some((old, dotted)) = memchr::memchr(b'.', ids).and_then(|dot| ids.split_at_checked(dot))
    else {
        return Ok(());
    };
    let Some(new) = dotted.strip_prefix(b"..") else {
        return Ok(());
    };
    // The length of a SHA-1 id.
    if old.len().max(new.len()) > 40 {
        return Ok(());
    }
    (section.old_id, section.new_id) = (old, new);
    if let Some(text) = words.next() {
        section.old_mode = parse_mode(text, number)?;
    }
    Ok(())
}

fn verify_name(
    line: &[u8],
    null: bool,
    name: &mut Option<String>,
    side: &str,
    number: usize,
    naming: &Naming,
) -> Result<(), Fatal> {
    let bad = |what: String| Fatal(format!("git apply: bad git-diff - {what} on line {number}"));
    match name {
        None if null => {
            if !is_null(line) {
                return Err(bad("expected /dev/null".to_owned()));
            }
        }
        None => {
            let found = naming.find(line, None, naming.strip, Stop::Tab);
            *name = found.map(decode_name).transpose()?;
        }
        Some(name) if null => {
            return Err(bad(format!("expected /dev/null, got {name}")));
        }
        Some(name) => {
            let other = naming.find(line, None, naming.strip, Stop::Tab);
            if other.as_deref() != Some(name.as_bytes()) {
                return Err(bad(format!("inconsistent {side} filename")));
            }
        }
    }
    Ok(())
}

fn parse_mode(line: &[u8], number: usize) -> Result<u32, Fatal> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let digits = line.iter().take_while(|byte| matches!(byte, b'0'..=b'7'));
    let (digits, rest) = line.split_at(digits.count());
    let value = std::str::from_utf8(digits)
        .ok()
        .and_then(|digits| u32::from_str_radix(digits, 8).ok())
        .filter(|_| rest.first().is_none_or(|byte| is_space(*byte)))
        .and_then(canonical_mode);
    value.ok_or_else(|| {
        let line = String::from_utf8_lossy(line);
        Fatal(format!("invalid mode on line {number}: {line}"))
    })
}

// The modes that git records; others come from tools that copy them off the disk.
fn canonical_mode(mode: u32) -> Option<u32> {
    let is_file = matches!(mode & 0o170_000, 0o100_000 | 0o120_000 | 0o160_000);
    is_file.then(|| recorded_mode(mode))
}

fn check_extensions(number: usize, section: &mut Section<'_>) -> Result<(), Fatal> {
    let kinds = [
        section.creates(),
        section.deletes(),
        section.is_rename,
        section.is_copy,
    ];
    let count = kinds.iter().filter(|is_kind| **is_kind).count();
    if count > 1 {
        let first = section.extension_line;
        return Err(Fatal(format!(
            "inconsistent header lines {first} and {number}"
        )));
    }
    if count == 1 && section.extension_line == 0 {
        section.extension_line = number;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::parse_mode;

    #[test]
    fn reads_modes_of_files_alone() {
        let mode = |text: &str| parse_mode(text.as_bytes(), 1).ok();
        assert_eq!(mode("0100755 x\n"), Some(0o100_755));
        assert_eq!(mode("100664\n"), Some(0o100_644));
        // git makes a submodule of such a mode.
        for text in ["644\n", "040000\n", "100644x\n", "\n"] {
            assert_eq!(mode(text), None, "{text}");
        }
    }
}
