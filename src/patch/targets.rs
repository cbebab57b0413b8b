//! Resolves the paths of a patch to paths of the tree.

use super::set::{Body, FilePatch, LineKind, PatchSet};
use super::strict::{Naming, Section, has_open_quote, is_link, is_submodule, read_header};
use crate::model::{Code, Mend, Operation, PatchProblem, Refusal, RepoPath, Safety, refuse};
use crate::policy::check_path;
use crate::source::Source;

/// What a file section does, with paths as the tree has them.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) operation: Operation,
    /// The path read; for creations, the path written.
    pub(super) old: String,
    /// The path written; for deletions, the path read.
    pub(super) new: String,
    /// The mode asked for, when one is.
    pub(super) mode: Option<u32>,
}

/// How names are turned into paths.
pub(super) struct PathRules<'a> {
    /// Leading components to strip; `None` finds out.
    pub(super) strip: Option<usize>,
    /// Put before every path.
    pub(super) directory: &'a str,
    pub(super) source: &'a dyn Source,
}

/// Finds the paths of every section by git's rules. Sections with an error give `None`.
pub(super) fn resolve_targets(
    set: &PatchSet<'_>,
    rules: &PathRules<'_>,
    mends: &mut Vec<Mend>,
    problems: &mut Vec<PatchProblem>,
) -> Vec<Option<Target>> {
    let level = rules.find_level(&set.files);
    let targets = set.files.iter().map(|file| {
        let fail = |refusal: &Refusal| refusal.clone().problem(None, u64::from(file.line));
        let level = level.as_ref().map_err(fail);
        let found = level.and_then(|level| {
            rules.resolve_path(file, *level, mends).map_err(|refusal| fail(&refusal))
        });
        found.map_err(|problem| problems.push(problem)).ok()
    });
    let targets: Vec<Option<Target>> = targets.collect();
    // If the name of a file was guessed, the path of a new one is unknown.
    let is_guessed = mends.iter().any(|mend| mend.code == Code::M205);
    let mut pairs = set.files.iter().zip(&targets);
    if let Some((file, _)) = pairs.find(creates_by_diff).filter(|_| is_guessed) {
        let message = "the paths need another root, and it is unclear which one a new file has";
        problems.push(PatchProblem::new(Code::P509, message).at(None, u64::from(file.line)));
    }
    targets
}

fn creates_by_diff((file, target): &(&FilePatch<'_>, &Option<Target>)) -> bool {
    file.headers.explicit.is_none()
        && target.as_ref().is_some_and(|target| target.operation == Operation::Create)
}

impl PathRules<'_> {
    fn has(&self, path: &str) -> bool {
        self.source.entry(path).is_some()
    }

    /// Returns how many components to strip so that all files that must exist do.
    ///
    /// git's own level wins wherever it fits.
    fn find_level(&self, files: &[FilePatch<'_>]) -> Result<usize, Refusal> {
        if let Some(level) = self.strip {
            return Ok(level);
        }
        let diffs = files.iter().filter(|file| file.headers.explicit.is_none());
        let is_prefixed = diffs.clone().all(|file| has_prefixes(&file.headers.text));
        let usual = usize::from(is_prefixed);
        // The files that the names lead to, where all are there.
        let found = |level| {
            let mut paths = Vec::new();
            for file in diffs.clone() {
                match self.section(file, level) {
                    Ok(section) if !section.creates() => {
                        let name = Some(section.name()).filter(|name| self.has(name));
                        let name = name.map(str::to_owned);
                        paths.push(name.or_else(|| self.other_side(file, level))?);
                    }
                    _ => {}
                }
            }
            (!paths.is_empty()).then_some(paths)
        };
        let other = 1 - usual;
        match found(usual) {
            Some(_) if is_prefixed => Ok(usual),
            Some(one) if found(other).is_some_and(|two| one != two) => refuse(
                Code::P509,
                "the paths match the tree both with and without their first component",
            ),
            None if found(other).is_some() => Ok(other),
            _ => Ok(usual),
        }
    }

    fn naming(&self, strip: usize) -> Naming {
        let directory = self.directory.trim_matches('/');
        Naming {
            strip,
            settled: true,
            root: match directory {
                "" => String::new(),
                directory => format!("{directory}/"),
            },
            prefix: String::new(),
        }
    }

    /// Reads the header of a diff as git does with this many components stripped.
    fn section<'h>(&self, file: &'h FilePatch<'_>, level: usize) -> Result<Section<'h>, Refusal> {
        let read = read_header(&file.headers.text, &mut self.naming(level));
        let mut section = read.map_err(|fatal| Refusal::new(Code::P202, fatal.0))?;
        mark_null_sides(&file.headers.text, &mut section);
        for name in [&mut section.old_name, &mut section.new_name] {
            let plain = name
                .as_ref()
                .map(|name| name.strip_prefix("./").unwrap_or(name).replace("/./", "/"));
            *name = plain;
        }
        Ok(section)
    }

    /// Finds the side of a diff without git's header that names a file (`x.orig`, `/tmp/1234`).
    fn other_side(&self, file: &FilePatch<'_>, level: usize) -> Option<String> {
        if file.headers.text.starts_with(b"diff --git ") {
            return None;
        }
        let naming = self.naming(level);
        let names = names_of_sides(&file.headers.text);
        let names = names.filter_map(|name| naming.find_traditional(name, None, level));
        let mut paths = names.filter_map(|name| String::from_utf8(name).ok());
        paths.find(|path| self.has(path))
    }

    fn resolve_path(
        &self,
        file: &FilePatch<'_>,
        level: usize,
        mends: &mut Vec<Mend>,
    ) -> Result<Target, Refusal> {
        let mut target = match file.headers.explicit {
            Some(operation) => self.explicit_target(file, operation, mends)?,
            None => self.diff_target(file, level, mends)?,
        };
        let reads_new = !self.has(&target.old) && target.operation != Operation::Delete;
        for (path, is_new) in [
            (&target.old, reads_new),
            (&target.new, !self.has(&target.new)),
        ] {
            check_path(path, is_new).map_err(|found| {
                let (path, why) = (path.escape_debug(), &found.message);
                let message = format!("the path `{path}` is unsafe: {why}");
                Refusal { message, ..found }
            })?;
        }
        if target.operation == Operation::Delete {
            target.mode = None;
        }
        Ok(target)
    }

    fn explicit_target(
        &self,
        file: &FilePatch<'_>,
        operation: Operation,
        mends: &mut Vec<Mend>,
    ) -> Result<Target, Refusal> {
        let new = self.below_directory(&decode_name(&file.headers.path)?);
        let old = file.headers.from.as_ref().map(|from| decode_name(from));
        let old = old.transpose()?.map_or_else(|| new.clone(), |old| self.below_directory(&old));
        let is_new = operation == Operation::Create || matches!(file.body, Body::Whole(_));
        let mut target = Target {
            operation,
            mode: None,
            old,
            new,
        };
        let moves = target.old != target.new;
        if let Some(meant) = self.meant_path(&target.old, is_new) {
            mends.push(renamed_mend(file.line, &target.old, &meant));
            if !moves {
                target.new.clone_from(&meant);
            }
            target.old = meant;
        }
        if matches!(file.body, Body::Whole(_)) && !self.has(&target.new) {
            target.operation = Operation::Create;
        }
        Ok(target)
    }

    fn below_directory(&self, path: &str) -> String {
        let path = path.strip_prefix("./").unwrap_or(path);
        format!("{}{path}", self.naming(0).root).replace("/./", "/")
    }

    fn diff_target(
        &self,
        file: &FilePatch<'_>,
        level: usize,
        mends: &mut Vec<Mend>,
    ) -> Result<Target, Refusal> {
        let mut section = self.section(file, level)?;
        if names_of_sides(&file.headers.text).any(has_open_quote) {
            return refuse(Code::P202, "a quoted file name has no closing quote");
        }
        check_modes(&section)?;
        let names = [section.old_name.as_deref(), section.new_name.as_deref()];
        let moves = section.is_rename || section.is_copy;
        let default_name = section.default_name.as_deref();
        if default_name
            .is_some_and(|name| !(names.contains(&Some(name.trim_start_matches("./"))) || moves))
        {
            let message = "the `diff --git` line names another file than `---` and `+++` do";
            return refuse(Code::P202, message);
        }
        if !section.creates() && !moves && !self.has(section.name()) {
            let meant = self.other_side(file, level);
            let meant = meant.or_else(|| {
                let unknown = self.strip.is_none();
                let meant = self.meant_path(section.name(), false).filter(|_| unknown)?;
                mends.push(renamed_mend(file.line, section.name(), &meant));
                Some(meant)
            });
            if let Some(meant) = meant {
                section.new_name = section.new_name.map(|_| meant.clone());
                section.old_name = Some(meant);
            }
        }
        let operation = self.find_operation(file, &section, mends)?;
        let mode = Some(section.new_mode).filter(|mode| *mode != 0);
        let creates = operation == Operation::Create;
        let new = section.target().to_owned();
        Ok(Target {
            mode: mode.filter(|mode| creates || *mode != section.old_mode),
            old: if creates { new.clone() } else { section.name().to_owned() },
            operation,
            new,
        })
    }

    fn find_operation(
        &self,
        file: &FilePatch<'_>,
        section: &Section<'_>,
        mends: &mut Vec<Mend>,
    ) -> Result<Operation, Refusal> {
        if section.creates() && has_old_lines(&file.body) {
            let has_added = matches!(&file.body, Body::Hunks(hunks)
                if hunks.iter().flat_map(|hunk| &hunk.lines).any(|line| line.kind == LineKind::Add));
            let which = if has_added { "not every line begins" } else { "no line begins" };
            let message = format!("the header says the file is new, but {which} with `+`");
            return refuse(Code::P205, message);
        }
        let kinds = [
            (section.creates(), Operation::Create),
            (section.deletes(), Operation::Delete),
            (section.is_copy, Operation::Copy),
            (section.is_rename, Operation::Rename),
        ];
        if let Some((_, kind)) = kinds.into_iter().find(|(is_kind, _)| *is_kind) {
            return Ok(kind);
        }
        let (old, new) = (section.name(), section.target());
        if old == new {
            // A line of an old file is stated where there is one to add after.
            let only_adds = matches!(&file.body, Body::Hunks(hunks)
                if hunks.iter().all(|hunk| hunk.old.is_none_or(|(line, _)| line < 2)))
                && !has_old_lines(&file.body);
            if self.has(old) || !only_adds {
                return Ok(Operation::Modify);
            }
            let message =
                "treated the file as new: it does not exist and the patch only adds lines";
            mends.push(Mend::new(Code::M201, Safety::Safe, file.line, message));
            return Ok(Operation::Create);
        }
        let message = format!("the two sides name different files, `{old}` and `{new}`");
        let hint = format!("a rename has the lines `rename from {old}` and `rename to {new}`");
        Err(Refusal::new(Code::P202, message).hint(hint))
    }

    /// Finds the one file that a name may represent when no file has it: the only file that ends alike.
    fn meant_path(&self, name: &str, is_new: bool) -> Option<String> {
        if self.has(name) {
            return None;
        }
        let name = RepoPath::without_dress(name);
        if self.has(&name) {
            return Some(name);
        }
        let is_absolute = name.starts_with('/') || name.starts_with("file://");
        if is_new && !is_absolute {
            return None;
        }
        self.only_alike(&name)
    }

    // The only file that a name ends with, or that ends with the name; none where the directory of the name
    // is there, as then that one is meant.
    fn only_alike(&self, name: &str) -> Option<String> {
        let parent = name.rsplit_once('/').map_or("", |(parent, _)| parent);
        let is_there = !parent.is_empty() && self.source.listing().has_directory(parent);
        if is_there || name.split('/').any(|part| part == "..") {
            return None;
        }
        let ends = name.match_indices('/').filter_map(|(at, _)| name.get(at + 1..));
        let mut shorter =
            ends.filter(|path| (path.contains('/') || name.starts_with('/')) && self.has(path));
        if let Some(one) = shorter.next() {
            return shorter.next().is_none().then(|| one.to_owned());
        }
        let mut longer = self.source.listing().entries().iter().filter(|entry| {
            let before = entry.path.as_str().strip_suffix(name);
            before.is_some_and(|before| before.ends_with('/'))
        });
        let one = longer.next().filter(|_| longer.next().is_none());
        one.map(|entry| entry.path.as_str().to_owned())
    }
}

fn renamed_mend(line: u32, name: &str, meant: &str) -> Mend {
    let message = format!("read `{name}` as `{meant}`, the only file whose path ends the same way");
    Mend::new(Code::M205, Safety::Safe, line, &message)
}

fn decode_name(name: &[u8]) -> Result<String, Refusal> {
    let name = std::str::from_utf8(name).ok().filter(|name| !name.contains('\0'));
    name.map(str::to_owned)
        .ok_or_else(|| Refusal::new(Code::P508, "a file name is not UTF-8"))
}

/// Takes `/dev/null` on one side of a git header for what the missing mode line would say.
fn mark_null_sides(header: &[u8], section: &mut Section<'_>) {
    if section.creates() || section.deletes() || section.default_name.is_none() {
        return;
    }
    if has_line(b"--- /dev/null", header) {
        section.is_new = Some(true);
        section.old_name = None;
    } else if has_line(b"+++ /dev/null", header) {
        section.is_delete = Some(true);
        section.new_name = None;
    }
}

fn has_line(start: &[u8], header: &[u8]) -> bool {
    let mut lines = header.split(|byte| *byte == b'\n');
    lines.any(|line| line.starts_with(start))
}

fn check_modes(section: &Section<'_>) -> Result<(), Refusal> {
    let (old, new) = (section.old_mode, section.new_mode);
    if is_submodule(old) || is_submodule(new) {
        return refuse(Code::P506, "the patch changes a submodule");
    }
    if old != 0 && new != 0 && is_link(old) != is_link(new) {
        let message = "the patch turns a file into a symlink by changing only its mode";
        return refuse(Code::P206, message);
    }
    Ok(())
}

/// Returns what follows `---` and `+++` in a header.
fn names_of_sides(header: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = header.split(|byte| *byte == b'\n');
    lines.filter_map(|line| line.strip_prefix(b"--- ").or(line.strip_prefix(b"+++ ")))
}

/// Whether every name of a header has the prefix that git gives it (`a/`, `b/`, and those of
/// `diff.mnemonicPrefix`).
fn has_prefixes(header: &[u8]) -> bool {
    let names = names_of_sides(header).map(|name| name.strip_prefix(b"\"").unwrap_or(name));
    let names = names.filter(|name| !name.starts_with(b"/dev/null"));
    let mut names = names.peekable();
    let is_git = header.starts_with(b"diff --git ") && names.peek().is_none();
    is_git || names.all(|name| matches!(name, [b'a' | b'b' | b'c' | b'i' | b'o' | b'w', b'/', ..]))
}

/// Whether a hunk has lines of an old side.
pub(super) fn has_old_lines(body: &Body<'_>) -> bool {
    matches!(body, Body::Hunks(hunks) if hunks.iter().any(|hunk| {
        hunk.firm_lines(hunk.loose_tail).iter().any(|line| line.is_old())
    }))
}
