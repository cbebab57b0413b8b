use sha2::{Digest, Sha256};

/// A part of a prompt: our own words, or somebody else's text behind a marker.
pub(super) enum Part {
    /// A heading.
    Heading(&'static str),
    /// Sentences of this program.
    Prose(String),
    /// Text that nobody has vouched for.
    Data(Data),
}

/// Untrusted text and what it is.
pub(super) struct Data {
    /// What it is, in one word: `log`, `file`, `diff` and so on.
    pub(super) kind: &'static str,
    /// What is known of it. The values may be untrusted too.
    pub(super) about: Vec<(&'static str, String)>,
    /// The text.
    pub(super) text: String,
}

/// The name of all borders of untrusted text in one prompt.
///
/// It is a digest of all that text, so nobody can write it into a part of the text beforehand; that
/// it does not occur in there is checked all the same.
pub(super) fn marker(parts: &[Part]) -> String {
    let data: Vec<&Data> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Data(data) => Some(data),
            Part::Heading(_) | Part::Prose(_) => None,
        })
        .collect();
    let mut digest = Sha256::new();
    for data in &data {
        for text in data.texts() {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text.as_bytes());
        }
    }
    loop {
        let bytes = digest.clone().finalize();
        let name = crate::model::hex(&bytes[..8]);
        let occurs = |text: &str| text.to_ascii_lowercase().contains(&name);
        if !data.iter().any(|data| data.texts().any(occurs)) {
            return name;
        }
        digest.update([0]);
    }
}

impl Data {
    fn texts(&self) -> impl Iterator<Item = &str> {
        let about = self.about.iter().map(|(_, value)| value.as_str());
        std::iter::once(self.text.as_str()).chain(about)
    }
}

/// Characters that would end a line, or that nobody sees, replaced.
pub(super) fn one_line(text: &str) -> String {
    text.chars()
        .map(|character| {
            let hidden = character.is_control()
                || matches!(character, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}');
            if hidden { '\u{FFFD}' } else { character }
        })
        .collect()
}
