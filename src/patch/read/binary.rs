//! Reads git's binary patches.

use zlib_rs::{InflateConfig, ReturnCode, decompress_slice};

use crate::patch::set::Binary;
use crate::patch::text::Text;
use crate::source::MAX_READ_BYTES;

/// Reads the data of a `GIT binary patch` that starts at `from`; gives it and the line after.
/// `Err` says what is wrong.
pub(super) fn read_binary(
    lines: &Text<'_>,
    from: usize,
) -> Result<(Binary, Option<Binary>, usize), String> {
    let (forward, mut at) = read_block(lines, from)?
        .ok_or_else(|| "a binary patch has no `literal` or `delta` line".to_owned())?;
    let backward = match read_block(lines, at)? {
        Some((backward, next)) => {
            at = next;
            Some(backward)
        }
        None => None,
    };
    Ok((forward, backward, at))
}

/// Reads the data that a text starts with; gives both directions and how many lines they take.
pub(in crate::patch) fn git_binary(text: &[u8]) -> Result<(Binary, Option<Binary>, usize), String> {
    read_binary(&Text::new(text), 0)
}

fn read_block(lines: &Text<'_>, from: usize) -> Result<Option<(Binary, usize)>, String> {
    let head = lines.line(from);
    let (is_delta, size) = if let Some(size) = head.strip_prefix(b"literal ") {
        (false, size)
    } else if let Some(size) = head.strip_prefix(b"delta ") {
        (true, size)
    } else {
        return Ok(None);
    };
    let size: u64 = std::str::from_utf8(size)
        .ok()
        .and_then(|size| size.trim_ascii().parse().ok())
        .ok_or("a binary patch names no size")?;
    if size > MAX_READ_BYTES {
        return Err(format!(
            "binary data of {size} bytes exceeds the limit of {MAX_READ_BYTES}"
        ));
    }
    let mut packed = Vec::new();
    let mut at = from + 1;
    loop {
        match lines.get(at) {
            Some(line) if !line.is_empty() => decode_base85(line, &mut packed)?,
            Some(_) => break,
            None => return Err("the input ends inside binary data".to_owned()),
        }
        at += 1;
    }
    // Deflate packs at most 1,032 bytes into one.
    let most = packed.len().saturating_mul(1_032) as u64;
    let mut data = vec![0; size.min(most) as usize];
    let (unpacked, status) = decompress_slice(&mut data, &packed, InflateConfig::default());
    if !matches!(status, ReturnCode::Ok | ReturnCode::BufError) {
        return Err("binary data does not inflate".to_owned());
    }
    if status != ReturnCode::Ok || unpacked.len() as u64 != size {
        return Err(format!(
            "binary data does not have the {size} bytes it announces"
        ));
    }
    let data = if is_delta { Binary::Delta(data) } else { Binary::Literal(data) };
    Ok(Some((data, at + 1)))
}

/// The digits of base 85.
pub(in crate::patch) const ALPHABET: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

// One line: a letter for the count of bytes, then groups of five digits for four bytes.
fn decode_base85(line: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let (first, digits) = line.split_first().ok_or_else(damaged_line)?;
    let count = match first {
        b'A'..=b'Z' => usize::from(first - b'A') + 1,
        b'a'..=b'z' => usize::from(first - b'a') + 27,
        _ => return Err(damaged_line()),
    };
    if digits.len() != count.div_ceil(4) * 5 {
        return Err(damaged_line());
    }
    let end = out.len() + count;
    for group in digits.chunks_exact(5) {
        let mut value: u32 = 0;
        for digit in group {
            let place = memchr::memchr(*digit, ALPHABET).ok_or_else(damaged_line)? as u32;
            let shifted = value.checked_mul(85).ok_or_else(damaged_line)?;
            value = shifted.checked_add(place).ok_or_else(damaged_line)?;
        }
        out.extend_from_slice(&value.to_be_bytes());
    }
    out.truncate(end);
    Ok(())
}

fn damaged_line() -> String {
    "a line of binary data is damaged".to_owned()
}

#[cfg(test)]
mod tests {
    use super::decode_base85;

    #[test]
    fn decodes_gits_base85() {
        let mut out = Vec::new();
        decode_base85(b"D0RR91", &mut out).unwrap();
        assert_eq!(out.len(), 4);
        assert!(decode_base85(b"D0RR9", &mut Vec::new()).is_err());
        assert!(decode_base85(b"D~~~~~", &mut Vec::new()).is_err());
    }
}
