use std::collections::BTreeMap;

use super::tree::Tree;

/// Reads sections of `key = value` as Python's configparser does: keys in any case, lines that
/// start with white space go on with the value above.
///
/// # Errors
/// A line that is neither, a section or key that stands twice.
pub(super) fn read(text: &str) -> Result<Tree, String> {
    let mut sections: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    let mut section: Option<String> = None;
    let mut key: Option<String> = None;
    for (at, line) in text.lines().enumerate() {
        let said = line.trim();
        if said.is_empty() || said.starts_with(['#', ';']) {
            continue;
        }
        let number = at + 1;
        let goes_on = line.starts_with([' ', '\t']);
        if goes_on
            && let Some(value) = section
                .as_ref()
                .and_then(|section| sections.get_mut(section))
                .and_then(|keys| keys.get_mut(key.as_ref()?))
        {
            value.push('\n');
            value.push_str(said);
            continue;
        }
        if let Some(name) = said.strip_prefix('[') {
            let name = name
                .split_once(']')
                .map(|(name, _)| name)
                .ok_or_else(|| format!("the section of line {number} has no end"))?;
            if sections.insert(name.to_owned(), BTreeMap::new()).is_some() {
                return Err(format!("the section `{name}` stands twice"));
            }
            section = Some(name.to_owned());
            key = None;
            continue;
        }
        let keys = section
            .as_ref()
            .and_then(|section| sections.get_mut(section))
            .ok_or_else(|| format!("line {number} stands in no section"))?;
        let (name, value) = said.split_once(['=', ':']).unwrap_or((said, ""));
        let name = name.trim().to_ascii_lowercase();
        if keys.insert(name.clone(), value.trim().to_owned()).is_some() {
            return Err(format!("the key `{name}` stands twice"));
        }
        key = Some(name);
    }
    let tables = sections.into_iter().map(|(section, keys)| {
        let texts = keys
            .into_iter()
            .map(|(key, value)| (key, Tree::Text(value)));
        (section, Tree::Table(texts.collect()))
    });
    Ok(Tree::Table(tables.collect()))
}
