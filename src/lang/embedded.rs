use memchr::memmem;

use crate::model::Language;

/// The script of a single-file component, with everything else blanked out so that lines stay.
///
/// `None` for files that are not components (`.vue`, `.svelte`, `.astro`).
pub(super) fn script_of(path: &str, bytes: &[u8]) -> Option<(Language, Vec<u8>)> {
    let extension = path.rsplit_once('.')?.1;
    let scripts = match extension {
        "vue" | "svelte" => script_elements(bytes),
        "astro" => frontmatter(bytes).into_iter().collect(),
        _ => return None,
    };
    let mut text: Vec<u8> = bytes
        .iter()
        .map(|byte| if *byte == b'\n' { b'\n' } else { b' ' })
        .collect();
    let mut language = Language::TypeScript;
    for (range, attributes) in scripts {
        if let (Some(to), Some(from)) = (text.get_mut(range.clone()), bytes.get(range)) {
            to.copy_from_slice(from);
        }
        if attributes.ends_with(b"sx") {
            language = Language::Tsx;
        }
    }
    Some((language, text))
}

type Script<'a> = (std::ops::Range<usize>, &'a [u8]);

// `<script …>` to `</script>`; the attribute slice ends with the value of `lang` when there is one.
fn script_elements(bytes: &[u8]) -> Vec<Script<'_>> {
    let mut scripts = Vec::new();
    let mut at = 0;
    while let Some(open) = find(bytes, at, b"<script") {
        let Some(start) = find(bytes, open, b">").map(|end| end + 1) else {
            break;
        };
        let end = find(bytes, start, b"</script").unwrap_or(bytes.len());
        let attributes = bytes.get(open..start).unwrap_or_default();
        scripts.push((start..end, language_attribute(attributes)));
        at = end;
    }
    scripts
}

fn language_attribute(attributes: &[u8]) -> &[u8] {
    let Some(at) = memmem::find(attributes, b"lang=") else {
        return b"";
    };
    let value = attributes.get(at + 5..).unwrap_or_default();
    let value = value
        .strip_prefix(b"\"")
        .or(value.strip_prefix(b"'"))
        .unwrap_or(value);
    let end = value
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric())
        .unwrap_or(value.len());
    value.get(..end).unwrap_or(value)
}

fn frontmatter(bytes: &[u8]) -> Option<Script<'_>> {
    let start = memmem::find(bytes, b"---")?;
    bytes
        .get(..start)?
        .iter()
        .all(u8::is_ascii_whitespace)
        .then_some(())?;
    let end = find(bytes, start + 3, b"\n---")?;
    Some((start + 3..end, b""))
}

fn find(bytes: &[u8], from: usize, needle: &[u8]) -> Option<usize> {
    Some(from + memmem::find(bytes.get(from..)?, needle)?)
}

#[cfg(test)]
mod tests {
    use super::script_of;

    #[test]
    fn lines_stay_where_they_are() {
        let text = b"<template>\n<b/>\n</template>\n<script setup lang=\"ts\">\nimport a from './a'\n</script>\n";
        let (_, script) = script_of("x.vue", text).unwrap();
        let script = String::from_utf8(script).unwrap();
        assert_eq!(script.len(), text.len());
        assert_eq!(script.lines().nth(4), Some("import a from './a'"));
        assert_eq!(script.replace("import a from './a'", "").trim(), "");
        assert!(script_of("x.ts", text).is_none());
    }
}
