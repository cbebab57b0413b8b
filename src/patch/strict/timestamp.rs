//! Recognizes the date after a file name. The epoch means that the side does not exist, because old
//! tools write it so.

use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::patch::text::leading_number;

// A tab or blanks, a date, a time and perhaps a zone, as tools write them behind a name.
static STAMP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?-u)(?:\t| +)(?:\d{4}|\d\d)-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?(?: [+-]\d\d:?\d\d)?$",
    )
    .ok()
});

// A moment of the days around the first of 1970 with its zone.
static FIRST_DAYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let day = "(1969-12-31|1970-01-01)";
    Regex::new(&format!(
        r"(?-u)\t{day} (\d\d):(\d\d):00(?:\.0+)? ([+-])(\d\d):?(\d\d)\n?$"
    ))
    .ok()
});

/// How many bytes at the end of a header line are a tab or space and a date with a time; 0 when
/// there is none.
pub(in crate::patch) fn length(line: &[u8]) -> usize {
    let found = STAMP.as_ref().and_then(|stamp| stamp.find(line));
    found.map_or(0, |found| found.len())
}

/// Whether the time after the last tab is the first moment of 1970 in its zone, which old tools write
/// for a side that is not there.
pub(in crate::patch) fn is_epoch(line: &[u8]) -> bool {
    let Some(found) = FIRST_DAYS.as_ref().and_then(|days| days.captures(line)) else {
        return false;
    };
    let groups = [1, 2, 3, 4, 5, 6];
    let texts = groups.map(|group| found.get(group).map_or(&[][..], |text| text.as_bytes()));
    let [_, hours, minutes, _, zone_hours, zone_minutes] =
        texts.map(|text| leading_number::<i32>(text).map_or(0, |(number, _)| number));
    let time = hours * 60 + minutes;
    let zone = zone_hours * 60 + zone_minutes;
    let day = 24 * 60 * i32::from(texts[0].starts_with(b"1969"));
    if texts[3] == b"+" { time - zone == day } else { time + zone == day }
}

#[cfg(test)]
mod tests {
    use super::{is_epoch, length};

    #[test]
    fn knows_the_dates_that_tools_write() {
        for (line, date) in [
            ("a\t2010-07-05 19:41:17.620000023 -0500", 36),
            ("a\t2010-07-05 19:41:17", 20),
            ("a  2010-07-05 19:41:17 +01:00", 28),
            ("a b", 0),
            ("a 2010", 0),
        ] {
            assert_eq!(length(line.as_bytes()), date, "{line}");
        }
    }

    #[test]
    fn knows_the_beginning_of_time() {
        assert!(is_epoch(b"a\t1970-01-01 01:00:00.000000000 +0100\n"));
        assert!(is_epoch(b"a\t1969-12-31 19:00:00 -0500\n"));
        assert!(!is_epoch(b"a\t1970-01-01 00:00:00 +0100\n"));
        assert!(!is_epoch(b"a\t1970-01-01 00:00:00.5 +0000\n"));
    }
}
