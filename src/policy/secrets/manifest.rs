use super::scan::Hit;

const RULE: &str = "kubernetes-secret";
const MAX_BYTES: usize = 64 * 1024;

/// The values below `data:` and `stringData:` of a Kubernetes manifest whose `kind: Secret` stands
/// at `at`.
pub(super) fn secret_manifest(text: &[u8], at: usize, hits: &mut Vec<Hit>) {
    let kind_end = text
        .get(at..)
        .and_then(|rest| rest.split(|byte| *byte == b'\n').next())
        .map_or(at, |line| at + line.len());
    if text.get(at..kind_end).map(<[u8]>::trim_ascii) != Some(b"kind: Secret") {
        return;
    }
    let from = at.saturating_sub(MAX_BYTES);
    let before = text.get(from..at).unwrap_or_default();
    let start = memchr::memmem::rfind(before, b"\n---").map_or(from, |found| from + found + 1);
    let rest = text
        .get(kind_end..text.len().min(kind_end + MAX_BYTES))
        .unwrap_or_default();
    let end = memchr::memmem::find(rest, b"\n---")
        .map_or(kind_end + rest.len(), |found| kind_end + found);
    let mut inside = None;
    let mut line_start = start;
    for line in text
        .get(start..end)
        .unwrap_or_default()
        .split(|byte| *byte == b'\n')
    {
        let indent = line.iter().take_while(|byte| **byte == b' ').count();
        let body = line.trim_ascii();
        match inside {
            Some(outer) if indent > outer => {
                if let Some(colon) = memchr::memmem::find(line, b": ") {
                    let value = line.get(colon + 2..).unwrap_or_default();
                    let lead = value.len() - value.trim_ascii_start().len();
                    let value = value.trim_ascii();
                    let written = !value.is_empty()
                        && !matches!(value.first(), Some(b'|' | b'>' | b'$' | b'{' | b'#'));
                    if written && value.len() >= 4 {
                        let from = line_start + colon + 2 + lead;
                        hits.push(Hit {
                            start: from,
                            end: from + value.len(),
                            rule: RULE,
                        });
                    }
                }
            }
            _ if matches!(body, b"data:" | b"stringData:") => inside = Some(indent),
            _ if !body.is_empty() => inside = None,
            _ => {}
        }
        line_start += line.len() + 1;
    }
}
