//! A report as blocks, written as text, Markdown or HTML, so that the three agree. What is escaped is not trusted, since it
//! comes from logs and agents.

use serde::Serialize;
use serde_json::Value;

/// A report, before it is chosen how it is written.
#[derive(Default)]
pub struct Page(Vec<Block>);

enum Block {
    Title(String, Mood),
    Heading(String),
    Line(String),
    List(Vec<String>),
    /// Cells of rows, the names of the columns first if there are any.
    Table(Vec<Vec<String>>, bool),
    Code(String),
    Diff(String),
    Folded(String, String),
}

/// A name and what is said of it.
pub(super) type Row = (&'static str, String);

/// How good something is: its class in HTML, and its color, which repeats what the words say.
pub(super) type Mood = &'static str;

impl Page {
    pub(super) fn title(&mut self, text: impl Into<String>, mood: Mood) {
        self.0.push(Block::Title(text.into(), mood));
    }

    pub(super) fn heading(&mut self, text: impl Into<String>) {
        self.0.push(Block::Heading(text.into()));
    }

    /// Adds sentences; text between backticks is code.
    pub(super) fn line(&mut self, text: impl Into<String>) {
        self.0.push(Block::Line(text.into()));
    }

    pub(super) fn list(&mut self, items: Vec<String>) {
        self.0.push(Block::List(items));
    }

    /// Adds the first items under a heading, and nothing when there are none.
    pub(super) fn section(&mut self, title: &str, items: impl IntoIterator<Item = String>) {
        let mut items: Vec<String> = items.into_iter().collect();
        // Items of a section that are shown.
        let max_items = 10;
        let more = items.len().saturating_sub(max_items);
        items.truncate(max_items);
        if more > 0 {
            items.push(format!("and {more} more"));
        }
        if !items.is_empty() {
            self.heading(title);
            self.list(items);
        }
    }

    /// Adds rows that have a value.
    pub(super) fn rows(&mut self, rows: impl IntoIterator<Item = Row>) {
        let rows = rows.into_iter().filter(|(_, value)| !value.is_empty());
        let rows = rows.map(|(name, value)| vec![name.to_owned(), value]);
        self.0.push(Block::Table(rows.collect(), false));
    }

    /// Adds a table, and nothing when it has no rows.
    pub(super) fn table<const N: usize>(
        &mut self,
        head: [&str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) {
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        lines.extend(rows.into_iter().map(|row| row.to_vec()));
        if lines.len() > 1 {
            self.0.push(Block::Table(lines, true));
        }
    }

    /// Adds a table of fields of the records, named as they are serialized, and nothing when there are none.
    pub(super) fn records(&mut self, fields: &str, records: &[impl Serialize]) {
        let head = fields.split(' ').map(plain_name).collect();
        let rows = records.iter().map(|record| cells_of(record, fields));
        let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
        if lines.len() > 1 {
            self.0.push(Block::Table(lines, true));
        }
    }

    /// Adds fields of a record, one below the other, those without a value left out.
    pub(super) fn fields(&mut self, record: &impl Serialize, fields: &str) {
        let rows = fields.split(' ').map(plain_name).zip(cells_of(record, fields));
        let rows = rows.filter(|(_, value)| value != "-");
        let rows = rows.map(|(name, value)| vec![name, value]).collect();
        self.0.push(Block::Table(rows, false));
    }

    pub(super) fn code(&mut self, text: &str) {
        if !text.is_empty() {
            self.0.push(Block::Code(text.to_owned()));
        }
    }

    pub(super) fn diff(&mut self, patch: &str) {
        if !patch.is_empty() {
            self.0.push(Block::Diff(patch.to_owned()));
        }
    }

    /// Adds a long text that a reader opens.
    pub(super) fn folded(&mut self, title: &str, text: &str) {
        if !text.is_empty() {
            let (title, text) = (title.to_owned(), text.to_owned());
            self.0.push(Block::Folded(title, text));
        }
    }

    /// Writes it for a terminal.
    pub fn text(&self, color: bool) -> String {
        self.0.iter().map(|block| block.text(color)).collect()
    }

    /// Writes it for a pull request; long parts are folded.
    pub fn markdown(&self) -> String {
        let blocks = self.0.iter().map(|block| match block {
            Block::Title(title, _) => format!("## {}\n", cell(title)),
            Block::Heading(title) => format!("\n**{}**\n\n", cell(title)),
            Block::Line(text) => format!("\n{}\n", cell(text)),
            Block::List(items) => items.iter().map(|item| format!("- {}\n", cell(item))).collect(),
            Block::Table(rows, has_head) => {
                let columns = rows.first().map_or(0, Vec::len);
                let mut lines: Vec<String> = rows.iter().map(|cells| markdown_row(cells)).collect();
                if !has_head {
                    lines.insert(0, markdown_row(&vec![String::new(); columns]));
                }
                lines.insert(1, format!("|{}\n", "---|".repeat(columns)));
                format!("\n{}", lines.concat())
            }
            Block::Code(text) => format!("\n{}", fenced(text, "")),
            Block::Diff(patch) => format!("\n{}", fenced(patch, "diff")),
            Block::Folded(title, text) => {
                let text = fenced(text, "");
                format!("\n<details><summary>{title}</summary>\n\n{text}\n</details>\n")
            }
        });
        blocks.collect()
    }

    /// Writes a page of its own: no script, nothing loaded from elsewhere.
    pub fn html(&self, title: &str) -> String {
        let blocks = self.0.iter().map(|block| match block {
            Block::Title(title, mood) => format!("<h1 class=\"{mood}\">{}</h1>\n", escaped(title)),
            Block::Heading(title) => format!("<h2>{}</h2>\n", escaped(title)),
            Block::Line(text) => format!("<p>{}</p>\n", escaped(text)),
            Block::Diff(patch) => preformatted(&html_diff(patch)),
            Block::Folded(title, text) => {
                let (title, text) = (escaped(title), preformatted(&escaped(text)));
                format!("<details><summary>{title}</summary>\n{text}</details>\n")
            }
            Block::Table(rows, _) => preformatted(&escaped(&table(rows))),
            Block::List(_) | Block::Code(_) => preformatted(&escaped(&block.text(false))),
        });
        let body: String = blocks.collect();
        include_str!("page.html")
            .replace("@TITLE@", &escaped(title))
            .replace("@STYLE@", include_str!("page.css").trim_end())
            .replace("@BODY@", &body)
    }
}

fn preformatted(text: &str) -> String {
    format!("<pre>{text}</pre>\n")
}

fn markdown_row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    format!("| {} |\n", cells.join(" | "))
}

impl Block {
    fn text(&self, color: bool) -> String {
        match self {
            Self::Title(title, "good") => format!("{}\n", paint(title, GREEN, color)),
            Self::Title(title, "bad") => format!("{}\n", paint(title, RED, color)),
            Self::Title(title, _) => format!("{title}\n"),
            Self::Heading(title) => format!("\n{}\n", paint(title, BOLD, color)),
            Self::Line(text) => format!("{text}\n"),
            Self::List(items) => items.iter().map(|item| format!("  {item}\n")).collect(),
            Self::Table(rows, true) => format!("\n{}", table(rows)),
            Self::Table(rows, false) => table(rows),
            Self::Code(text) => format!("{}\n", text.trim_end()),
            Self::Diff(patch) => diff_text(patch, color),
            Self::Folded(title, text) => format!("\n{title}\n{text}\n"),
        }
    }
}

// Returns fields of a record as it is serialized.
fn cells_of(record: &impl Serialize, fields: &str) -> Vec<String> {
    let record = serde_json::to_value(record).unwrap_or_default();
    let cells = fields.split(' ').map(|field| match &record[field] {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            format!("{:.2}", number.as_f64().unwrap_or_default())
        }
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => {
            let items = items.iter().map(|item| item.as_str().unwrap_or_default());
            items.collect::<Vec<_>>().join(", ")
        }
        value => value.to_string(),
    });
    cells.collect()
}

// Spells the name of a field as words.
fn plain_name(field: &str) -> String {
    let letters = field.chars().map(|letter| match letter.is_ascii_uppercase() {
        true => format!(" {}", letter.to_ascii_lowercase()),
        false => letter.to_string(),
    });
    letters.collect()
}

/// Formats rows in columns as wide as their widest cell; numbers are aligned right.
pub fn table<R: AsRef<[String]>>(rows: &[R]) -> String {
    let lines = rows.iter().map(|row| {
        let cells = row.as_ref().iter().enumerate().map(|(at, cell)| {
            let column = rows.iter().filter_map(|row| row.as_ref().get(at));
            let width = column.map(|cell| cell.chars().count()).max().unwrap_or(0);
            let number = cell.split(' ').next().unwrap_or_default().replace(',', "");
            // A sentence may begin with a number too: only a number with its unit is aligned.
            if number.parse::<f64>().is_ok() && cell.matches(' ').count() < 2 {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    });
    lines.collect()
}

/// Formats a patch for people, with removed lines red and added lines green if `color` is set.
pub fn diff_text(patch: &str, color: bool) -> String {
    // A patch for a program stays as it is, byte for byte.
    if !color {
        return patch.to_owned();
    }
    let lines = patch.lines().map(|line| format!("{}\n", paint(line, diff_style(line), true)));
    lines.collect()
}

fn diff_style(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'd', b'i', b'f', b'f', ..] => BOLD,
        [b'@', b'@', ..] => CYAN,
        [b'+', ..] => GREEN,
        [b'-', ..] => RED,
        _ => "",
    }
}

// The signs stay, so that nothing depends on color.
fn html_diff(patch: &str) -> String {
    // Above the first hunk of a file the same signs begin names.
    let mut in_hunk = false;
    let lines = patch.lines().map(|line| {
        in_hunk = line.starts_with("@@") || in_hunk && !line.starts_with("diff --git ");
        let text = escaped(line);
        match line.as_bytes().first().filter(|_| in_hunk) {
            Some(b'+') => format!("<ins>{text}</ins>\n"),
            Some(b'-') => format!("<del>{text}</del>\n"),
            _ => format!("{text}\n"),
        }
    });
    lines.collect()
}

/// Colors a text, if it has a style and `color` is set.
pub(super) fn paint(text: &str, style: &str, color: bool) -> String {
    if color && !style.is_empty() {
        format!("{style}{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

/// Formats lines, the mark that each begins with colored.
pub(super) fn paint_lines(lines: &[String], color: bool) -> String {
    lines.iter().map(|line| paint_mark(line, color)).collect()
}

/// Ends a line, and colors the mark that it begins with; the marks mean the same without.
fn paint_mark(line: &str, color: bool) -> String {
    let marks = [('✗', RED), ('✓', GREEN), ('!', YELLOW), ('?', YELLOW)];
    let (indent, rest) = line.split_at(line.len() - line.trim_start().len());
    let found = marks.iter().find(|(mark, _)| rest.starts_with(*mark));
    let end = found.map_or(0, |(mark, _)| mark.len_utf8());
    let painted = paint(&rest[..end], found.map_or("", |(_, style)| style), color);
    format!("{indent}{painted}{}\n", &rest[end..])
}

const BOLD: &str = "\x1b[1m";
const CYAN: &str = "\x1b[36m";
const GREEN: &str = "\x1b[1;32m";
const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";

/// A text for XML and HTML, between tags or in a quoted attribute. Characters that XML has no
/// place for become the replacement character.
pub(super) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    let text = text.replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;");
    text.replace(
        |c: char| c.is_control() && c != '\n' && c != '\t',
        "\u{FFFD}",
    )
}

/// A text for one line of Markdown, also between the bars of a table. It can start no tag, link,
/// code or mention.
pub(super) fn cell(text: &str) -> String {
    let steering = ['\\', '|', '`', '*', '_', '[', ']', '!'];
    let mut text = text.replace(char::is_control, " ");
    for letter in steering {
        text = text.replace(letter, &format!("\\{letter}"));
    }
    // An invisible joiner follows the sign, so that a name in a log mentions nobody.
    text.replace('<', "&lt;").replace('>', "&gt;").replace('@', "@\u{2060}")
}

/// A text as a fenced block of Markdown that nothing in the text can close.
pub(super) fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max();
    let fence = "`".repeat(longest.unwrap_or(0).max(2) + 1);
    let ended = text.is_empty() || text.ends_with('\n');
    let end = if ended { "" } else { "\n" };
    format!("{fence}{language}\n{text}{end}{fence}\n")
}

#[cfg(test)]
mod tests {
    use super::{cell, escaped, fenced};

    #[test]
    fn escapes_cells_and_fences() {
        assert_eq!(cell("a|b\n`c` <i>"), "a\\|b \\`c\\` &lt;i&gt;");
        assert_eq!(
            fenced("x\n````\ny", "diff"),
            "`````diff\nx\n````\ny\n`````\n"
        );
    }

    #[test]
    fn escapes_tags_and_attributes() {
        assert_eq!(
            escaped("<a b=\"c\">'&\u{1b}[0m"),
            "&lt;a b=&quot;c&quot;&gt;&#39;&amp;\u{FFFD}[0m"
        );
    }
}
