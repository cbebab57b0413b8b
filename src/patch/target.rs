use super::set::{Body, FilePatch, Headers, LineKind, PatchSet, Side};
use crate::model::{Code, Mend, Operation, PatchProblem, Safety, Severity};
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
#[derive(Debug, Clone, Default)]
pub(super) struct Naming<'a> {
    /// Leading components to strip; `None` finds out.
    pub(super) strip: Option<usize>,
    /// Put before every path.
    pub(super) directory: &'a str,
    /// Nothing is mended.
    pub(super) strict: bool,
}

/// Finds the paths of every section. Sections with an error give `None`.
pub(super) fn targets(
    set: &PatchSet<'_>,
    listing: &Listing,
    naming: &Naming<'_>,
    mends: &mut Vec<Mend>,
    problems: &mut Vec<PatchProblem>,
) -> Vec<Option<Target>> {
    let mut raw = Vec::with_capacity(set.files.len());
    for file in &set.files {
        match names(file) {
            Ok(names) => raw.push(Some(names)),
            Err((code, message)) => {
                problems.push(error(code, file, None, message));
                raw.push(None);
            }
        }
    }
    let prefix = match shape(&set.files, &raw, listing, naming, mends) {
        Ok(prefix) => prefix,
        Err((code, message)) => {
            if let Some(file) = set.files.first() {
                problems.push(error(code, file, None, message));
            }
            return vec![None; raw.len()];
        }
    };
    set.files
        .iter()
        .zip(raw)
        .map(|(file, names)| {
            let names = names?;
            match target(file, &names, &prefix, listing, naming, mends) {
                Ok(target) => Some(target),
                Err((code, message)) => {
                    let path = names.new.as_deref().or(names.old.as_deref());
                    problems.push(error(code, file, path, message));
                    None
                }
            }
        })
        .collect()
}

type Refusal = (&'static str, String);

fn error(
    code: &'static str,
    file: &FilePatch<'_>,
    path: Option<&str>,
    message: String,
) -> PatchProblem {
    PatchProblem {
        code: Code::new(code),
        severity: Severity::Error,
        path: path.map(str::to_owned),
        patch_line: u64::from(file.line),
        message,
        hint: None,
    }
}

// Names as written; `None` stands for "not there on this side".
#[derive(Debug, Clone)]
struct Names {
    old: Option<String>,
    new: Option<String>,
    // From rename and copy lines, which carry no prefix.
    bare: bool,
}

fn text(name: &[u8]) -> Result<String, Refusal> {
    if name.contains(&0) {
        return Err(("P508", "a file name has a NUL byte".to_owned()));
    }
    String::from_utf8(name.to_vec()).map_err(|_| ("P508", "a file name is not UTF-8".to_owned()))
}

fn names(file: &FilePatch<'_>) -> Result<Names, Refusal> {
    let headers = &file.headers;
    if let Some(message) = &headers.bad_name {
        return Err(("P204", message.clone()));
    }
    let from = headers.rename_from.as_ref().or(headers.copy_from.as_ref());
    let to = headers.rename_to.as_ref().or(headers.copy_to.as_ref());
    let git = headers.git_line.map(git_names).transpose()?.flatten();
    if let (Some(from), Some(to)) = (from, to) {
        agree_on_rename(headers, from, to)?;
        return Ok(Names {
            old: Some(text(from)?),
            new: Some(text(to)?),
            bare: true,
        });
    }
    if from.is_some() || to.is_some() {
        return Err(("P201", "a rename or copy names only one side".to_owned()));
    }
    let (Some(minus), Some(plus)) = (&headers.minus, &headers.plus) else {
        let (old, new) = git.ok_or(("P201", "no line names the file".to_owned()))?;
        return Ok(Names {
            old: headers.new_file_mode.is_none().then_some(old),
            new: headers.deleted_file_mode.is_none().then_some(new),
            bare: false,
        });
    };
    let name = |side: &Side<'_>| side.name().map(text).transpose();
    let (old, new) = (name(minus)?, name(plus)?);
    if old.is_none() && new.is_none() {
        return Err(("P201", "both sides of the file are /dev/null".to_owned()));
    }
    if let (Some(line), None) = (headers.git_line, &headers.explicit) {
        agree_on_names(line, git.as_ref(), old.as_deref(), new.as_deref())?;
    }
    if let Some(index) = &headers.index_name {
        let index = text(index)?;
        let named = |side: &Option<String>| {
            side.as_deref().is_none_or(|side| {
                let side = side.trim_end();
                side == index || strip(side, 1).is_some_and(|rest| rest == index)
            })
        };
        if !named(&old) || !named(&new) {
            return Err((
                "P202",
                "the `Index:` line names another file than the headers".to_owned(),
            ));
        }
    }
    // An epoch time stamp says that the file is not there on that side.
    let epoch = |side: &Side<'_>| matches!(side, Side::Epoch(_));
    Ok(match (epoch(minus), epoch(plus)) {
        (true, false) => Names {
            old: None,
            new,
            bare: false,
        },
        (false, true) => Names {
            old,
            new: None,
            bare: false,
        },
        _ => Names {
            old,
            new,
            bare: false,
        },
    })
}

// The two names of a `diff --git` line, when it is clear where one ends.
fn git_names(line: &[u8]) -> Result<Option<(String, String)>, Refusal> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let bad = |message| ("P204", message);
    if line.first() == Some(&b'"') {
        let (old, rest) = super::read::quoted(line).map_err(bad)?;
        let rest = rest.strip_prefix(b" ").unwrap_or(rest);
        let new = super::read::name(rest).map_err(bad)?;
        return Ok(Some((text(&old)?, text(&new)?)));
    }
    if let Some(at) = memchr::memmem::find(line, b" \"") {
        let (old, rest) = line.split_at(at);
        let new = super::read::name(rest.get(1..).unwrap_or_default()).map_err(bad)?;
        return Ok(Some((text(old)?, text(&new)?)));
    }
    let line = text(line)?;
    let halves = line.match_indices(' ').take(1000).find_map(|(at, _)| {
        let (old, new) = (line.get(..at)?, line.get(at + 1..)?);
        let same = old == new || (strip(old, 1).is_some() && strip(old, 1) == strip(new, 1));
        same.then(|| (old.to_owned(), new.to_owned()))
    });
    Ok(halves)
}

fn agree_on_names(
    line: &[u8],
    git: Option<&(String, String)>,
    old: Option<&str>,
    new: Option<&str>,
) -> Result<(), Refusal> {
    let same = |written: Option<&str>, git: &str| written.is_none_or(|name| name == git);
    let agree = match git {
        Some((git_old, git_new)) => same(old, git_old) && same(new, git_new),
        None => match (old, new) {
            (Some(old), Some(new)) => format!("{old} {new}").as_bytes() == line,
            _ => false,
        },
    };
    if agree {
        return Ok(());
    }
    Err((
        "P202",
        "the `diff --git` line and the `---`/`+++` lines name different files".to_owned(),
    ))
}

fn agree_on_rename(headers: &Headers<'_>, from: &[u8], to: &[u8]) -> Result<(), Refusal> {
    let ends = |side: &Option<Side<'_>>, name: &[u8]| match side {
        None => true,
        Some(side) => side.name().is_some_and(|side| {
            side == name
                || side
                    .strip_suffix(name)
                    .is_some_and(|rest| rest.last() == Some(&b'/'))
        }),
    };
    let line = headers.git_line.unwrap_or_default();
    let in_line = headers.git_line.is_none()
        || line.first() == Some(&b'"')
        || memchr::memmem::find(line, b" \"").is_some()
        || (line.ends_with(to) && memchr::memmem::find(line, from).is_some());
    if ends(&headers.minus, from) && ends(&headers.plus, to) && in_line {
        return Ok(());
    }
    Err((
        "P202",
        "the rename or copy lines and the other headers name different files".to_owned(),
    ))
}

// Without its first `count` components, as git strips them.
fn strip(name: &str, count: usize) -> Option<&str> {
    let mut rest = name;
    for _ in 0..count {
        rest = rest.split_once('/')?.1;
    }
    (!rest.is_empty()).then_some(rest)
}

// What is done to every name of a patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Prefix {
    strip: usize,
    add: String,
}

impl Prefix {
    fn apply(&self, name: &str, bare: bool) -> Option<String> {
        let level = if bare {
            self.strip.saturating_sub(1)
        } else {
            self.strip
        };
        strip(name, level).map(|rest| format!("{}{rest}", self.add))
    }
}

fn is_prefixed(name: &str) -> bool {
    let mut letters = name.bytes();
    matches!(
        letters.next(),
        Some(b'a' | b'b' | b'c' | b'i' | b'o' | b'w')
    ) && letters.next() == Some(b'/')
}

// Finds how many components to strip, or which prefix to add, so that all files that must exist do.
fn shape(
    files: &[FilePatch<'_>],
    raw: &[Option<Names>],
    listing: &Listing,
    naming: &Naming<'_>,
    mends: &mut Vec<Mend>,
) -> Result<Prefix, Refusal> {
    let directory = match naming.directory.trim_matches('/') {
        "" => String::new(),
        directory => format!("{directory}/"),
    };
    let plain = |strip: usize| Prefix {
        strip,
        add: directory.clone(),
    };
    if let Some(strip) = naming.strip {
        return Ok(plain(strip));
    }
    let named: Vec<(&FilePatch<'_>, &Names)> = files
        .iter()
        .zip(raw)
        .filter_map(|(file, names)| names.as_ref().map(|names| (file, names)))
        .filter(|(file, _)| file.headers.explicit.is_none())
        .collect();
    let all = |names: &Names, check: fn(&str) -> bool| {
        [&names.old, &names.new]
            .into_iter()
            .flatten()
            .all(|name| check(name))
    };
    // Without rename lines, which have no prefix, the headers show whether there is one.
    let dressed = named
        .iter()
        .all(|(_, names)| names.bare || all(names, is_prefixed));
    let must: Vec<(&str, bool)> = named
        .iter()
        .filter(|(file, _)| !is_creation(file))
        .filter_map(|(_, names)| names.old.as_deref().map(|old| (old, names.bare)))
        .collect();
    let exists = |prefix: &Prefix| {
        !must.is_empty()
            && must.iter().all(|(name, bare)| {
                prefix
                    .apply(name, *bare)
                    .is_some_and(|path| listing.get(&path).is_some())
            })
    };
    let usual = plain(usize::from(dressed || naming.strict));
    if named.is_empty() || naming.strict {
        return Ok(usual);
    }
    if dressed && exists(&usual) {
        return Ok(usual);
    }
    if !dressed {
        match (exists(&plain(0)), exists(&plain(1))) {
            (true, true) => {
                let message = "the names fit with and without their first component";
                return Err(("P509", message.to_owned()));
            }
            (true, false) => {
                mends.push(mend(
                    files,
                    "M205",
                    Safety::Safe,
                    "read names without the a/ and b/ prefix",
                ));
                return Ok(plain(0));
            }
            (false, true) => return Ok(plain(1)),
            (false, false) => {}
        }
    }
    let hostile = |name: &str| name.split('/').any(|part| part == "..");
    if must.is_empty() || must.iter().any(|(name, _)| hostile(name)) {
        return Ok(usual);
    }
    let deepest = must.iter().map(|(name, _)| name.matches('/').count()).max();
    let mut fits: Vec<Prefix> = (0..=deepest.unwrap_or(0).min(32))
        .map(plain)
        .filter(|prefix| *prefix != usual && exists(prefix))
        .collect();
    if fits.is_empty()
        && let Some(add) = missing_top(&must, &usual, listing)
    {
        fits.push(Prefix {
            strip: usual.strip,
            add,
        });
    }
    match fits.as_slice() {
        [] => Ok(usual),
        [one] => {
            let message = if one.add == directory {
                format!("left out the first {} components of every name", one.strip)
            } else {
                format!("put `{}` before every name", one.add)
            };
            mends.push(mend(files, "M206", Safety::Safe, &message));
            Ok(one.clone())
        }
        _ => {
            let message = "the names fit the tree in several ways";
            Err(("P509", message.to_owned()))
        }
    }
}

// The one directory below which all names exist, when each name ends exactly one path.
fn missing_top(must: &[(&str, bool)], usual: &Prefix, listing: &Listing) -> Option<String> {
    let mut top: Option<String> = None;
    for (name, bare) in must {
        let path = usual.apply(name, *bare)?;
        let mut ends = listing.entries().iter().filter_map(|entry| {
            let before = entry.path.as_str().strip_suffix(path.as_str())?;
            before.ends_with('/').then_some(before)
        });
        let one = ends.next()?;
        if ends.next().is_some() || top.as_deref().is_some_and(|top| top != one) {
            return None;
        }
        top = Some(one.to_owned());
    }
    top
}

fn mend(files: &[FilePatch<'_>], code: &'static str, safety: Safety, message: &str) -> Mend {
    Mend {
        code: Code::new(code),
        safety,
        patch_line: files.first().map_or(0, |file| u64::from(file.line)),
        message: message.to_owned(),
    }
}

fn is_creation(file: &FilePatch<'_>) -> bool {
    let headers = &file.headers;
    headers.new_file_mode.is_some()
        || matches!(headers.minus, Some(Side::Null | Side::Epoch(_)))
        || headers.explicit == Some(Operation::Create)
}

fn has_old_lines(body: &Body<'_>) -> bool {
    matches!(body, Body::Hunks(hunks) if hunks.iter().any(|hunk| {
        let firm = hunk.lines.len() - hunk.loose_tail.min(hunk.lines.len());
        hunk.lines.iter().take(firm).any(|line| line.kind != LineKind::Add)
    }))
}

fn target(
    file: &FilePatch<'_>,
    names: &Names,
    prefix: &Prefix,
    listing: &Listing,
    naming: &Naming<'_>,
    mends: &mut Vec<Mend>,
) -> Result<Target, Refusal> {
    let headers = &file.headers;
    let explicit = headers.explicit.is_some();
    let path = |name: &Option<String>| -> Result<Option<String>, Refusal> {
        let Some(name) = name else {
            return Ok(None);
        };
        let path = if explicit {
            let add = prefix.add.as_str();
            Some(format!("{add}{}", name.strip_prefix("./").unwrap_or(name)))
        } else {
            prefix.apply(name, names.bare)
        };
        path.map(|path| path.replace("/./", "/"))
            .map(Some)
            .ok_or_else(|| ("P201", format!("nothing is left of the name `{name}`")))
    };
    let (old, new) = (path(&names.old)?, path(&names.new)?);
    let mut note = |code: &'static str, safety: Safety, message: &str| {
        mends.push(Mend {
            code: Code::new(code),
            safety,
            patch_line: u64::from(file.line),
            message: message.to_owned(),
        });
    };
    let operation = operation(
        file,
        old.as_deref(),
        new.as_deref(),
        listing,
        naming,
        &mut note,
    )?;
    let old = old.or_else(|| new.clone()).unwrap_or_default();
    let new = new.unwrap_or_else(|| old.clone());
    for (path, is_new) in [
        (
            &old,
            listing.get(&old).is_none() && operation != Operation::Delete,
        ),
        (&new, listing.get(&new).is_none()),
    ] {
        check_path(path, is_new).map_err(|found| {
            (
                found.code.as_str(),
                format!(
                    "the path `{}` is unsafe: {}",
                    path.escape_debug(),
                    found.reason
                ),
            )
        })?;
    }
    let mode = mode(headers, operation)?;
    Ok(Target {
        operation,
        old,
        new,
        mode,
    })
}

fn operation(
    file: &FilePatch<'_>,
    old: Option<&str>,
    new: Option<&str>,
    listing: &Listing,
    naming: &Naming<'_>,
    note: &mut impl FnMut(&'static str, Safety, &str),
) -> Result<Operation, Refusal> {
    let headers = &file.headers;
    let has = |path: Option<&str>| path.is_some_and(|path| listing.get(path).is_some());
    if let Some(operation) = headers.explicit {
        return Ok(match (operation, &file.body) {
            (Operation::Modify, Body::Whole(_)) if !has(new) => Operation::Create,
            (operation, _) => operation,
        });
    }
    if headers.rename_from.is_some() {
        return Ok(Operation::Rename);
    }
    if headers.copy_from.is_some() {
        return Ok(Operation::Copy);
    }
    if headers.new_file_mode.is_some() && headers.deleted_file_mode.is_some() {
        return Err(("P202", "the file is both new and deleted".to_owned()));
    }
    if headers.new_file_mode.is_some() {
        if matches!(headers.plus, Some(Side::Null)) {
            return Err((
                "P202",
                "the file is new and its new side is /dev/null".to_owned(),
            ));
        }
        if has_old_lines(&file.body) {
            return Err((
                "P205",
                "the file is said to be new, yet the patch has lines of an old one".to_owned(),
            ));
        }
        return Ok(Operation::Create);
    }
    if headers.deleted_file_mode.is_some() {
        if matches!(headers.plus, Some(Side::Name(_))) {
            return Err(("P202", "the file is deleted and has a new side".to_owned()));
        }
        return Ok(Operation::Delete);
    }
    match (old, new) {
        (None, Some(_)) => {
            if has_old_lines(&file.body) {
                return Err((
                    "P205",
                    "the old side is /dev/null, yet the patch has lines of an old file".to_owned(),
                ));
            }
            if headers.is_git {
                note(
                    "M201",
                    Safety::Safe,
                    "took the file for new, as its old side is /dev/null",
                );
            }
            Ok(Operation::Create)
        }
        (Some(_), None) => {
            if headers.is_git {
                note(
                    "M202",
                    Safety::Safe,
                    "took the file for deleted, as its new side is /dev/null",
                );
            }
            Ok(Operation::Delete)
        }
        (Some(one), Some(two)) if one == two => {
            let only_adds = matches!(file.body, Body::Hunks(_)) && !has_old_lines(&file.body);
            if !has(old) && only_adds && !naming.strict {
                note(
                    "M203",
                    Safety::Safe,
                    "took the file for new, as it is not there and only lines are added",
                );
                return Ok(Operation::Create);
            }
            Ok(Operation::Modify)
        }
        (Some(_), Some(_)) if headers.is_git && has(old) && !has(new) && !naming.strict => {
            note(
                "M204",
                Safety::Lossy,
                "took two different names for a rename",
            );
            Ok(Operation::Rename)
        }
        _ => Err(("P202", "the two sides name different files".to_owned())),
    }
}

fn mode(headers: &Headers<'_>, operation: Operation) -> Result<Option<u32>, Refusal> {
    let asked = match operation {
        Operation::Create => headers.new_file_mode,
        Operation::Delete => headers.deleted_file_mode,
        _ => headers.new_mode,
    };
    for mode in [headers.old_mode, asked].into_iter().flatten() {
        if mode == 0o160_000 {
            return Err(("P506", "the patch changes a submodule".to_owned()));
        }
        if !matches!(
            mode,
            0o100_644 | 0o100_755 | 0o100_664 | 0o100_600 | 0o120_000
        ) {
            return Err((
                "P206",
                "the patch has a mode that git does not record".to_owned(),
            ));
        }
    }
    if let (Some(old), Some(new)) = (headers.old_mode, headers.new_mode)
        && (old == 0o120_000) != (new == 0o120_000)
    {
        return Err((
            "P206",
            "the patch turns a file into a link by its mode alone".to_owned(),
        ));
    }
    if let Some(index) = headers.index.and_then(|index| index.mode)
        && index == 0o160_000
    {
        return Err(("P506", "the patch changes a submodule".to_owned()));
    }
    Ok(asked.map(|mode| match mode {
        0o120_000 => mode,
        mode if mode & 0o100 != 0 => 0o100_755,
        _ => 0o100_644,
    }))
}
