//! Reads file names of headers as git does, quoted ones too.

use super::Fatal;
use super::timestamp;
use super::white_space::is_space;

/// How names of the patch become paths.
#[derive(Debug, Clone)]
pub(in crate::patch) struct Naming {
    /// Leading components to strip.
    pub(in crate::patch) strip: usize,
    /// The number was given or has been found out.
    pub(in crate::patch) settled: bool,
    /// Put before every name; empty or with a final `/`.
    pub(in crate::patch) root: String,
    /// The user's directory; empty or with a final `/`.
    pub(in crate::patch) prefix: String,
}

/// What ends a name besides the end of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::patch) enum Stop {
    Nothing,
    Tab,
}

impl Naming {
    /// The name that a header line holds.
    pub(in crate::patch) fn find(
        &self,
        line: &[u8],
        default: Option<&[u8]>,
        strip: usize,
        stop: Stop,
    ) -> Option<Vec<u8>> {
        self.read_quoted(line, strip)
            .or_else(|| self.read_plain(line, None, default, strip, stop))
    }

    /// The name on a `---` or `+++` line of tools other than git, which may put a date after it.
    pub(in crate::patch) fn find_traditional(
        &self,
        line: &[u8],
        default: Option<&[u8]>,
        strip: usize,
    ) -> Option<Vec<u8>> {
        if let Some(name) = self.read_quoted(line, strip) {
            return Some(name);
        }
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        match timestamp::length(text) {
            0 => self.find(line, default, strip, Stop::Tab),
            date => {
                let end = Some(text.len() - date);
                self.read_plain(line, end, default, strip, Stop::Nothing)
            }
        }
    }

    /// The name of a `diff --git` line, when its two sides are the same but for their prefixes.
    pub(in crate::patch) fn of_git_line(&self, line: &[u8]) -> Option<Vec<u8>> {
        let name = self.read_twice(line.strip_suffix(b"\n").unwrap_or(line))?;
        Some(self.below_root(&name))
    }

    /// Returns how many components to strip, from the names alone.
    pub(in crate::patch) fn guess_strip(&self, line: &[u8]) -> Option<usize> {
        if is_null(line) {
            return None;
        }
        let name = self.find_traditional(line, None, 0)?;
        let Some(slash) = name.iter().position(|byte| *byte == b'/') else {
            return Some(0);
        };
        if self.prefix.is_empty() {
            return None;
        }
        let depth = self.prefix.bytes().filter(|byte| *byte == b'/').count();
        if name.starts_with(self.prefix.as_bytes()) {
            return Some(depth);
        }
        name.get(slash + 1..)?.starts_with(self.prefix.as_bytes()).then_some(depth + 1)
    }

    fn below_root(&self, name: &[u8]) -> Vec<u8> {
        let mut path = self.root.clone().into_bytes();
        path.extend_from_slice(name);
        path
    }

    fn read_quoted(&self, line: &[u8], strip: usize) -> Option<Vec<u8>> {
        let (name, _) = unquote_name(line)?;
        Some(self.below_root(without_components(&name, strip)?))
    }

    fn read_plain(
        &self,
        line: &[u8],
        end: Option<usize>,
        default: Option<&[u8]>,
        strip: usize,
        stop: Stop,
    ) -> Option<Vec<u8>> {
        let stops: &[u8] = if stop == Stop::Tab { b"\n\r\t" } else { b"\n\r" };
        let end = end.or_else(|| line.iter().position(|byte| stops.contains(byte)));
        let whole = line.get(..end.unwrap_or(line.len()))?;
        let name = without_components(whole, strip).filter(|name| !name.is_empty());
        let Some(name) = name else {
            return default.map(squash_slashes);
        };
        // The shorter name is preferred when the other has only something like `.orig` after it.
        let shorter = default.filter(|default| default.len() < name.len());
        if let Some(shorter) = shorter.filter(|default| name.starts_with(default)) {
            return Some(squash_slashes(shorter));
        }
        Some(squash_slashes(&self.below_root(name)))
    }

    fn read_twice(&self, line: &[u8]) -> Option<Vec<u8>> {
        if line.first() == Some(&b'"') {
            let (first, rest) = unquote_name(line)?;
            let first = self.without_prefix(&first)?;
            let rest = rest.get(rest.iter().position(|byte| !is_space(*byte))?..)?;
            if rest.first() == Some(&b'"') {
                let (second, _) = unquote_name(rest)?;
                return (self.without_prefix(&second)? == first).then(|| first.to_vec());
            }
            return (self.without_prefix(rest)? == first).then(|| first.to_vec());
        }
        let name = self.without_prefix(line)?;
        if let Some(quote) = name.iter().position(|byte| *byte == b'"') {
            let (second, _) = unquote_name(name.get(quote..)?)?;
            let second = self.without_prefix(&second)?;
            let whole = second.len() < quote
                && name.starts_with(second)
                && name.get(second.len()).is_some_and(|byte| is_space(*byte));
            return whole.then(|| second.to_vec());
        }
        let spaces = name.iter().enumerate();
        spaces.filter(|(_, byte)| matches!(byte, b' ' | b'\t')).find_map(|(len, _)| {
            let second = self.without_prefix(name.get(len + 1..)?)?;
            let first = name.get(..len)?;
            (second == first).then(|| first.to_vec())
        })
    }

    fn without_prefix<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        without_components(line, self.strip).filter(|_| line.first() != Some(&b'/'))
    }
}

/// The name without its first `count` components.
fn without_components(name: &[u8], count: usize) -> Option<&[u8]> {
    let Some(last) = count.checked_sub(1) else {
        return Some(name);
    };
    let at = memchr::memchr_iter(b'/', name).nth(last)?;
    name.get(at + 1..)
}

/// Whether a side of a header is `/dev/null`.
pub(in crate::patch) fn is_null(line: &[u8]) -> bool {
    line.strip_prefix(b"/dev/null")
        .is_some_and(|rest| rest.first().is_none_or(|byte| is_space(*byte)))
}

/// Whether a name starts with a quote that does not close; git reads the quote as a letter of it.
pub(in crate::patch) fn has_open_quote(name: &[u8]) -> bool {
    name.starts_with(b"\"") && unquote_name(name).is_none()
}

/// A name in C quotes, and what follows it; `None` when it is missing or damaged.
fn unquote_name(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut name = Vec::new();
    let mut rest = text.strip_prefix(b"\"")?;
    loop {
        let (byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((name, rest)),
            b'\n' => return None,
            b'\\' => {
                let (escape, after) = rest.split_first()?;
                rest = after;
                name.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => *escape,
                    b'0'..=b'3' => {
                        let [high @ b'0'..=b'7', low @ b'0'..=b'7', after @ ..] = rest else {
                            return None;
                        };
                        rest = after;
                        (escape - b'0') * 64 + (high - b'0') * 8 + (low - b'0')
                    }
                    _ => return None,
                });
            }
            byte => name.push(*byte),
        }
        // Refused because no name of git has such a byte, and it would hide what follows.
        if name.last() == Some(&0) {
            return None;
        }
    }
}

fn squash_slashes(name: &[u8]) -> Vec<u8> {
    let mut name = name.to_vec();
    name.dedup_by(|one, two| *one == b'/' && *two == b'/');
    name
}

/// A name as a path; git's own names that are no UTF-8 are refused.
pub(in crate::patch) fn decode_name(name: Vec<u8>) -> Result<String, Fatal> {
    String::from_utf8(name).map_err(|error| {
        let name = String::from_utf8_lossy(error.as_bytes()).into_owned();
        Fatal(format!("invalid path '{name}': it is not UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::{Naming, Stop, has_open_quote, is_null, unquote_name};

    fn naming(strip: usize) -> Naming {
        Naming {
            strip,
            settled: true,
            root: String::new(),
            prefix: String::new(),
        }
    }

    #[test]
    fn strips_quotes_and_components() {
        let find = |line: &str, strip| {
            let name = naming(strip).find(line.as_bytes(), None, strip, Stop::Tab);
            name.map(|name| String::from_utf8(name).unwrap())
        };
        assert_eq!(find("a/b//c\t2020\n", 1).as_deref(), Some("b/c"));
        assert_eq!(find("\"a/b\\303\\251\"\n", 1).as_deref(), Some("b\u{e9}"));
        assert_eq!(find("a/b\n", 2), None);
        assert!(unquote_name(b"\"a\\000b\"").is_none());
        assert!(unquote_name(b"\"a\nb\"").is_none());
        let escapes = unquote_name(b"\"\\a\\b\\t\\n\\v\\f\\r\\\"\\\\\" b").unwrap();
        assert_eq!(
            escapes,
            (b"\x07\x08\t\n\x0b\x0c\r\"\\".to_vec(), &b" b"[..])
        );
        assert!(has_open_quote(b"\"a") && !has_open_quote(b"\"a\"") && !has_open_quote(b"a\""));
        assert!(is_null(b"/dev/null") && is_null(b"/dev/null\t") && !is_null(b"/dev/nullx"));
    }

    #[test]
    fn takes_the_name_that_stands_twice() {
        let twice = |line: &str, strip| naming(strip).of_git_line(line.as_bytes());
        assert_eq!(twice("a/x y b/x y\n", 1).as_deref(), Some(&b"x y"[..]));
        for (line, strip) in [
            ("a/x b/y\n", 1),
            ("\"a/x\" b/y\n", 1),
            ("\"a/x\" \"b/y\"\n", 1),
            ("a/x \"b/y\"\n", 1),
            ("a/xy \"b/x\"\n", 1),
            ("a/yx \"b/x\"\n", 1),
            ("/x /x\n", 0),
            ("/x /x\n", 1),
        ] {
            assert_eq!(twice(line, strip), None, "{line}");
        }
        for line in ["\"a/x\" b/x\n", "a/x \"b/x\"\n", "\"a/x\"\t\"b/x\"\n"] {
            assert_eq!(twice(line, 1).as_deref(), Some(&b"x"[..]), "{line}");
        }
        for (line, strip) in [("x/ x/\n", 0), ("a/x/ b/x/\n", 1)] {
            assert_eq!(twice(line, strip).as_deref(), Some(&b"x/"[..]), "{line}");
        }
        assert_eq!(twice("x x\n", 0).as_deref(), Some(&b"x"[..]));
        assert_eq!(
            twice("\"a/\\t\" \"b/\\t\"\n", 1).as_deref(),
            Some(&b"\t"[..])
        );
    }
}
