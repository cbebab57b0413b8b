use super::statements::{Statement, blocks};
use crate::languages::Resolver;
use crate::model::{FileFacts, RepoPath};

/// A file as an import is put into it.
pub(super) struct Page<'p> {
    pub(super) text: &'p str,
    pub(super) facts: &'p FileFacts,
    pub(super) resolver: &'p Resolver<'p>,
    pub(super) file: &'p RepoPath,
}

/// How a file sorts: the group of a statement and its key inside the group.
pub(super) trait Order {
    fn group(&self, statement: &Statement<'_>) -> u8;
    fn key(&self, statement: &Statement<'_>) -> (u8, String);
}

impl Page<'_> {
    pub(super) fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    /// The text with a line put into the leading imports, by group and key. `None` without
    /// imports.
    pub(super) fn sorted_in(
        &self,
        all: &[Statement<'_>],
        order: &dyn Order,
        group: u8,
        key: &(u8, String),
        line: &str,
    ) -> Option<String> {
        let blocks = blocks(self.text, all);
        let in_block = |block: &std::ops::Range<usize>| all.get(block.clone()).unwrap_or_default();
        let same = blocks
            .iter()
            .rev()
            .find(|block| in_block(block).iter().any(|one| order.group(one) == group));
        if let Some(block) = same {
            let peers = in_block(block)
                .iter()
                .filter(|one| order.group(one) == group);
            let peers: Vec<&Statement<'_>> = peers.collect();
            let keys: Vec<_> = peers.iter().map(|one| order.key(one)).collect();
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
                .any(|it| order.group(it) != order.group(one.first().unwrap_or(it)));
            if mixed {
                return Some(match one.iter().rfind(|it| order.group(it) < group) {
                    Some(before) => self.after(before, line),
                    None => self.before(one.first()?, line),
                });
            }
        }
        let later = blocks
            .iter()
            .find(|block| in_block(block).iter().all(|one| order.group(one) > group));
        let end = self.line_end();
        Some(match later {
            Some(block) => self.before(in_block(block).first()?, &format!("{line}{end}")),
            None => self.after(in_block(blocks.last()?).last()?, &format!("{end}{line}")),
        })
    }

    pub(super) fn before(&self, statement: &Statement<'_>, line: &str) -> String {
        let mut out = self.text.to_owned();
        let below = format!("{line}{}{}", self.line_end(), self.indent(statement));
        out.insert_str(statement.span.start, &below);
        out
    }

    pub(super) fn after(&self, statement: &Statement<'_>, line: &str) -> String {
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
