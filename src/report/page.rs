use super::markup::{cell, escaped, fenced, message};
use super::table::table;

/// What a report says, before it is chosen how it is written.
pub(super) enum Block {
    /// What it is about, and how that stands: `good`, `weak`, `bad` or nothing.
    Title(String, &'static str),
    Heading(String),
    /// Sentences; what stands between backticks is code.
    Prose(String),
    /// Names and what is said of each.
    Rows(Vec<(String, String)>),
    /// The first row names the columns; those of numbers stand at the right.
    Table(Vec<Vec<String>>, &'static [usize]),
    List(Vec<String>),
    Code(String),
    /// A long text under its title, and what it is written in.
    Folded(String, String, &'static str),
}

use Block::{Code, Folded, Heading, List, Prose, Rows, Table, Title};

/// For people, on a terminal.
pub(super) fn text(blocks: &[Block]) -> String {
    let lines = |items: &[String]| items.iter().map(|it| format!("  {it}\n")).collect();
    let one = |block: &Block| match block {
        Title(title, _) => format!("{title}\n"),
        Heading(title) => format!("\n{title}\n"),
        Prose(text) | Code(text) => format!("{text}\n"),
        Rows(rows) => {
            let rows = rows.iter().map(|(name, text)| [name.clone(), text.clone()]);
            table(&rows.collect::<Vec<_>>(), &[])
        }
        Table(rows, numbers) => format!("\n{}", table(rows, numbers)),
        List(items) => lines(items),
        Folded(title, text, _) => format!("\n{title}\n{text}\n"),
    };
    blocks.iter().map(one).collect()
}

/// For a pull request; long parts are folded.
pub(super) fn markdown(blocks: &[Block]) -> String {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|it| cell(it)).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let one = |block: &Block| match block {
        Title(title, _) => format!("## {title}\n"),
        Heading(title) => format!("\n**{title}**\n"),
        Prose(text) => format!("\n{}\n", cell(text)),
        Rows(rows) => {
            let rows = rows
                .iter()
                .map(|(name, value)| line(&[name.clone(), value.clone()]));
            format!("\n| | |\n|---|---|\n{}", rows.collect::<String>())
        }
        Table(rows, numbers) => {
            let [head, rows @ ..] = rows.as_slice() else {
                return String::new();
            };
            let rule =
                (0..head.len()).map(|at| ["---", "---:"][usize::from(numbers.contains(&at))]);
            let rule: Vec<&str> = rule.collect();
            let rows: String = rows.iter().map(|row| line(row)).collect();
            format!("\n{}|{}|\n{rows}", line(head), rule.join("|"))
        }
        List(items) => items.iter().map(|it| format!("- {}\n", cell(it))).collect(),
        Code(text) => format!("\n{}", fenced(text, "")),
        Folded(title, text, language) => format!(
            "\n<details><summary>{title}</summary>\n\n{}\n</details>\n",
            fenced(text, language)
        ),
    };
    blocks.iter().map(one).collect()
}

/// A page of its own: no script, nothing loaded from elsewhere, light or dark as the reader's system is,
/// readable on a telephone.
pub(super) fn html(title: &str, blocks: &[Block]) -> String {
    let one = |block: &Block| match block {
        Title(title, state) => format!("<h1 class=\"{state}\">{}</h1>\n", escaped(title)),
        Heading(title) => format!("<h2>{}</h2>\n", escaped(title)),
        Prose(text) => format!("<p>{}</p>\n", message(text)),
        Rows(rows) => {
            let row = |(name, value): &(String, String)| {
                format!("<tr><th>{}<td>{}</tr>\n", escaped(name), escaped(value))
            };
            let rows: String = rows.iter().map(row).collect();
            format!("<table>\n{rows}</table>\n")
        }
        Table(rows, _) => {
            let [head, rows @ ..] = rows.as_slice() else {
                return String::new();
            };
            let head: String = head
                .iter()
                .map(|it| format!("<th>{}", escaped(it)))
                .collect();
            let row = |row: &Vec<String>| {
                let cells: String = row.iter().map(|it| html_cell(it)).collect();
                format!("<tr>{cells}</tr>\n")
            };
            let rows: String = rows.iter().map(row).collect();
            format!("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n")
        }
        List(items) => {
            let items = items.iter().map(|it| format!("<li>{}</li>\n", message(it)));
            format!("<ul>\n{}</ul>\n", items.collect::<String>())
        }
        Code(text) => format!("<pre>{}</pre>\n", escaped(text)),
        Folded(title, text, language) => {
            let text = match *language {
                "diff" => diff(text),
                _ => escaped(text),
            };
            format!(
                "<details><summary>{}</summary>\n<pre>{text}</pre>\n</details>\n",
                escaped(title)
            )
        }
    };
    let body: String = blocks.iter().map(one).collect();
    PAGE.replace("@TITLE@", &escaped(title))
        .replace("@STYLE@", STYLE.trim_end())
        .replace("@BODY@", &body)
}

/// A rung of the ladder: of a change that was kept, of one that was not, and of none.
pub(super) const RUNGS: [&str; 3] = ["●", "○", "·"];

fn html_cell(text: &str) -> String {
    let class = match RUNGS.iter().position(|it| *it == text) {
        Some(0) => " class=\"rung kept\"",
        Some(1) => " class=\"rung tried\"",
        Some(_) => " class=\"rung\"",
        None => "",
    };
    format!("<td{class}>{}", escaped(text))
}

// The signs stay, so that nothing depends on colour.
fn diff(patch: &str) -> String {
    // Above the first hunk of a file the same signs stand before names.
    let mut in_hunk = false;
    let line = |line: &str| {
        in_hunk = line.starts_with("@@") || in_hunk && !line.starts_with("diff --git ");
        let text = escaped(line);
        match line.as_bytes().first().filter(|_| in_hunk) {
            Some(b'+') => format!("<ins>{text}</ins>\n"),
            Some(b'-') => format!("<del>{text}</del>\n"),
            _ => format!("{text}\n"),
        }
    };
    patch.lines().map(line).collect()
}

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_says_the_same() {
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let blocks = [
            Title("fixed".to_owned(), "good"),
            Prose("see `a<b>`".to_owned()),
            Table(vec![row(["what", "count"]), row(["a|b", "10"])], &[1]),
            List(vec!["@all".to_owned()]),
            Folded(
                "Patch".to_owned(),
                "@@ -1 +1 @@\n-a\n+<b>\n".to_owned(),
                "diff",
            ),
        ];
        assert_eq!(
            text(&blocks),
            "fixed\nsee `a<b>`\n\nwhat  count\na|b      10\n  @all\n\nPatch\n@@ -1 +1 @@\n-a\n+<b>\n\n"
        );
        let shown = markdown(&blocks);
        assert!(
            shown.contains("| what | count |\n|---|---:|\n| a\\|b | 10 |\n"),
            "{shown}"
        );
        assert!(
            !shown.contains("@all") && shown.contains("```diff\n"),
            "{shown}"
        );
        let page = html("fixed", &blocks);
        for part in [
            "<code>a&lt;b&gt;</code>",
            "<ins>+&lt;b&gt;</ins>",
            "<del>-a</del>",
        ] {
            assert!(page.contains(part), "{page}");
        }
        assert!(page.starts_with("<!doctype html>") && !page.contains("@BODY@"));
    }
}
