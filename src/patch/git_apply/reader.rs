//! Reads the sections of a patch by git's rules.

use super::hunks::range_line;
use super::messages::Messages;
use super::options::GitApplyOptions;
use crate::model::RepoPath;
use crate::patch::read::git_binary;
use crate::patch::strict::{
    Fatal, Naming, Rules, Section, complete_names, git_header, line_of, read_traditional,
};

/// Reads the sections of a patch one after another, by git's rules.
pub(super) struct Reader<'a, 'o> {
    pub(super) input: &'a [u8],
    /// What messages call the input.
    pub(super) name: &'o str,
    pub(super) options: &'o GitApplyOptions,
    pub(super) naming: &'o mut Naming,
    pub(super) messages: &'o mut Messages,
    /// The white space rules of a path.
    pub(super) rules: &'o mut dyn FnMut(&str) -> Rules,
    /// Where the next section is looked for.
    pub(super) at: usize,
    /// The number of the line there.
    pub(super) line: usize,
}

impl<'a> Reader<'a, '_> {
    /// The next section, and whether its path is to be used; `None` when there is none.
    pub(super) fn next(&mut self) -> Result<Option<(Section<'a>, bool)>, Fatal> {
        let mut section = Section::default();
        if !self.find_header(&mut section)? {
            return Ok(None);
        }
        self.add_prefix(&mut section);
        let used = self.options.uses(section.target());
        section.rules = if used { (self.rules)(section.target()) } else { Rules::NONE };
        self.read_hunks(&mut section)?;
        if section.hunks.is_empty() {
            self.read_binary(&mut section)?;
            let is_used = self.options.apply || self.options.check;
            if is_used && !section.is_binary && !section.changes_metadata() {
                return Err(Fatal(format!(
                    "patch with only garbage at line {}",
                    self.line
                )));
            }
        }
        Ok(Some((section, used)))
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.input.get(self.at..).unwrap_or_default()
    }

    fn skip_lines(&mut self, bytes: usize, lines: usize) {
        self.at += bytes;
        self.line += lines;
    }

    fn find_header(&mut self, section: &mut Section<'a>) -> Result<bool, Fatal> {
        while self.at < self.input.len() {
            let rest = self.rest();
            let line = line_of(rest);
            if line.starts_with(b"@@ -") && range_line(line).is_some() {
                let text = String::from_utf8_lossy(line.strip_suffix(b"\n").unwrap_or(line));
                return Err(Fatal(format!(
                    "patch fragment without header at line {}: {text}",
                    self.line
                )));
            }
            // git wants six bytes after the line, the shortest header that there is.
            if line.starts_with(b"diff --git ") && rest.len() >= line.len() + 6 {
                let mut found = Section::default();
                let (bytes, lines) = git_header(rest, self.line, self.naming, &mut found)?;
                complete_names(&mut found, self.naming.strip, self.line + lines)?;
                if bytes > line.len() {
                    self.skip_lines(bytes, lines);
                    *section = found;
                    return Ok(true);
                }
            } else if line.starts_with(b"--- ") {
                let after = rest.get(line.len()..).unwrap_or_default();
                let second = line_of(after);
                let then = after.get(second.len()..).unwrap_or_default();
                if second.starts_with(b"+++ ") && then.starts_with(b"@@ -") {
                    read_traditional(line, second, self.naming, self.line, section)?;
                    self.skip_lines(line.len() + second.len(), 2);
                    return Ok(true);
                }
            }
            self.skip_lines(line.len(), 1);
        }
        Ok(false)
    }

    fn add_prefix(&self, section: &mut Section<'a>) {
        if section.from_root && !self.options.unsafe_paths || self.naming.prefix.is_empty() {
            return;
        }
        let prefix = self.naming.prefix.trim_end_matches('/');
        for name in [&mut section.old_name, &mut section.new_name] {
            if let Some(name) = name.as_mut().filter(|name| !name.starts_with('/'))
                && let Ok(path) = RepoPath::resolve(prefix, name)
            {
                path.as_str().clone_into(name);
            }
        }
    }

    fn read_hunks(&mut self, section: &mut Section<'a>) -> Result<(), Fatal> {
        let (mut old_lines, mut new_lines) = (0, 0);
        while self.rest().starts_with(b"@@ -") {
            let read = self.read_hunk(section);
            let hunk = read.ok_or_else(|| Fatal(format!("corrupt patch at line {}", self.line)))?;
            self.at += hunk.text.len();
            old_lines += hunk.old_lines;
            new_lines += hunk.new_lines;
            section.hunks.push(hunk);
        }
        let several = section.hunks.len() > 1;
        if section.is_new.is_none() && (old_lines > 0 || several) {
            section.is_new = Some(false);
        }
        if section.is_delete.is_none() && (new_lines > 0 || several) {
            section.is_delete = Some(false);
        }
        if section.creates() && old_lines > 0 {
            let name = section.target();
            return Err(Fatal(format!("new file {name} depends on old contents")));
        }
        if section.deletes() && new_lines > 0 {
            let name = section.name();
            return Err(Fatal(format!("deleted file {name} still has contents")));
        }
        Ok(())
    }

    // Data of a binary file, or only the word that it differs.
    fn read_binary(&mut self, section: &mut Section<'a>) -> Result<(), Fatal> {
        let rest = self.rest();
        let line = line_of(rest);
        if line == b"GIT binary patch\n" {
            let from = line.len();
            let body = rest.get(from..).unwrap_or_default();
            let end = memchr::memmem::find(body, b"\ndiff --git ").map_or(body.len(), |at| at + 1);
            let body = body.get(..end).unwrap_or_default();
            let (forward, backward, lines) = git_binary(body).map_err(|message| {
                let line = self.line + 1;
                Fatal(format!("corrupt binary patch at line {line}: {message}"))
            })?;
            section.is_binary = true;
            section.binary = Some((forward, backward));
            let taken = body.split_inclusive(|byte| *byte == b'\n').take(lines);
            let taken: usize = taken.map(<[u8]>::len).sum();
            self.skip_lines(from + taken, lines + 1);
            return Ok(());
        }
        let differs = line
            .strip_suffix(b" differ\n")
            .is_some_and(|line| line.starts_with(b"Binary files ") || line.starts_with(b"Files "));
        if differs {
            section.is_binary = true;
            self.skip_lines(line.len(), 1);
        }
        Ok(())
    }
}
