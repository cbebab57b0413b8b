use std::fmt::Write as _;

use super::options::GitApplyOptions;
use crate::patch::canonical::quote_path;
use crate::patch::strict::{Section, SectionResult};

/// Writes what `--stat`, `--numstat` and `--summary` print, in this order.
///
/// Writing to a `String` cannot fail, here and below.
pub(super) fn write_report(done: &[SectionResult<'_>], options: &GitApplyOptions) -> String {
    let sections = done.iter().map(|one| &one.section);
    let rows = sections.map(|section| (section, count_lines(section, options)));
    let rows: Vec<Row<'_, '_>> = rows.collect();
    let mut out = String::new();
    if options.stat {
        write_stat(&rows, &mut out);
    }
    for (section, (added, deleted)) in rows.iter().filter(|_| options.numstat) {
        if section.is_binary {
            out.push_str("-\t-\t");
        } else {
            let _ = write!(out, "{added}\t{deleted}\t");
        }
        if options.nul {
            out.push_str(section.target());
            out.push('\0');
        } else {
            let _ = writeln!(out, "{}", quote_path("", section.target()));
        }
    }
    for (section, _) in rows.iter().filter(|_| options.summary) {
        write_summary(section, &mut out);
    }
    out
}

/// A section with the lines that it adds and those that it deletes.
type Row<'r, 'a> = (&'r Section<'a>, (usize, usize));

fn count_lines(section: &Section<'_>, options: &GitApplyOptions) -> (usize, usize) {
    let hunks = section.hunks.iter();
    let lines = hunks.flat_map(|hunk| hunk.text.split(|byte| *byte == b'\n').skip(1));
    let marks: Vec<u8> = lines.filter_map(|line| line.first().copied()).collect();
    let [added, deleted] =
        [b'+', b'-'].map(|mark| marks.iter().filter(|one| **one == mark).count());
    if options.reverse { (deleted, added) } else { (added, deleted) }
}

fn write_stat(rows: &[Row<'_, '_>], out: &mut String) {
    let names = rows.iter().flat_map(|(section, _)| [&section.old_name, &section.new_name]);
    let width = names.flatten().map(|name| quote_path("", name).len()).max();
    // git gives a row of a diffstat 70 columns, and the name 50 of them.
    let width = width.unwrap_or(0).min(50);
    let most = rows.iter().map(|(_, (added, deleted))| added + deleted).max().unwrap_or(0);
    let room = most.min(70 - width);
    for (section, (added, deleted)) in rows {
        let name = shorten_name(quote_path("", section.target()), width);
        let total = added + deleted;
        let [all, plus] =
            [total, *added].map(|lines| (lines * room + most / 2).checked_div(most).unwrap_or(0));
        let marks = "+".repeat(plus) + &"-".repeat(all.saturating_sub(plus));
        let change = if section.is_binary {
            "  Bin".to_owned()
        } else {
            format!("{total:5} {marks}")
        };
        let _ = writeln!(out, " {name:<width$} |{change}");
    }
    let (added, deleted) = rows.iter().fold((0, 0), |sum, (_, counts)| {
        (sum.0 + counts.0, sum.1 + counts.1)
    });
    let files = rows.len();
    let _ = write!(out, " {files} file{} changed", plural(files));
    if files > 0 && (added > 0 || deleted == 0) {
        let _ = write!(out, ", {added} insertion{}(+)", plural(added));
    }
    if files > 0 && (deleted > 0 || added == 0) {
        let _ = write!(out, ", {deleted} deletion{}(-)", plural(deleted));
    }
    out.push('\n');
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

// The start of a long name gives way, up to a slash when there is one.
fn shorten_name(name: String, width: usize) -> String {
    if name.len() <= width {
        return name;
    }
    let from = (name.len() + 3).saturating_sub(width);
    let rest = name.get(from..).unwrap_or_default();
    let rest = rest.find('/').and_then(|at| rest.get(at..)).unwrap_or(rest);
    format!("...{rest}")
}

fn write_summary(section: &Section<'_>, out: &mut String) {
    let (old, new) = (section.name(), section.target());
    let (old_mode, new_mode) = (section.old_mode, section.new_mode);
    // git counts an unknown state as yes.
    let whole = match (section.is_new, section.is_delete) {
        (Some(true) | None, _) => Some(("create", new_mode, new)),
        (_, Some(true) | None) => Some(("delete", old_mode, old)),
        _ => None,
    };
    if let Some((word, mode, name)) = whole {
        let mode = match mode {
            0 => String::new(),
            mode => format!("mode {mode:06o} "),
        };
        let _ = writeln!(out, " {word} {mode}{name}");
        return;
    }
    let score = section.score;
    let moves = section.is_rename || section.is_copy;
    if moves {
        let word = if section.is_rename { "rename" } else { "copy" };
        let starts = old.match_indices('/').map(|(at, _)| at + 1);
        let shared = starts.take_while(|at| old.get(..*at) == new.get(..*at));
        let (common, old) = old.split_at(shared.last().unwrap_or(0));
        let new = new.get(common.len()..).unwrap_or_default();
        let _ = match common {
            "" => writeln!(out, " {word} {old} => {new} ({score}%)"),
            common => writeln!(out, " {word} {common}{{{old} => {new}}} ({score}%)"),
        };
    } else if score > 0 {
        let _ = writeln!(out, " rewrite {new} ({score}%)");
    }
    if old_mode != 0 && new_mode != 0 && old_mode != new_mode {
        let _ = write!(out, " mode change {old_mode:06o} => {new_mode:06o}");
        if !moves && score == 0 {
            let _ = write!(out, " {new}");
        }
        out.push('\n');
    }
}
