//! The readings of a text: as it is, with base64 decoded, and as a person would read it, with
//! escapes, percent-encoding, entities and terminal sequences decoded.

use std::ops::Range;

use super::base64::from_base64;

/// Leads from a range of a reading to the range of the text it was made from.
type Origin<'a> = &'a dyn Fn(Range<usize>) -> Range<usize>;

/// Calls back with each reading of a text and the way back from it.
pub(super) fn each_reading(text: &[u8], read: &mut dyn FnMut(&[u8], Origin<'_>)) {
    read(text, &|range| range);
    each_decoded(text, &mut |decoded, outer| read(decoded, outer));
    each_view(text, &mut |view| {
        read(&view.text, &|range| view.origin(range));
        each_decoded(&view.text, &mut |decoded, outer| {
            read(decoded, &|range| view.origin(outer(range)));
        });
    });
}

/// A stretch of lines with everything in it decoded.
#[derive(Debug, Default)]
struct View {
    text: Vec<u8>,
    /// Where copied stretches begin: in the view, and in the text.
    stretches: Vec<(usize, usize)>,
}

impl View {
    fn origin(&self, range: Range<usize>) -> Range<usize> {
        let from = self.place(range.start);
        let last = range.end.saturating_sub(1).max(range.start);
        // The last byte may be written with more than one.
        let next = self.stretches.partition_point(|(view, _)| *view <= last);
        let end = match self.stretches.get(next) {
            Some((view, origin)) if *view == last + 1 => *origin,
            _ => self.place(last) + 1,
        };
        from..end.max(from)
    }

    fn place(&self, at: usize) -> usize {
        let next = self.stretches.partition_point(|(view, _)| *view <= at);
        let (view, origin) = next.checked_sub(1).map_or((0, 0), |last| self.stretches[last]);
        origin + (at - view)
    }

    // Of empty stretches at one place only the first and the last are kept, because there may be millions.
    fn begin(&mut self, origin: usize) {
        let at = self.text.len();
        match self.stretches.as_mut_slice() {
            [.., first, last] if first.0 == at && last.0 == at => last.1 = origin,
            _ => self.stretches.push((at, origin)),
        }
    }

    fn copy(&mut self, text: &[u8], range: Range<usize>) {
        self.begin(range.start);
        self.text.extend_from_slice(&text[range]);
    }
}

/// Calls back with a view of each stretch of lines that reads otherwise than it is written.
fn each_view(text: &[u8], found: &mut dyn FnMut(&View)) {
    let written = regex!(WRITTEN).into_iter();
    let places = written.flat_map(|written| written.find_iter(text));
    let mut places = places.map(|place| place.range()).peekable();
    while let Some(first) = places.next() {
        let start = memchr::memrchr(b'\n', &text[..first.start]).map_or(0, |at| at + 1);
        let mut view = View::default();
        view.copy(text, start..first.start);
        let (mut place, mut line_end) = (first, 0);
        let end = loop {
            let written = &text[place.clone()];
            // Bytes that follow each other in percent-encoding are found at once: there may be millions.
            let size = if written[0] == b'%' { 3 } else { written.len() };
            for (number, unit) in written.chunks(size).enumerate() {
                view.begin(place.start + number * size);
                view.text.extend(decode_unit(unit));
            }
            // The end of a line is searched once, because a line may hold millions of units.
            if place.end >= line_end {
                let found = memchr::memchr(b'\n', &text[place.end..]);
                line_end = found.map_or(text.len(), |at| place.end + at + 1);
            }
            let Some(next) = places.next_if(|next| next.start <= line_end) else {
                view.copy(text, place.end..line_end);
                break line_end;
            };
            view.copy(text, place.end..next.start);
            place = next;
        };
        view.begin(end);
        found(&view);
    }
}

// Units that read otherwise than they are written: terminal sequences (their escape character may be
// escaped itself), escapes of JSON and of programming languages, a backslash at the end of a line,
// percent-encoding, XML entities, invisible characters (every other byte of UTF-16 among them), and
// the wide blanks and letters of east Asian text.
const WRITTEN: &str = r"(?x)
    (?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)
        (?:\[[\x20-\x3f]*[@-~]?|[\]P^_][^\x07\x1b\n\\]*(?:\x07|(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\\{1,2})?|[\x20-/]*[0-~]?)
    |\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\\r?\n|\\[nrt\x22'\\/=:$&]
    |(?:%[0-9a-fA-F]{2})+
    |&(?:quot|apos|amp|lt|gt|\#[0-9]{1,3}|\#[xX][0-9a-fA-F]{1,2});
    |\x00+|\xc2\xad|\xcd\x8f|\xe2\x80[\x8b-\x8f\xaa-\xae]|\xe2\x81[\xa0-\xaf]|\xe1\xa0\x8e|\xef\xbb\xbf
    |\xef\xb8[\x80-\x8f]|\xf3\xa0..
    |\xc2\xa0|\xe2\x80\xaf|\xe3\x80\x80|\xef\xbc[\x81-\xbf]|\xef\xbd[\x80-\x9e]";

/// Decodes a unit to the byte it represents; `None` for what is invisible.
fn decode_unit(unit: &[u8]) -> Option<u8> {
    match unit {
        [0x1b, ..] | [b'\\', b'\n' | b'\r' | b'e' | b'0', ..] => None,
        [b'\\', b'u', digits @ ..] if digits.len() == 4 => ascii_of(code_of(digits, 16)),
        [b'\\', b'x', digits @ ..] if digits.len() == 2 => ascii_of(code_of(digits, 16)),
        [b'\\', b'u' | b'x', ..] => None,
        [b'\\', b'n'] => Some(b'\n'),
        [b'\\', b't'] => Some(b'\t'),
        [b'\\', b'r'] => Some(b'\r'),
        [b'\\', mark] => Some(*mark),
        [b'%', digits @ ..] => ascii_of(code_of(digits, 16)),
        b"&quot;" => Some(b'"'),
        b"&apos;" => Some(b'\''),
        b"&amp;" => Some(b'&'),
        b"&lt;" => Some(b'<'),
        b"&gt;" => Some(b'>'),
        [b'&', b'#', b'x' | b'X', digits @ .., b';'] => ascii_of(code_of(digits, 16)),
        [b'&', b'#', digits @ .., b';'] => ascii_of(code_of(digits, 10)),
        [0xc2, 0xa0] | [0xe2, 0x80, 0xaf] | [0xe3, 0x80, 0x80] => Some(b' '),
        [0xef, 0xbc, low] => Some(low - 0x60),
        [0xef, 0xbd, low] => Some(low - 0x20),
        _ => None,
    }
}

fn code_of(digits: &[u8], radix: u32) -> Option<u32> {
    let code = std::str::from_utf8(digits).ok();
    code.and_then(|code| u32::from_str_radix(code, radix).ok())
}

fn ascii_of(code: Option<u32>) -> Option<u8> {
    match code? {
        0x1b | 0x200b..=0x200f | 0x202a..=0x202e | 0x2060..=0x206f | 0xfeff => None,
        code => Some(u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(b'?')),
    }
}

/// Calls back with the text inside each run of base64 that decodes to text, and the way back.
fn each_decoded(text: &[u8], found: &mut dyn FnMut(&[u8], Origin<'_>)) {
    let runs = regex!(r"[A-Za-z0-9+/_-]{24,}={0,2}");
    for run in runs.into_iter().flat_map(|runs| runs.find_iter(text)) {
        let Some(decoded) = decode_text(run.as_bytes()) else {
            continue;
        };
        found(&decoded, &|range| {
            // A run up to this length is masked whole, a longer one only where the secret is.
            if run.len() <= 512 {
                return run.range();
            }
            let end = run.start() + range.end.div_ceil(3) * 4;
            run.start() + range.start / 3 * 4..end.min(run.end())
        });
    }
}

fn decode_text(run: &[u8]) -> Option<Vec<u8>> {
    // Almost everything is dismissed by its first bytes.
    if !from_base64(&run[..20])?.iter().all(|byte| is_text_byte(*byte)) {
        return None;
    }
    let decoded = from_base64(run)?;
    let plain = decoded.iter().filter(|byte| is_text_byte(**byte) || **byte >= 0x80).count();
    (plain * 20 >= decoded.len() * 19).then_some(decoded)
}

fn is_text_byte(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\r' | b'\t')
}

#[cfg(test)]
mod tests {
    use super::{each_decoded, each_view};

    fn views(text: &str) -> Vec<String> {
        let mut views = Vec::new();
        each_view(text.as_bytes(), &mut |view| {
            views.push(String::from_utf8_lossy(&view.text).into_owned());
        });
        views
    }

    #[test]
    fn decodes_text_readings() {
        assert_eq!(
            views("plain\n{\"a\":\"x\\ny=\\\"1\\\"\"}\nplain"),
            ["{\"a\":\"x\ny=\"1\"\"}\n"]
        );
        assert_eq!(
            views("\u{1b}[33mto\u{200b}ken\u{1b}[0m \\u001b[1mx"),
            ["token x"]
        );
        assert_eq!(views("a%3Db &quot;c&#61;d"), ["a=b \"c=d"]);
        assert_eq!(
            views("\u{ff34}oken\u{ff1a}\u{a0}x\u{ff5e}\u{3000}\u{ff1d}"),
            ["Token: x~ ="]
        );
        assert!(views("nothing to do % here && there \\d").is_empty());
    }

    #[test]
    fn ranges_lead_back() {
        let text = "x \\u0041\u{200b}B%43 y";
        each_view(text.as_bytes(), &mut |view| {
            let at = view.text.windows(3).position(|part| part == b"ABC").unwrap();
            assert_eq!(&text[view.origin(at..at + 3)], "\\u0041\u{200b}B%43");
        });
    }

    #[test]
    fn skips_binary_readings() {
        let mut found = Vec::new();
        each_decoded(b"dG9rZW49YWJjZGVmZ2hpamtsbW5vcA== iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk", &mut |decoded, _| {
            found.push(String::from_utf8(decoded.to_vec()).unwrap());
        });
        assert_eq!(found, ["token=abcdefghijklmnop"]);
    }
}
