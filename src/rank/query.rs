use std::collections::BTreeMap;

use super::terms::{ByTerm, TermId, identifiers, parts, term_id};

/// The terms that are looked for in every file, and how often log and targets hold them.
pub(super) struct Query {
    /// Sorted by id; a term's place here is its number.
    pub(super) terms: Vec<Term>,
    numbers: ByTerm<u32>,
}

/// One term.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Term {
    pub(super) in_log: u32,
    pub(super) in_targets: u32,
    /// Whether a target defines it.
    pub(super) target_defines: bool,
    /// Whether it is a whole identifier rather than a part of one.
    pub(super) whole: bool,
}

impl Query {
    pub(super) fn new(log: &[u8], targets: &[&[u8]]) -> Self {
        let mut found: BTreeMap<TermId, Term> = BTreeMap::new();
        let mut add = |text: &[u8], note: fn(&mut Term)| {
            identifiers(text, |word| {
                if is_common(word.word) {
                    return;
                }
                let term = found.entry(term_id(word.word)).or_default();
                term.whole = true;
                note(term);
                if word.defines && text.as_ptr() != log.as_ptr() {
                    term.target_defines = true;
                }
                parts(word.word, |id| note(found.entry(id).or_default()));
            });
        };
        add(log, |term| term.in_log += 1);
        for target in targets {
            add(target, |term| term.in_targets += 1);
        }
        let numbers = (0..)
            .zip(found.keys())
            .map(|(number, id)| (*id, number))
            .collect();
        Self {
            terms: found.into_values().collect(),
            numbers,
        }
    }

    /// The query of groups of ids, each group one term with as many names as it has forms.
    pub(super) fn of_groups(groups: impl Iterator<Item = (TermId, u32)>, count: usize) -> Self {
        Self {
            terms: vec![Term::default(); count],
            numbers: groups.collect(),
        }
    }

    pub(super) fn number(&self, id: TermId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }
}

// Words of the languages and of test runners; rarity alone does not tell them in a small
// repository.
pub(super) fn is_common(word: &[u8]) -> bool {
    matches!(
        word,
        b"and"
            | b"any"
            | b"args"
            | b"assert"
            | b"async"
            | b"await"
            | b"bool"
            | b"boolean"
            | b"break"
            | b"case"
            | b"catch"
            | b"continue"
            | b"default"
            | b"describe"
            | b"elif"
            | b"else"
            | b"except"
            | b"expect"
            | b"export"
            | b"extends"
            | b"false"
            | b"False"
            | b"finally"
            | b"for"
            | b"from"
            | b"global"
            | b"implements"
            | b"import"
            | b"int"
            | b"isinstance"
            | b"kwargs"
            | b"lambda"
            | b"len"
            | b"new"
            | b"None"
            | b"not"
            | b"null"
            | b"number"
            | b"object"
            | b"pass"
            | b"private"
            | b"public"
            | b"raise"
            | b"raises"
            | b"readonly"
            | b"return"
            | b"self"
            | b"static"
            | b"str"
            | b"string"
            | b"super"
            | b"switch"
            | b"test"
            | b"this"
            | b"throw"
            | b"true"
            | b"True"
            | b"try"
            | b"typeof"
            | b"undefined"
            | b"unknown"
            | b"void"
            | b"while"
            | b"with"
            | b"yield"
    )
}
