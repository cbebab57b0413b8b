use crate::languages::uses::is_word;
use crate::model::Import;

/// The module on the line of its statement or call, as a dotted name of its own.
pub(super) fn specifier_in(rest: &str, import: &Import) -> Option<usize> {
    let line = rest.split('\n').next()?;
    let inside = |byte: Option<&u8>| byte.is_some_and(|byte| *byte == b'.' || is_word(*byte));
    let module = import.specifier.as_str();
    let mut found = line.match_indices(module).map(|(at, _)| at);
    found.find(|at| {
        let before = at.checked_sub(1).and_then(|at| line.as_bytes().get(at));
        !inside(before) && !inside(line.as_bytes().get(at + module.len()))
    })
}
