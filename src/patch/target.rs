use super::change::recorded_mode;
use super::names::{Names, names, strip};
use super::set::{Body, FilePatch, Headers, LineKind, PatchSet, Side};
use crate::model::{Code, Mend, Operation, PatchProblem, Refusal, Safety, refuse};
use crate::policy::check_path;
use crate::source::Listing;

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
pub(super) struct Naming<'a> {
    /// Leading components to strip; `None` finds out.
    pub(super) strip: Option<usize>,
    /// Put before every path.
    pub(super) directory: &'a str,
    /// Nothing is mended.
    pub(super) strict: bool,
    pub(super) listing: &'a Listing,
}

/// Finds the paths of every section. Sections with an error give `None`.
pub(super) fn targets(
    set: &PatchSet<'_>,
    naming: &Naming<'_>,
    mends: &mut Vec<Mend>,
    problems: &mut Vec<PatchProblem>,
) -> Vec<Option<Target>> {
    let mut fail = |file: &FilePatch<'_>, path: Option<&str>, refusal: Refusal| {
        problems.push(refusal.problem(path, u64::from(file.line)));
    };
    let mut sections: Vec<(&FilePatch<'_>, Option<Names>)> = Vec::with_capacity(set.files.len());
    for file in &set.files {
        let read = names(file).map(|mut names| {
            naming.settle_two_names(&mut names, file);
            if !naming.strict && naming.undress(&mut names, file) {
                let message = "read the name without what stands around it";
                mends.push(Mend::new(Code::M205, Safety::Safe, file.line, message));
            }
            names
        });
        let names = read.map_err(|refusal| fail(file, None, refusal)).ok();
        sections.push((file, names));
    }
    let level = match naming.level(&sections, mends) {
        Ok(level) => level,
        Err(refusal) => {
            set.files
                .first()
                .into_iter()
                .for_each(|file| fail(file, None, refusal.clone()));
            return vec![None; sections.len()];
        }
    };
    let targets = sections.into_iter().map(|(file, names)| {
        let names = names?;
        let found = naming.target(file, &names, level, mends);
        let path = names.new.as_deref().or(names.old.as_deref());
        found.map_err(|refusal| fail(file, path, refusal)).ok()
    });
    targets.collect()
}

// Components in front of a name that may stand for nothing.
const DEEPEST_GUESS: usize = 3;
// Components that are stripped to find files.
const DEEPEST: usize = 32;

impl Naming<'_> {
    fn has(&self, path: &str) -> bool {
        self.listing.get(path).is_some()
    }

    // The path of a name without `level` components; names of rename lines carry no `a/`.
    fn path(&self, name: &str, level: usize, bare: bool) -> Option<String> {
        let level = if bare { level.saturating_sub(1) } else { level };
        let rest = strip(name.strip_prefix("./").unwrap_or(name), level)?;
        let directory = self.directory.trim_matches('/');
        let slash = if directory.is_empty() { "" } else { "/" };
        Some(format!("{directory}{slash}{rest}").replace("/./", "/"))
    }

    fn exists_at_some_level(&self, name: &str) -> bool {
        let mut levels = self.strip.map_or(0..=DEEPEST_GUESS, |level| level..=level);
        levels.any(|level| {
            self.path(name, level, false)
                .is_some_and(|path| self.has(&path))
        })
    }

    // Of a diff without a git header the second name counts, or the first where the second only adds to it
    // (`x`, `x.new`), as for git; a name that is there beats one that is not (`x.orig`, `/tmp/1234`).
    fn settle_two_names(&self, names: &mut Names, file: &FilePatch<'_>) {
        let (Some(old), Some(new)) = (&names.old, &names.new) else {
            return;
        };
        let mut levels = 0..=DEEPEST_GUESS;
        let alike = levels.any(|it| strip(old, it).is_some() && strip(old, it) == strip(new, it));
        let one_side = |long: &str, short: &str, prefix| {
            long.strip_prefix(prefix) == Some(short) && self.has(short)
        };
        let is_git = file.headers.is_git || file.headers.explicit.is_some() || names.bare;
        let meant = if one_side(new, old, "b/") {
            old.clone()
        } else if one_side(old, new, "a/") {
            new.clone()
        } else if is_git || alike {
            return;
        } else if new.starts_with(old.as_str()) {
            old.clone()
        } else if old.starts_with(new.as_str()) {
            new.clone()
        } else {
            match (
                self.exists_at_some_level(old),
                self.exists_at_some_level(new),
            ) {
                (true, false) => old.clone(),
                (false, true) => new.clone(),
                _ => return,
            }
        };
        names.old = Some(meant.clone());
        names.new = Some(meant);
    }

    // Takes off quotes, remarks, colons and line numbers around the name of a file that is there, reads
    // backslashes as slashes, and an absolute name as that of the one file that it ends with.
    fn undress(&self, names: &mut Names, file: &FilePatch<'_>) -> bool {
        let explicit = file.headers.explicit.is_some();
        let changes = matches!(file.body, Body::Hunks(_) | Body::Edits(_))
            && file.headers.explicit == Some(Operation::Modify);
        let mut any = false;
        for name in [&mut names.old, &mut names.new].into_iter().flatten() {
            if (self.has(name) || !explicit) && self.exists_at_some_level(name) {
                continue;
            }
            let plain = without_dress(name);
            let meant = if plain != *name && self.exists_at_some_level(&plain) {
                Some(plain)
            } else if changes || explicit && plain.starts_with('/') || plain.starts_with("file://")
            {
                self.only_alike(&plain)
            } else {
                None
            };
            if let Some(meant) = meant {
                any = true;
                *name = meant;
            }
        }
        any
    }

    // The only file that a name ends with, or that ends with the name; none where the directory of the name
    // is there, as then that one is meant.
    fn only_alike(&self, name: &str) -> Option<String> {
        let parent = name.rsplit_once('/').map_or("", |it| it.0);
        let is_there = !parent.is_empty() && self.listing.has_directory(parent);
        if is_there || name.split('/').any(|part| part == "..") {
            return None;
        }
        let ends = name
            .match_indices('/')
            .filter_map(|(at, _)| name.get(at + 1..));
        let mut shorter =
            ends.filter(|path| (path.contains('/') || name.starts_with('/')) && self.has(path));
        if let Some(one) = shorter.next() {
            let only = shorter.next().is_none();
            return only.then(|| one.to_owned());
        }
        let mut longer = self.listing.entries().iter().filter(|entry| {
            let before = entry.path.as_str().strip_suffix(name);
            before.is_some_and(|before| before.ends_with('/'))
        });
        let one = longer.next().filter(|_| longer.next().is_none());
        one.map(|entry| entry.path.as_str().to_owned())
    }

    // How many components to strip so that all files that must exist do.
    fn level(
        &self,
        sections: &[(&FilePatch<'_>, Option<Names>)],
        mends: &mut Vec<Mend>,
    ) -> Result<usize, Refusal> {
        if let Some(level) = self.strip {
            return Ok(level);
        }
        let named = || {
            let named = sections.iter().filter(|it| it.0.headers.explicit.is_none());
            named.filter_map(|(file, names)| Some((*file, names.as_ref()?)))
        };
        // Without rename lines, which have no prefix, the headers show whether there is one.
        let dressed = named().all(|(_, names)| {
            let mut both = [&names.old, &names.new].into_iter().flatten();
            names.bare || both.all(|name| is_prefixed(name))
        });
        let must: Vec<(&str, bool)> = named()
            .filter(|(file, _)| !is_creation(file))
            .filter_map(|(_, names)| Some((names.old.as_deref()?, names.bare)))
            .collect();
        let exists = |level: usize| {
            let mut paths = must
                .iter()
                .map(|(name, bare)| self.path(name, level, *bare));
            !must.is_empty() && paths.all(|path| path.is_some_and(|path| self.has(&path)))
        };
        let usual = usize::from(dressed || self.strict);
        if self.strict || must.is_empty() || dressed && exists(usual) {
            return Ok(usual);
        }
        let hostile = must
            .iter()
            .any(|(name, _)| name.split('/').any(|part| part == ".."));
        let deepest = must.iter().map(|(name, _)| name.matches('/').count()).max();
        let deepest = if hostile {
            1
        } else {
            deepest.unwrap_or(0).min(DEEPEST)
        };
        let fits: Vec<usize> = (0..=deepest).filter(|level| exists(*level)).collect();
        let line = sections.first().map_or(0, |it| it.0.line);
        match fits.as_slice() {
            [] => Ok(usual),
            [level] => {
                // A file elsewhere that ends alike is not meant where the directory of the name is there.
                let elsewhere = *level > 1
                    && must.iter().any(|(name, bare)| {
                        let path = self.path(name, usual, *bare).unwrap_or_default();
                        let parent = path.rsplit_once('/').map_or("", |it| it.0);
                        !parent.is_empty() && self.listing.has_directory(parent)
                    });
                if elsewhere {
                    return Ok(usual);
                }
                let message = format!("left out the first {level} components of every name");
                if *level != 1 {
                    mends.push(Mend::new(Code::M205, Safety::Safe, line, &message));
                }
                Ok(*level)
            }
            _ => refuse(Code::P509, "the names fit the tree in several ways"),
        }
    }

    fn target(
        &self,
        file: &FilePatch<'_>,
        names: &Names,
        level: usize,
        mends: &mut Vec<Mend>,
    ) -> Result<Target, Refusal> {
        let headers = &file.headers;
        let level = if headers.explicit.is_some() { 0 } else { level };
        let path = |name: &Option<String>| -> Result<Option<String>, Refusal> {
            let Some(name) = name else { return Ok(None) };
            let path = self.path(name, level, names.bare);
            let message = || format!("nothing is left of the name `{name}`");
            path.map(Some)
                .ok_or_else(|| Refusal::new(Code::P201, message()))
        };
        let (mut old, mut new) = (path(&names.old)?, path(&names.new)?);
        // Names that are not there may lack what the tree has above them.
        if !self.strict
            && self.strip.is_none()
            && !is_creation(file)
            && let Some(name) = old.as_deref().filter(|name| !self.has(name))
            && let Some(meant) = self
                .only_alike(name)
                .filter(|_| old == new || new.is_none())
            && meant.ends_with(name)
        {
            let message = format!("read `{name}` as `{meant}`, the only file that ends alike");
            mends.push(Mend::new(Code::M205, Safety::Safe, file.line, &message));
            new = new.map(|_| meant.clone());
            old = Some(meant);
        }
        self.check_index_line(headers, [&old, &new])?;
        let operation = self.operation(file, old.as_deref(), new.as_deref(), mends)?;
        let old = old.or_else(|| new.clone()).unwrap_or_default();
        let new = new.unwrap_or_else(|| old.clone());
        let reads_new = !self.has(&old) && operation != Operation::Delete;
        for (path, is_new) in [(&old, reads_new), (&new, !self.has(&new))] {
            check_path(path, is_new).map_err(|found| Refusal {
                message: format!(
                    "the path `{}` is unsafe: {}",
                    path.escape_debug(),
                    found.message
                ),
                ..found
            })?;
        }
        Ok(Target {
            operation,
            old,
            new,
            mode: mode(headers, operation)?,
        })
    }

    // git does not read `Index:`; it contradicts the headers where it names another file that is there.
    fn check_index_line(
        &self,
        headers: &Headers<'_>,
        sides: [&Option<String>; 2],
    ) -> Result<(), Refusal> {
        let name = headers
            .index_name
            .and_then(|name| std::str::from_utf8(name).ok());
        let Some(name) = name else { return Ok(()) };
        let paths = (0..=DEEPEST_GUESS).filter_map(|level| self.path(name, level, false));
        let mut there = paths.filter(|path| self.has(path)).peekable();
        let is_side = |path: &String| sides.iter().any(|side| side.as_ref() == Some(path));
        if there.peek().is_none() || there.any(|path| is_side(&path)) {
            return Ok(());
        }
        let message = "the `Index:` line names another file than the headers";
        refuse(Code::P202, message)
    }

    fn operation(
        &self,
        file: &FilePatch<'_>,
        old: Option<&str>,
        new: Option<&str>,
        mends: &mut Vec<Mend>,
    ) -> Result<Operation, Refusal> {
        let headers = &file.headers;
        let has = |path: Option<&str>| path.is_some_and(|path| self.has(path));
        if let Some(operation) = headers.explicit {
            let is_new = operation == Operation::Modify && !has(new);
            return Ok(match &file.body {
                Body::Whole(_) if is_new => Operation::Create,
                _ => operation,
            });
        }
        if headers.rename_from.is_some() {
            return Ok(Operation::Rename);
        }
        if headers.copy_from.is_some() {
            return Ok(Operation::Copy);
        }
        if let Some(message) = contradiction(headers) {
            return refuse(Code::P202, message);
        }
        let mut note = |safety, message: &str| {
            mends.push(Mend::new(Code::M201, safety, file.line, message));
        };
        let (creates, deletes) = (
            headers.new_file_mode.is_some(),
            headers.deleted_file_mode.is_some(),
        );
        let is_told = creates || deletes || !headers.is_git;
        if creates || (!deletes && old.is_none() && new.is_some()) {
            if has_old_lines(&file.body) {
                let message = "the file is said to be new, yet the patch has lines of an old one";
                return refuse(Code::P205, message);
            }
            if !is_told {
                note(
                    Safety::Safe,
                    "took the file for new, as its old side is /dev/null",
                );
            }
            return Ok(Operation::Create);
        }
        if deletes || (old.is_some() && new.is_none()) {
            if !is_told {
                note(
                    Safety::Safe,
                    "took the file for deleted, as its new side is /dev/null",
                );
            }
            return Ok(Operation::Delete);
        }
        if old == new {
            // A line of an old file is stated where there is one to add after.
            let only_adds = matches!(&file.body, Body::Hunks(hunks)
                if hunks.iter().all(|hunk| hunk.old.is_none_or(|(line, _)| line < 2)))
                && !has_old_lines(&file.body);
            if has(old) || !only_adds || self.strict {
                return Ok(Operation::Modify);
            }
            note(
                Safety::Safe,
                "took the file for new, as it is not there and only lines are added",
            );
            return Ok(Operation::Create);
        }
        if headers.is_git && has(old) && !has(new) && !self.strict {
            note(Safety::Lossy, "took two different names for a rename");
            return Ok(Operation::Rename);
        }
        refuse(Code::P202, "the two sides name different files")
    }
}

fn is_prefixed(name: &str) -> bool {
    let mut letters = name.bytes();
    matches!(
        letters.next(),
        Some(b'a' | b'b' | b'c' | b'i' | b'o' | b'w')
    ) && letters.next() == Some(b'/')
}

// `**src/a.py** (original)`, `src/a.py:12`, `src\a.py`.
fn without_dress(name: &str) -> String {
    const REMARKS: &[&str] = &[
        "original", "modified", "updated", "old", "new", "before", "after", "current", "fixed",
    ];
    let dress = |it| matches!(it, '`' | '"' | '\'' | '*' | ' ' | '@');
    let mut rest = name.trim_matches(dress);
    if let Some((before, remark)) = rest.rsplit_once(" (")
        && let Some(remark) = remark.strip_suffix(')')
        && REMARKS.contains(&remark.to_lowercase().as_str())
    {
        rest = before.trim_matches(dress);
    }
    rest = rest.trim_end_matches([':', ' ']);
    if let Some((before, line)) = rest.rsplit_once(':')
        && line.bytes().all(|it| it.is_ascii_digit())
    {
        rest = before;
    }
    rest.replace('\\', "/")
}

fn has_old_lines(body: &Body<'_>) -> bool {
    matches!(body, Body::Hunks(hunks) if hunks.iter().any(|hunk| {
        hunk.firm(hunk.loose_tail).iter().any(|line| line.kind != LineKind::Add)
    }))
}

// Whether the headers alone say that the file is new.
fn is_creation(file: &FilePatch<'_>) -> bool {
    let headers = &file.headers;
    headers.new_file_mode.is_some()
        || matches!(headers.minus, Some(Side::Null | Side::Epoch(_)))
        || headers.explicit == Some(Operation::Create)
}

// What headers of git say against each other.
fn contradiction(headers: &Headers<'_>) -> Option<&'static str> {
    let creates = headers.new_file_mode.is_some();
    let deletes = headers.deleted_file_mode.is_some();
    if creates && deletes {
        Some("the file is both new and deleted")
    } else if creates && headers.plus == Some(Side::Null) {
        Some("the file is new and its new side is /dev/null")
    } else if deletes && matches!(headers.plus, Some(Side::Name(_))) {
        Some("the file is deleted and has a new side")
    } else {
        None
    }
}

fn mode(headers: &Headers<'_>, operation: Operation) -> Result<Option<u32>, Refusal> {
    let asked = match operation {
        Operation::Create => headers.new_file_mode,
        Operation::Delete => headers.deleted_file_mode,
        _ => headers.new_mode,
    };
    let index = headers.index.and_then(|index| index.mode);
    let stated = [headers.old_mode, asked, index];
    if stated.contains(&Some(0o160_000)) {
        return refuse(Code::P506, "the patch changes a submodule");
    }
    let recorded = [0o100_644, 0o100_755, 0o100_664, 0o100_600, 0o120_000];
    let mut own = [headers.old_mode, asked].into_iter().flatten();
    if !own.all(|mode| recorded.contains(&mode)) {
        return refuse(Code::P206, "the patch has a mode that git does not record");
    }
    if let (Some(old), Some(new)) = (headers.old_mode, headers.new_mode)
        && (old == 0o120_000) != (new == 0o120_000)
    {
        let message = "the patch turns a file into a link by its mode alone";
        return refuse(Code::P206, message);
    }
    Ok(asked.map(recorded_mode))
}
