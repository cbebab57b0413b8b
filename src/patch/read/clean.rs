//! Removes what transport added to an input: byte order marks, carriage returns, colors and reasoning.

use std::borrow::Cow;

use super::thoughts::without_thoughts;
use crate::model::{Code, Mend, Safety};
use crate::patch::text::with_line_ends;
use crate::source::without_colors;

/// The input without what transport added: a byte order mark, carriage returns.
pub(super) type Cleaned<'a> = (Cow<'a, [u8]>, Vec<Mend>);

/// Removes what the whole input carries. `Err` names an encoding that is not read.
pub(super) fn clean_input(input: &[u8]) -> Result<Cleaned<'_>, &'static str> {
    if input.starts_with(b"\xff\xfe") || input.starts_with(b"\xfe\xff") {
        return Err("UTF-16");
    }
    let mut mends = Vec::new();
    let mut bytes = Cow::Borrowed(input);
    if let Some(rest) = input.strip_prefix(b"\xef\xbb\xbf") {
        bytes = Cow::Borrowed(rest);
        mends.push(build_mend("dropped the byte order mark"));
    }
    if every_line_ends_in_cr(&bytes) {
        let plain = with_line_ends(&bytes, b"\n");
        bytes = Cow::Owned(plain.strip_suffix(b"\r").unwrap_or(&plain).to_vec());
        mends.push(build_mend("dropped the carriage return of every line"));
    }
    if let Cow::Owned(plain) = without_colors(&bytes) {
        bytes = Cow::Owned(plain);
        mends.push(build_mend("removed the colors of a terminal"));
    }
    if let Cow::Owned(plain) = without_thoughts(&bytes) {
        bytes = Cow::Owned(plain);
        mends.push(build_mend("dropped reasoning text"));
    }
    Ok((bytes, mends))
}

fn build_mend(message: &str) -> Mend {
    Mend::new(Code::M101, Safety::Safe, 1_u64, message)
}

fn every_line_ends_in_cr(bytes: &[u8]) -> bool {
    let mut feeds = memchr::memchr_iter(b'\n', bytes).peekable();
    feeds.peek().is_some() && feeds.all(|at| at > 0 && bytes.get(at - 1) == Some(&b'\r'))
}

#[cfg(test)]
mod tests {
    use super::{Code, clean_input};

    #[test]
    fn drops_what_transport_added() {
        let found = clean_input(b"\xef\xbb\xbf--- a/x\r\n+++ b/x\r\n");
        let (bytes, mends) = found.ok().unwrap();
        assert_eq!(&*bytes, b"--- a/x\n+++ b/x\n");
        assert!(mends.len() == 2 && mends.iter().all(|mend| mend.code == Code::M101));
    }

    #[test]
    fn keeps_what_is_content() {
        let text = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\r\n+\x1b[1mb\n";
        assert_eq!(&*clean_input(text).ok().unwrap().0, text);
        assert!(clean_input(b"\xff\xfed\0i\0").is_err());
    }
}
