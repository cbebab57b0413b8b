//! Refuses paths that leave the tree, reach the files of version control on any system, or are not portable where they
//! are new, because the patch may be applied elsewhere.

use super::invisible::is_invisible;
use crate::model::{Code, Refusal, refuse};

/// Judges a path as a patch names it: any system's ways to leave the tree or to reach git's own
/// files. Names that are new must also be portable.
///
/// # Errors
/// A [`Refusal`] with the first reason found.
pub fn check_path(path: &str, is_new: bool) -> Result<(), Refusal> {
    if path.is_empty() {
        return refuse(Code::P503, "it is empty");
    }
    if path.starts_with('/') || path.starts_with('\\') {
        return refuse(Code::P503, "it is absolute");
    }
    if path.len() > 4096 {
        return refuse(Code::P508, "it is longer than 4096 bytes");
    }
    // No real tree is deeper.
    if is_new && path.matches('/').count() > 200 {
        return refuse(Code::P508, "it is deeper than 200 directories");
    }
    for part in path.split('/') {
        check_component(part, is_new)?;
    }
    let bytes = path.as_bytes();
    if is_new && bytes.get(1) == Some(&b':') && bytes.first().is_some_and(u8::is_ascii_alphabetic) {
        return refuse(Code::P503, "it starts with a drive letter");
    }
    Ok(())
}

fn check_component(part: &str, is_new: bool) -> Result<(), Refusal> {
    match part {
        "" => return refuse(Code::P503, "it has an empty component"),
        "." | ".." => return refuse(Code::P503, "it has a `.` or `..` component"),
        _ => {}
    }
    if part.len() > 255 {
        return refuse(Code::P508, "it has a component longer than 255 bytes");
    }
    if part.chars().any(char::is_control) {
        return refuse(Code::P508, "it has a control character");
    }
    // What a backslash would separate must be safe too, because it is a separator on some systems.
    for piece in part.split('\\') {
        if is_dot_git(piece) {
            return refuse(Code::P504, "it reaches into git's own directory");
        }
    }
    if part.contains('\\') && (is_new || part.split('\\').any(|piece| piece == "..")) {
        return refuse(Code::P508, "it has a backslash");
    }
    if !is_new {
        return Ok(());
    }
    if part.chars().any(is_invisible) {
        return refuse(
            Code::P508,
            "it has an invisible or direction-changing character",
        );
    }
    if part.ends_with('.') || part.ends_with(' ') {
        return refuse(
            Code::P508,
            "it ends with a dot or space, which some systems drop",
        );
    }
    if part.contains([':', '<', '>', '|', '?', '*', '"']) {
        return refuse(
            Code::P508,
            "it has a character that some systems do not allow",
        );
    }
    if is_device(part) {
        return refuse(Code::P508, "it is the name of a device on some systems");
    }
    Ok(())
}

// `.git` on a file system that ignores case, code points, trailing dots and spaces, or that knows
// short names and streams; and the same for other systems of version control.
fn is_dot_git(part: &str) -> bool {
    let folded: String = part
        .chars()
        .filter(|letter| !is_ignored_by_hfs(*letter))
        .flat_map(char::to_lowercase)
        .collect();
    let name = folded.split(':').next().unwrap_or_default().trim_end_matches(['.', ' ']);
    if matches!(name, ".git" | ".jj" | ".hg" | ".svn") {
        return true;
    }
    name.strip_prefix("git~").is_some_and(|number| {
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn is_ignored_by_hfs(letter: char) -> bool {
    matches!(letter,
        '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}

fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    matches!(
        stem.as_str(),
        "con" | "prn" | "aux" | "nul" | "conin$" | "conout$"
    ) || ["com", "lpt"].iter().any(|device| {
        stem.strip_prefix(device)
            .is_some_and(|digit| matches!(digit.as_bytes(), [b'1'..=b'9']))
    })
}

#[cfg(test)]
mod tests {
    use super::check_path;

    #[test]
    fn rejects_paths_outside_or_in_git() {
        for (path, code) in [
            ("", "P503"),
            ("/etc/passwd", "P503"),
            ("a/../b", "P503"),
            ("a//b", "P503"),
            (".git/config", "P504"),
            ("a/.GIT", "P504"),
            (".g\u{200c}it/x", "P504"),
            (".git. /x", "P504"),
            (".git::$INDEX_ALLOCATION/x", "P504"),
            ("GIT~1/x", "P504"),
            (".git\\hooks\\x", "P504"),
            ("..\\evil", "P508"),
            ("a\nb", "P508"),
            ("\u{202e}txt.sh", "P508"),
            ("aux.c", "P508"),
            ("COM1.log", "P508"),
            ("file.", "P508"),
            ("C:/x", "P508"),
        ] {
            assert_eq!(
                check_path(path, true).unwrap_err().code.as_str(),
                code,
                "{path:?}"
            );
        }
    }

    #[test]
    fn lets_ordinary_names_pass() {
        for path in [
            ".gitx", "$id/route.tsx", "xgit~1", "100%25.md", "ｆull.md", ".github/x.md", "a b",
            "-rf", "ä/ö.ts", ".gitignore",
        ] {
            assert!(check_path(path, true).is_ok(), "{path}");
        }
        assert!(check_path("aux.c", false).is_ok(), "what exists may change");
        assert!(check_path(".git/config", false).is_err());
    }
}
