use std::collections::VecDeque;
use std::io::{self, Read};

use super::AppError;

const MAX_HEAD: usize = 32 << 20;
const MAX_TAIL: usize = 96 << 20;

/// Reads a log from a file, or from standard input when the path is `-`. Of a log above 128 MiB
/// the first 32 and the last 96 are kept, with one line between them that says so.
pub(crate) fn read_log(path: &str) -> Result<Vec<u8>, AppError> {
    let read = if path == "-" {
        head_and_tail(io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(head_and_tail)
    };
    read.map_err(|error| AppError::unreadable(path, &error))
}

/// Reads a JSON document from a file or standard input.
pub(crate) fn read_json(path: &str) -> Result<serde_json::Value, AppError> {
    let bytes = read_log(path)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| AppError::usage(format!("`{path}` is not JSON: {error}")))
}

fn head_and_tail(mut input: impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input
        .by_ref()
        .take(MAX_HEAD as u64)
        .read_to_end(&mut head)?;
    if head.len() < MAX_HEAD {
        return Ok(head);
    }
    let mut tail: VecDeque<u8> = VecDeque::new();
    let mut omitted = 0_u64;
    let mut chunk = vec![0; 1 << 20];
    loop {
        let count = match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        tail.extend(&chunk[..count]);
        let surplus = tail.len().saturating_sub(MAX_TAIL);
        tail.drain(..surplus);
        omitted += surplus as u64;
    }
    if omitted > 0 {
        head.extend_from_slice(format!("\n[{omitted} bytes left out]\n").as_bytes());
    }
    head.extend(tail);
    Ok(head)
}
