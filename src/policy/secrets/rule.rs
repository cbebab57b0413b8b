/// One token format: a row of the table in [`super::rules`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// The name that stands in the mask.
    pub(super) name: &'static str,
    /// Fixed texts, any of which makes the rule worth asking. Compared with regard to case.
    pub(super) starts: &'static [&'static str],
    /// A regular expression of the whole secret, without anchors.
    pub(super) pattern: &'static str,
    /// At most this many bytes of the secret stand before the fixed text.
    pub(super) back: usize,
    /// Whether a letter or digit right before the secret rules it out. Only for starts that turn up
    /// inside ordinary words or base64: logs often put a letter directly before a token.
    pub(super) word: bool,
    /// A secret of this format; a backtick in it is dropped.
    pub(super) example: &'static str,
    /// What looks like one and is none.
    pub(super) lookalike: &'static str,
}

impl Rule {
    /// A format whose start is distinctive enough to be found anywhere.
    pub(super) const fn new(
        name: &'static str,
        starts: &'static [&'static str],
        pattern: &'static str,
    ) -> Self {
        Self {
            name,
            starts,
            pattern,
            back: 0,
            word: false,
            example: "",
            lookalike: "",
        }
    }

    /// A format that is found only where a word starts.
    pub(super) const fn word(
        name: &'static str,
        starts: &'static [&'static str],
        pattern: &'static str,
    ) -> Self {
        let mut rule = Self::new(name, starts, pattern);
        rule.word = true;
        rule
    }

    /// The fixed text stands up to this many bytes after the secret's first.
    pub(super) const fn back(mut self, bytes: usize) -> Self {
        self.back = bytes;
        self
    }

    /// An example for the table's test.
    pub(super) const fn finds(mut self, example: &'static str) -> Self {
        self.example = example;
        self
    }

    /// A counterexample for the table's test.
    pub(super) const fn keeps(mut self, lookalike: &'static str) -> Self {
        self.lookalike = lookalike;
        self
    }
}
