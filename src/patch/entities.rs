use std::borrow::Cow;

/// The text with `&lt;`, `&gt;` and `&amp;` decoded. `None` when something stands unescaped, which says that
/// the text was not escaped.
pub(super) fn unescape(text: &[u8]) -> Option<Cow<'_, [u8]>> {
    const ENTITIES: &[(&[u8], u8)] = &[(b"&lt;", b'<'), (b"&gt;", b'>'), (b"&amp;", b'&')];
    if text.contains(&b'<') || text.contains(&b'>') {
        return None;
    }
    if !text.contains(&b'&') {
        return Some(Cow::Borrowed(text));
    }
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'&', rest) {
        let (before, entity) = rest.split_at(at);
        out.extend_from_slice(before);
        let (name, byte) = ENTITIES.iter().find(|(name, _)| entity.starts_with(name))?;
        out.push(*byte);
        rest = entity.get(name.len()..)?;
    }
    out.extend_from_slice(rest);
    Some(Cow::Owned(out))
}
