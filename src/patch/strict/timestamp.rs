/// How many bytes at the end of a header line are a tab or space and a date with a time; 0 when
/// there is none.
pub(in crate::patch) fn length(line: &[u8]) -> usize {
    let Some(end) = without_zone(line)
        .and_then(without_time)
        .and_then(without_date)
    else {
        return 0;
    };
    let Some((last, name)) = line.get(..end).and_then(<[u8]>::split_last) else {
        return 0;
    };
    match last {
        b'\t' => line.len() - name.len(),
        b' ' => {
            let spaces = line
                .iter()
                .take(end)
                .rev()
                .take_while(|byte| **byte == b' ');
            line.len() - (end - spaces.count())
        }
        _ => 0,
    }
}

/// Whether the time after the last tab is the first moment of 1970, which old tools write for a
/// side that is not there.
pub(in crate::patch) fn is_epoch(line: &[u8]) -> bool {
    let tab = line.iter().rposition(|byte| *byte == b'\t');
    let stamp = tab.and_then(|tab| line.get(tab + 1..));
    stamp.is_some_and(is_epoch_stamp)
}

/// Whether a time stamp is the first moment of 1970, in any zone.
pub(in crate::patch) fn is_epoch_stamp(stamp: &[u8]) -> bool {
    epoch(stamp).unwrap_or(false)
}

fn epoch(stamp: &[u8]) -> Option<bool> {
    let text = std::str::from_utf8(stamp).ok()?;
    let text = text.trim_end_matches(['\n', '\r']);
    let (day, rest) = match text.strip_prefix("1969-12-31 ") {
        Some(rest) => (24 * 60, rest),
        None => (0, text.strip_prefix("1970-01-01 ")?),
    };
    let (time, zone) = rest.split_once(' ')?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    if fraction.is_empty() || fraction.bytes().any(|byte| byte != b'0') {
        return None;
    }
    let mut parts = time.split(':').map(two_digits);
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    if seconds != 0 || parts.next().is_some() {
        return None;
    }
    let (sign, zone) = match zone.split_at_checked(1)? {
        ("+", zone) => (1, zone),
        ("-", zone) => (-1, zone),
        _ => return None,
    };
    let zone_minutes =
        two_digits(zone.get(..2)?)? * 60 + two_digits(zone.get(2..)?.trim_start_matches(':'))?;
    Some(hours * 60 + minutes - sign * zone_minutes == day)
}

fn two_digits(text: &str) -> Option<i32> {
    let plain = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

// ` +0100` or ` +01:00`; most tools write one, and none is no fault.
fn without_zone(line: &[u8]) -> Option<&[u8]> {
    if !line.last()?.is_ascii_digit() {
        return None;
    }
    for form in [&b" +dddd"[..], b" +dd:dd"] {
        if let Some(rest) = without(line, form) {
            return Some(rest);
        }
    }
    Some(line)
}

fn without_time(line: &[u8]) -> Option<&[u8]> {
    const TIME: &[u8] = b" dd:dd:dd";
    without(line, TIME).or_else(|| {
        let digits = line.iter().rev().take_while(|byte| byte.is_ascii_digit());
        let rest = line.get(..line.len() - digits.count())?;
        without(rest.strip_suffix(b".")?, TIME)
    })
}

fn without_date(line: &[u8]) -> Option<usize> {
    without(line, b"dddd-dd-dd")
        .or_else(|| without(line, b"dd-dd-dd"))
        .map(<[u8]>::len)
}

// `d` stands for a digit and `+` for either sign.
fn without<'l>(line: &'l [u8], form: &[u8]) -> Option<&'l [u8]> {
    let start = line.len().checked_sub(form.len())?;
    let (rest, end) = line.split_at_checked(start)?;
    let fits = |(byte, form): (&u8, &u8)| match form {
        b'd' => byte.is_ascii_digit(),
        b'+' => matches!(byte, b'+' | b'-'),
        other => byte == other,
    };
    end.iter().zip(form).all(fits).then_some(rest)
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
