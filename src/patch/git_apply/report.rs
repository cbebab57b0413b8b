use std::fmt::Write as _;

use super::options::GitApplyOptions;
use crate::patch::strict::{Section, quoted};

/// What `--stat`, `--numstat` and `--summary` print, in this order.
pub(super) fn report(sections: &[&Section<'_>], options: &GitApplyOptions) -> String {
    let mut out = String::new();
    if options.stat {
        stat(sections, &mut out);
    }
    if options.numstat {
        numstat(sections, options.nul, &mut out);
    }
    if options.summary {
        for section in sections {
            summary(section, &mut out);
        }
    }
    out
}

const NAME_WIDTH: usize = 50;
const WIDTH: usize = 70;

// Writing to a String cannot fail, here and below.
fn stat(sections: &[&Section<'_>], out: &mut String) {
    let names = sections
        .iter()
        .flat_map(|section| [&section.old_name, &section.new_name]);
    let width = names.flatten().map(|name| quoted(name).len()).max();
    let width = width.unwrap_or(0).min(NAME_WIDTH);
    let most = sections
        .iter()
        .map(|section| section.added + section.deleted)
        .max()
        .unwrap_or(0);
    for section in sections {
        let name = shortened(quoted(section.target()), width);
        let _ = write!(out, " {name:<width$} |");
        if section.is_binary {
            out.push_str("  Bin\n");
            continue;
        }
        let room = if width + most > WIDTH {
            WIDTH - width
        } else {
            most
        };
        let total = section.added + section.deleted;
        let scaled = |lines: usize| (lines * room + most / 2).checked_div(most).unwrap_or(0);
        let (all, added) = (scaled(total), scaled(section.added));
        let marks = "+".repeat(added) + &"-".repeat(all.saturating_sub(added));
        let _ = writeln!(out, "{total:5} {marks}");
    }
    let sum = |lines: fn(&Section<'_>) -> usize| sections.iter().map(|it| lines(it)).sum::<usize>();
    totals(
        sections.len(),
        sum(|section| section.added),
        sum(|section| section.deleted),
        out,
    );
}

// The start of a long name gives way, up to a slash when there is one.
fn shortened(name: String, width: usize) -> String {
    if name.len() <= width {
        return name;
    }
    let from = (name.len() + 3).saturating_sub(width);
    let rest = name.get(from..).unwrap_or_default();
    let rest = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(rest);
    format!("...{rest}")
}

fn totals(files: usize, added: usize, deleted: usize, out: &mut String) {
    if files == 0 {
        out.push_str(" 0 files changed\n");
        return;
    }
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    let _ = write!(out, " {files} file{} changed", plural(files));
    if added > 0 || deleted == 0 {
        let _ = write!(out, ", {added} insertion{}(+)", plural(added));
    }
    if deleted > 0 || added == 0 {
        let _ = write!(out, ", {deleted} deletion{}(-)", plural(deleted));
    }
    out.push('\n');
}

fn numstat(sections: &[&Section<'_>], nul: bool, out: &mut String) {
    for section in sections {
        if section.is_binary {
            out.push_str("-\t-\t");
        } else {
            let _ = write!(out, "{}\t{}\t", section.added, section.deleted);
        }
        if nul {
            out.push_str(section.target());
            out.push('\0');
        } else {
            let _ = writeln!(out, "{}", quoted(section.target()));
        }
    }
}

fn summary(section: &Section<'_>, out: &mut String) {
    let whole = |word: &str, mode: u32, name: &str| {
        if mode == 0 {
            format!(" {word} {name}\n")
        } else {
            format!(" {word} mode {mode:06o} {name}\n")
        }
    };
    if section.creates() {
        out.push_str(&whole("create", section.new_mode, section.target()));
        return;
    }
    if section.deletes() {
        out.push_str(&whole("delete", section.old_mode, section.name()));
        return;
    }
    let mut with_name = false;
    if section.is_rename || section.is_copy {
        let word = if section.is_rename { "rename" } else { "copy" };
        let (old, new) = (section.name(), section.target());
        let shared = shared_directories(old, new);
        let (common, old) = old.split_at(shared);
        let new = new.get(shared..).unwrap_or_default();
        let score = section.score;
        let _ = if common.is_empty() {
            writeln!(out, " {word} {old} => {new} ({score}%)")
        } else {
            writeln!(out, " {word} {common}{{{old} => {new}}} ({score}%)")
        };
    } else if section.score > 0 {
        let _ = writeln!(out, " rewrite {} ({}%)", section.target(), section.score);
    } else {
        with_name = true;
    }
    let (old, new) = (section.old_mode, section.new_mode);
    if old != 0 && new != 0 && old != new {
        let name = if with_name {
            format!(" {}", section.target())
        } else {
            String::new()
        };
        let _ = writeln!(out, " mode change {old:06o} => {new:06o}{name}");
    }
}

// How many bytes of leading directories two names share.
fn shared_directories(old: &str, new: &str) -> usize {
    old.match_indices('/')
        .map(|(at, _)| at + 1)
        .take_while(|at| old.get(..*at) == new.get(..*at))
        .last()
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{shared_directories, shortened, totals};

    #[test]
    fn shortens_names_at_a_slash() {
        assert_eq!(shortened("abc/defgh".to_owned(), 9), "abc/defgh");
        assert_eq!(shortened("ab/cd/efgh".to_owned(), 9), ".../efgh");
        assert_eq!(shortened("abcdefghi".to_owned(), 8), "...efghi");
        assert_eq!(shared_directories("a/b/c", "a/b/d/c"), 4);
        assert_eq!(shared_directories("ab/c", "abc/c"), 0);
    }

    #[test]
    fn counts_as_git_words_it() {
        let mut out = String::new();
        totals(1, 0, 2, &mut out);
        totals(2, 0, 0, &mut out);
        assert_eq!(
            out,
            " 1 file changed, 2 deletions(-)\n 2 files changed, 0 insertions(+), 0 deletions(-)\n"
        );
    }
}
