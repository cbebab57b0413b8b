use super::language::Language;
use super::resolver::Resolver;
use super::statements::{Statement, blocks, statements};
use crate::model::{FileFacts, RepoPath, Suggestion};

/// A file as an import is put into it.
pub struct Page<'p> {
    /// Its text.
    pub text: &'p str,
    /// What it says of itself.
    pub facts: &'p FileFacts,
    /// Tells what its imports mean.
    pub resolver: &'p Resolver<'p>,
    /// Its path.
    pub file: &'p RepoPath,
}

/// How a language puts an import into a file.
pub(super) trait Inserter {
    /// The statement that takes one more name, the name as it stands there, and the width beyond
    /// which a list is broken up.
    fn extended<'s, 'f>(
        &self,
        all: &'s [Statement<'f>],
        one: &Suggestion,
    ) -> Option<(&'s Statement<'f>, String, usize)>;

    /// How a list that is too wide begins, and what its lines begin with.
    fn broken(&self) -> (&'static str, &'static str, &'static str);

    /// A statement of its own.
    fn line(&self, one: &Suggestion) -> String;

    /// The group of a statement, and its key inside the group.
    fn sorted(&self, statement: &Statement<'_>) -> (u8, (u8, String));

    /// The same of one that is not there yet.
    fn place(&self, one: &Suggestion) -> (u8, (u8, String));

    /// The statement below which alone the new one may stand.
    fn peer<'s, 'f>(&self, _: &'s [Statement<'f>], _: &Suggestion) -> Option<&'s Statement<'f>> {
        None
    }

    /// The text with a default import before the names that a statement takes.
    fn as_default(&self, _: &[Statement<'_>], _: &Suggestion) -> Option<String> {
        None
    }

    /// The text with the line as the first import.
    fn first(&self, line: &str) -> Option<String>;
}

/// The text with one more import, where and how the style of the file wants it. `None` where that
/// cannot be told.
#[must_use]
pub fn inserted(page: &Page<'_>, one: &Suggestion) -> Option<String> {
    let language = Language::of_path(page.file.as_str())?;
    let all = statements(page.file, page.text, page.facts);
    let inserter = (language.editing.as_ref()?.inserter)(page, &all);
    if let Some((statement, name, width)) = inserter.extended(&all, one) {
        return page.extended(statement, &name, width, inserter.broken());
    }
    if let Some(text) = inserter.as_default(&all, one) {
        return Some(text);
    }
    let line = inserter.line(one);
    if let Some(peer) = inserter.peer(&all, one) {
        return Some(page.after(peer, &line));
    }
    let (group, key) = inserter.place(one);
    let sorted = page.sorted_in(&all, &*inserter, group, &key, &line);
    sorted.or_else(|| inserter.first(&line))
}

impl Page<'_> {
    pub(super) fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    // The text with one more name in a statement; on one line while that is not too wide.
    fn extended(
        &self,
        statement: &Statement<'_>,
        name: &str,
        width: usize,
        (open, indent, close): (&str, &str, &str),
    ) -> Option<String> {
        let names = statement.names.as_ref()?;
        let mut changed = names.with(self.text, name)?;
        let before = self.text.get(statement.span.clone())?;
        let grown = changed.len() - self.text.len();
        let after = changed.get(statement.span.start..statement.span.end + grown)?;
        if !before.contains('\n') && widest(after) > width && widest(before) <= width {
            let all = names.texts_with(self.text, name).into_iter();
            let list: String = all.map(|it| format!("{indent}{it},\n")).collect();
            let list = format!("{open}\n{list}{close}").replace('\n', self.line_end());
            changed.replace_range(names.whole.start..names.whole.end + grown, &list);
        }
        Some(changed)
    }

    // The text with a line put into the leading imports, by group and key. `None` without
    // imports.
    fn sorted_in(
        &self,
        all: &[Statement<'_>],
        order: &dyn Inserter,
        group: u8,
        key: &(u8, String),
        line: &str,
    ) -> Option<String> {
        let blocks = blocks(self.text, all);
        let in_block = |block: &std::ops::Range<usize>| all.get(block.clone()).unwrap_or_default();
        let same = blocks.iter().rev().find(|block| {
            in_block(block)
                .iter()
                .any(|one| order.sorted(one).0 == group)
        });
        if let Some(block) = same {
            let peers = in_block(block)
                .iter()
                .filter(|one| order.sorted(one).0 == group);
            let peers: Vec<&Statement<'_>> = peers.collect();
            let keys: Vec<_> = peers.iter().map(|one| order.sorted(one).1).collect();
            let next = keys.iter().position(|other| other > key);
            return Some(
                match next
                    .filter(|_| keys.is_sorted())
                    .and_then(|at| peers.get(at))
                {
                    Some(next) => self.before(next, line),
                    None => self.after(peers.last()?, line),
                },
            );
        }
        // Groups that share one block, then groups that stand apart.
        if let [block] = blocks.as_slice() {
            let one = in_block(block);
            let mixed = one
                .iter()
                .any(|it| order.sorted(it).0 != order.sorted(one.first().unwrap_or(it)).0);
            if mixed {
                return Some(match one.iter().rfind(|it| order.sorted(it).0 < group) {
                    Some(before) => self.after(before, line),
                    None => self.before(one.first()?, line),
                });
            }
        }
        let later = blocks.iter().find(|block| {
            in_block(block)
                .iter()
                .all(|one| order.sorted(one).0 > group)
        });
        let end = self.line_end();
        Some(match later {
            Some(block) => self.before(in_block(block).first()?, &format!("{line}{end}")),
            None => self.after(in_block(blocks.last()?).last()?, &format!("{end}{line}")),
        })
    }

    fn before(&self, statement: &Statement<'_>, line: &str) -> String {
        let mut out = self.text.to_owned();
        let below = format!("{line}{}{}", self.line_end(), self.indent(statement));
        out.insert_str(statement.span.start, &below);
        out
    }

    fn after(&self, statement: &Statement<'_>, line: &str) -> String {
        let mut out = self.text.to_owned();
        let mut end = statement.span.end;
        if self
            .text
            .get(..end)
            .is_some_and(|head| head.ends_with('\r'))
        {
            end -= 1;
        }
        let above = format!("{}{}{line}", self.line_end(), self.indent(statement));
        out.insert_str(end, &above);
        out
    }

    // What stands before a statement on its line.
    fn indent(&self, statement: &Statement<'_>) -> &str {
        let head = self.text.get(..statement.span.start).unwrap_or_default();
        let start = head.rfind('\n').map_or(0, |at| at + 1);
        head.get(start..).unwrap_or_default()
    }

    /// The text with a line put at a byte that starts a line, a blank line below it.
    pub(super) fn before_all(&self, at: usize, line: &str) -> String {
        let end = self.line_end();
        let (head, rest) = self.text.split_at_checked(at).unwrap_or((self.text, ""));
        let gap = if rest.starts_with(end) { "" } else { end };
        format!("{head}{line}{end}{gap}{rest}")
    }

    /// The text with a line put at a byte that starts a line, blank lines around it.
    pub(super) fn alone_at(&self, at: usize, line: &str, below: usize) -> String {
        let end = self.line_end();
        let (head, rest) = self.text.split_at_checked(at).unwrap_or((self.text, ""));
        let gap = !head.is_empty() && !head.ends_with(&format!("{end}{end}"));
        let missing_end = !head.is_empty() && !head.ends_with('\n');
        let mut out = head.to_owned();
        for _ in 0..usize::from(gap) + usize::from(missing_end) {
            out.push_str(end);
        }
        out.push_str(line);
        out.push_str(end);
        let blank = rest
            .split('\n')
            .take_while(|line| line.trim().is_empty())
            .count();
        if !rest.trim().is_empty() {
            for _ in blank..below {
                out.push_str(end);
            }
        }
        out.push_str(rest);
        out
    }
}

/// Characters of the widest line.
pub(super) fn widest(text: &str) -> usize {
    let lines = text.lines().map(|line| line.chars().count());
    lines.max().unwrap_or(0)
}
