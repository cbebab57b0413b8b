use super::set::{FilePatch, Headers, Side};
#[cfg(feature = "program")]
use crate::model::RepoPath;
use crate::model::{Code, Refusal, refuse};

// Names as written; `None` stands for "not there on this side".
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
    // From rename and copy lines, which carry no prefix.
    pub(super) bare: bool,
}

pub(super) fn text(name: &[u8]) -> Result<String, Refusal> {
    if name.contains(&0) {
        return refuse(Code::P508, "a file name has a NUL byte");
    }
    String::from_utf8(name.to_vec())
        .map_err(|_| Refusal::new(Code::P508, "a file name is not UTF-8"))
}

pub(super) fn names(file: &FilePatch<'_>) -> Result<Names, Refusal> {
    let headers = &file.headers;
    if let Some(message) = &headers.bad_name {
        return refuse(Code::P202, message);
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
        return refuse(Code::P201, "a rename or copy names only one side");
    }
    let (Some(minus), Some(plus)) = (&headers.minus, &headers.plus) else {
        let (old, new) = git.ok_or_else(|| Refusal::new(Code::P201, "no line names the file"))?;
        return Ok(Names {
            old: headers.new_file_mode.is_none().then_some(old),
            new: headers.deleted_file_mode.is_none().then_some(new),
            bare: false,
        });
    };
    let name = |side: &Side<'_>| side.name().map(text).transpose();
    let (old, new) = (name(minus)?, name(plus)?);
    if old.is_none() && new.is_none() {
        return refuse(Code::P201, "both sides of the file are /dev/null");
    }
    if let (Some(line), None) = (headers.git_line, &headers.explicit) {
        agree_on_names(line, git.as_ref(), old.as_deref(), new.as_deref())?;
    }
    // An epoch time stamp says that the file is not there on that side.
    let epoch = |side: &Side<'_>| matches!(side, Side::Epoch(_));
    let both = epoch(minus) == epoch(plus);
    Ok(Names {
        old: old.filter(|_| both || !epoch(minus)),
        new: new.filter(|_| both || !epoch(plus)),
        bare: false,
    })
}

// The two names of a `diff --git` line, when it is clear where one ends.
fn git_names(line: &[u8]) -> Result<Option<(String, String)>, Refusal> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let bad = |message: String| Refusal::new(Code::P202, message);
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
        // The line has no one reading, and git goes by the other two.
        None => true,
    };
    if agree {
        return Ok(());
    }
    let line = String::from_utf8_lossy(line);
    let sides: Vec<&str> = [old, new].into_iter().flatten().collect();
    let sides = sides.join("\", \"");
    let message = format!(
        "the `diff --git` line and the `---`/`+++` lines name different files: \"{line}\" and \"{sides}\""
    );
    refuse(Code::P202, message)
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
    refuse(
        Code::P202,
        "the rename or copy lines and the other headers name different files",
    )
}

// Without its first `count` components, as git strips them.
pub(super) fn strip(name: &str, count: usize) -> Option<&str> {
    let mut rest = name;
    for _ in 0..count {
        rest = rest.split_once('/')?.1;
    }
    (!rest.is_empty()).then_some(rest)
}

/// The paths that a reply may speak of: each name as written and without its first components. Empty
/// for what is no patch, and where only all files show whether something is left over.
#[must_use]
#[cfg(feature = "program")]
pub fn named_paths(input: &[u8], options: &super::read::ReadOptions) -> Vec<RepoPath> {
    let found = super::read::read(input, options, |set| {
        let mut found = std::collections::BTreeSet::new();
        let alone = set.unread.is_empty();
        for file in set.files.iter().filter(|_| alone) {
            let sides = names(file).map(|names| [names.old, names.new]);
            let index = file.headers.index_name.and_then(|name| text(name).ok());
            for name in sides.into_iter().flatten().flatten().chain(index) {
                let depths = (0..=DEEPEST).filter_map(|depth| strip(&name, depth));
                found.extend(depths.filter_map(|path| RepoPath::new(path).ok()));
            }
        }
        found
    });
    found.unwrap_or_default().into_iter().collect()
}

// Names with more components in front are looked for in the whole listing.
#[cfg(feature = "program")]
const DEEPEST: usize = 3;

#[cfg(all(test, feature = "program"))]
mod tests {
    use super::named_paths;
    use crate::patch::ReadOptions;

    #[test]
    fn names_are_given_with_and_without_a_prefix() {
        let diff = b"--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1 @@\n-a\n+b\n";
        let found = named_paths(diff, &ReadOptions::default());
        let found: Vec<&str> = found.iter().map(crate::model::RepoPath::as_str).collect();
        assert_eq!(found, ["a/src/x.py", "b/src/x.py", "src/x.py", "x.py"]);
        assert!(named_paths(b"Hello.", &ReadOptions::default()).is_empty());
    }
}
