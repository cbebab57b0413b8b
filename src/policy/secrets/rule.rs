/// One row of the table in `rules/*.toml`.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// The name that stands in the mask.
    pub(super) id: String,
    /// Fixed texts, any of which makes the rule worth asking. Compared with regard to case.
    #[serde(default)]
    pub(super) starts: Vec<String>,
    /// A regular expression of the whole secret, without anchors. Empty for a rule that judges the
    /// place of a value instead.
    #[serde(default)]
    pub(super) pattern: String,
    /// At most this many bytes of the secret stand before the fixed text.
    #[serde(default)]
    pub(super) back: usize,
    /// Whether a letter or digit right before the secret rules it out. Only for starts that turn up
    /// inside ordinary words or base64: logs often put a letter directly before a token.
    #[serde(default)]
    pub(super) word: bool,
    /// A secret of this format. A backtick in it is dropped; it keeps scanners from taking the
    /// example for a live token.
    #[serde(default)]
    pub(super) example: String,
    /// What looks like one and is none; a backtick is dropped here too.
    #[serde(default)]
    pub(super) lookalike: String,
    /// What the secret opens, in a sentence.
    pub(super) why: String,
}

impl Rule {
    /// The example as it stands in a text.
    pub(super) fn example(&self) -> String {
        self.example.replace('`', "")
    }

    /// The look-alike as it stands in a text.
    pub(super) fn lookalike(&self) -> String {
        self.lookalike.replace('`', "")
    }
}
