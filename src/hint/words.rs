use crate::languages::{Language, Uses, is_word, uses, words};
use crate::model::RepoPath;

/// How a file uses a name: by its syntax tree, and for a component, or where that finds nothing,
/// by its text.
pub(super) fn usage(path: &RepoPath, text: &[u8], name: &str, language: &Language) -> Uses {
    let script = language.declares_exports;
    let read = uses(path, text, name);
    if matches!(path.extension(), Some("vue" | "svelte" | "astro" | "mdx")) {
        let mut whole = in_text(text, name, script);
        whole.bound = read.is_some_and(|read| read.bound);
        return whole;
    }
    read.unwrap_or_else(|| in_text(text, name, script))
}

// Strings and comments are not told apart.
fn in_text(text: &[u8], name: &str, script: bool) -> Uses {
    let mut usage = Uses::default();
    for at in words(text, name) {
        let before = at.checked_sub(1).and_then(|at| text.get(at)).copied();
        // A member of something else.
        if before == Some(b'.') && at.checked_sub(2).and_then(|at| text.get(at)) != Some(&b'.') {
            continue;
        }
        let rest = text.get(at + name.len()..).unwrap_or_default();
        let chain = chain(rest);
        if let Some(member) = chain.first() {
            usage.members.insert(member.clone());
            for end in 1..=chain.len() {
                let part = chain.get(..end).unwrap_or_default();
                usage.chains.insert(part.join("."));
            }
        } else {
            usage.bare = true;
            usage.called |= rest.first() == Some(&b'(') || before == Some(b'<');
            usage.bound |= assigns(text, at, rest, script);
        }
        usage.value = true;
    }
    usage
}

fn chain(mut rest: &[u8]) -> Vec<String> {
    let mut parts = Vec::new();
    while parts.len() < 4 {
        let Some(below) = rest.strip_prefix(b".").or_else(|| rest.strip_prefix(b"?.")) else {
            break;
        };
        let end = below
            .iter()
            .position(|byte| !is_word(*byte))
            .unwrap_or(below.len());
        let part = below.get(..end).unwrap_or_default();
        if part.first().is_none_or(u8::is_ascii_digit) {
            break;
        }
        parts.push(String::from_utf8_lossy(part).into_owned());
        rest = below.get(end..).unwrap_or_default();
    }
    parts
}

// `name = …`, `let name`, `for name in`, `as name`: the name is the file's own somewhere. In
// TypeScript `as Name` is a use.
fn assigns(text: &[u8], at: usize, rest: &[u8], script: bool) -> bool {
    let start = memchr::memrchr(b'\n', text.get(..at).unwrap_or_default()).map_or(0, |it| it + 1);
    let head = String::from_utf8_lossy(text.get(start..at).unwrap_or_default());
    let words = "let const var for as def class function interface type enum";
    let last = head.strip_suffix(' ').and_then(|it| it.rsplit(' ').next());
    let declares =
        last.is_some_and(|it| words.split(' ').any(|word| word == it) && !(script && it == "as"));
    let rest = rest.trim_ascii_start();
    let sets = rest.starts_with(b"=") && !rest.starts_with(b"==") && !rest.starts_with(b"=>");
    declares || sets && head.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::in_text;

    #[test]
    fn members_calls_and_assignments_are_told_apart() {
        let found = in_text(
            b"a.Path\nPath.cwd().x\nPath(1)\nkeyword(Path=2)",
            "Path",
            false,
        );
        assert_eq!(found.members.iter().collect::<Vec<_>>(), ["cwd"]);
        assert!(found.bare && found.called && !found.bound);
        let found = in_text(b"os.path.join(os.sep)", "os", false);
        assert_eq!(
            found.chains.iter().collect::<Vec<_>>(),
            ["path", "path.join", "sep"]
        );
        for text in [
            "  x = 1",
            "const x = 1",
            "for x in y:",
            "with a as x:",
            "def x():",
        ] {
            assert!(in_text(text.as_bytes(), "x", false).bound, "{text}");
        }
        assert!(!in_text(b"y as x", "x", true).bound);
        for text in ["f(x=1)", "x == 1", "y = x", "f(x)", "x => 1", "...x"] {
            assert!(!in_text(text.as_bytes(), "x", false).bound, "{text}");
        }
    }
}
