//! Finds the part of a changed file whose syntax a change can have broken.

use super::collapse::{NO_STRING, open_string};

/// The part of a new text in which it differs from the old one, from the start of a definition at the top level to
/// the start of another.
///
/// A keyword ends every bracket, so that outside of strings the text before and after such a start parses by itself.
pub(super) fn changed_part<'t>(old: &[u8], new: &'t [u8]) -> &'t [u8] {
    let is_same = |(one, two): &(&u8, &u8)| one == two;
    let before = old.iter().zip(new).take_while(is_same).count();
    let left = old.len().min(new.len()) - before;
    let after = old.iter().rev().zip(new.iter().rev()).take(left).take_while(is_same).count();
    let (mut start, mut at, mut open) = (0, 0, NO_STRING);
    // A decorator is on the line above.
    let mut is_first = false;
    for line in old.split_inclusive(|byte| *byte == b'\n') {
        let mut heads = [&b"def "[..], b"class ", b"async def ", b"@"].into_iter();
        if is_first && heads.any(|head| line.starts_with(head)) {
            if at + line.len() <= before {
                start = at;
            } else if at > old.len() - after {
                return &new[start..new.len() - (old.len() - at)];
            }
        }
        let Some(next) = open_string(line, open) else {
            return new;
        };
        (open, at) = (next, at + line.len());
        is_first = open == NO_STRING && line.trim_ascii().is_empty();
    }
    &new[start..]
}

#[cfg(test)]
mod tests {
    use super::changed_part;

    #[test]
    fn part_is_whole_definitions() {
        let old = "import a\n\n@b\ndef c():\n    1\n\n\ndef d():\n    '''\n\ndef e():\n    '''\n    2\n\nclass F:\n    3\n";
        for (from, to, part) in [
            ("    1", "    4", "@b\ndef c():\n    4\n\n\n"),
            (
                "    2",
                "    5",
                "def d():\n    '''\n\ndef e():\n    '''\n    5\n\n",
            ),
            (
                "def d",
                "def g",
                "@b\ndef c():\n    1\n\n\ndef g():\n    '''\n\ndef e():\n    '''\n    2\n\n",
            ),
            ("    3\n", "    3\n    4\n", "class F:\n    3\n    4\n"),
            ("import a\n", "", "\n"),
        ] {
            let new = old.replacen(from, to, 1);
            let found = changed_part(old.as_bytes(), new.as_bytes());
            assert_eq!(String::from_utf8_lossy(found), part, "{from}");
        }
        let broken = "a = 'b\n\ndef c():\n    1\n";
        assert_eq!(changed_part(broken.as_bytes(), b"x"), b"x");
    }
}
