use std::borrow::Cow;

use super::scan::Hit;

const RULE: &str = "kubernetes-secret";
const MAX_BYTES: usize = 64 * 1024;

/// The values below `data:` and `stringData:` of a Kubernetes manifest whose `kind: Secret` stands
/// at `at`. Returns where the manifest ends.
pub(super) fn secret_manifest(text: &[u8], at: usize, hits: &mut Vec<Hit>) -> usize {
    let rest = text
        .get(at..text.len().min(at + MAX_BYTES))
        .unwrap_or_default();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let kind = line
        .trim_ascii()
        .get(b"kind:".len()..)
        .unwrap_or_default()
        .trim_ascii();
    let bare = kind.iter().filter(|byte| !matches!(byte, b'"' | b'\''));
    if !bare
        .map(u8::to_ascii_lowercase)
        .eq(b"secret".iter().copied())
    {
        return at + 1;
    }
    let from = at.saturating_sub(MAX_BYTES);
    let before = text.get(from..at).unwrap_or_default();
    let start = memchr::memmem::rfind(before, b"\n---").map_or(from, |found| from + found + 1);
    let end = at + memchr::memmem::find(rest, b"\n---").unwrap_or(rest.len());
    values(text.get(start..end).unwrap_or_default(), start, hits);
    end
}

// The lines below `data:`, up to the next line that is not indented deeper than it.
fn values(document: &[u8], offset: usize, hits: &mut Vec<Hit>) {
    let mut inside = None;
    let mut scalar = false;
    let mut at = offset;
    for line in document.split(|byte| *byte == b'\n') {
        let body = line.trim_ascii();
        let indent = line.len() - line.trim_ascii_start().len();
        match inside {
            _ if body.is_empty() => {}
            Some(outer) if indent > outer => {
                let colon = memchr::memmem::find(line, b": ");
                let value = match colon {
                    Some(colon) => line.get(colon + 2..).unwrap_or_default(),
                    None if scalar => line,
                    None => b"",
                };
                scalar = matches!(value.trim_ascii().first(), Some(b'|' | b'>'))
                    || (scalar && colon.is_none());
                let lead = line.len() - value.len() + value.len() - value.trim_ascii_start().len();
                let value = value.trim_ascii();
                let written =
                    !matches!(value.first(), None | Some(b'|' | b'>' | b'$' | b'{' | b'#'));
                if written && value.len() >= 4 {
                    hits.push(Hit {
                        start: at + lead,
                        end: at + lead + value.len(),
                        rule: Cow::Borrowed(RULE),
                    });
                }
            }
            _ if matches!(body, b"data:" | b"stringData:") => inside = Some(indent),
            _ => inside = None,
        }
        at += line.len() + 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::Redactor;

    #[test]
    fn values_of_secrets_are_masked_and_other_kinds_kept() {
        let secret = "kind: Secret\nmetadata:\n  name: x\ndata:\n  login: aHVudGVy\n  cert: |\n    TUlJQg\n    abcd\ntype: Opaque\n";
        let masked = "kind: Secret\nmetadata:\n  name: x\ndata:\n  login: [REDACTED:kubernetes-secret]\n  cert: |\n    \
                      [REDACTED:kubernetes-secret]\n    [REDACTED:kubernetes-secret]\ntype: Opaque\n";
        assert_eq!(Redactor::default().redact(secret).text, masked);
        let other = secret.replace("Secret", "ConfigMap");
        assert_eq!(Redactor::default().redact(&other).text, other);
        let two = format!("{other}---\n{secret}");
        assert_eq!(
            Redactor::default().redact(&two).text,
            format!("{other}---\n{masked}")
        );
    }
}
