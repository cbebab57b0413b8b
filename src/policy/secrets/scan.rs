//! The scanner: looks for the fixed texts of all sources in one pass and asks the source of each.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use super::blocks::{KeyBlocks, mask_manifest};
use super::credentials::{
    find_in_call, find_in_command, find_in_header, find_in_login, find_in_pgpass, find_in_url,
};
use super::formats::{AWS_KEY_ID, Matcher, find_aws_key, format_rules};
use super::known::{KnownValues, LearnedFinder};
use super::name::WORDS;
use super::pairs::Pairs;
use super::readings::each_reading;
use super::user::UserRules;
use crate::runners::Cues;

/// Finds every secret of the text, in no order, overlaps included. Masks that are in the text
/// already are left alone.
pub(in crate::policy) fn scan(text: &[u8], own: &OwnSources) -> Vec<Hit> {
    let mut hits = Vec::new();
    each_reading(text, &mut |reading, origin| {
        let mut found = Vec::new();
        own.known.find(reading, &mut found);
        own.rules.find(reading, &mut found);
        ask_sources(reading, &mut found);
        hits.extend(found.into_iter().map(|hit| Hit::new(hit.rule, origin(hit.start..hit.end))));
    });
    if let Some(mask) = regex!(r"\[REDACTED:[a-z0-9-]{1,64}\]").filter(|_| !hits.is_empty()) {
        let masks: Vec<Range<usize>> = mask.find_iter(text).map(|mask| mask.range()).collect();
        hits.retain(|hit| {
            let next = masks.partition_point(|mask| mask.end <= hit.start);
            masks.get(next).is_none_or(|mask| hit.end <= mask.start)
        });
    }
    hits
}

/// Finds values that were learned elsewhere, in all readings of the text.
pub(in crate::policy) fn scan_learned(text: &[u8], learned: &LearnedFinder) -> Vec<Hit> {
    let mut hits = Vec::new();
    each_reading(text, &mut |reading, origin| {
        let mut found = Vec::new();
        learned.find(reading, &mut found);
        hits.extend(found.into_iter().map(|hit| Hit::new(hit.rule, origin(hit.start..hit.end))));
    });
    hits
}

/// The sources that a caller adds: values known to be secret, and rules of its own.
#[derive(Debug, Clone, Default)]
pub(in crate::policy) struct OwnSources {
    pub(in crate::policy) known: KnownValues,
    pub(in crate::policy) rules: UserRules,
}

/// A secret: its bytes in the scanned text, and the rule that found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::policy) struct Hit {
    pub(in crate::policy) start: usize,
    pub(in crate::policy) end: usize,
    pub(in crate::policy) rule: Cow<'static, str>,
}

impl Hit {
    pub(in crate::policy) fn new(rule: impl Into<Cow<'static, str>>, range: Range<usize>) -> Self {
        Self {
            start: range.start,
            end: range.end,
            rule: rule.into(),
        }
    }
}

fn ask_sources(text: &[u8], hits: &mut Vec<Hit>) {
    let mut matcher = Matcher::default();
    let mut pairs = Pairs::new(text);
    let mut blocks = KeyBlocks::default();
    let mut manifest_end = 0;
    each_anchor(text, |anchor, place| {
        let found = match anchor {
            Anchor::Format(rule) => matcher.find(text, rule, place),
            Anchor::Url => find_in_url(text, place.end),
            Anchor::Header => find_in_header(text, place),
            Anchor::Command => find_in_command(text, place),
            Anchor::Call => find_in_call(text, place.end),
            Anchor::Login => find_in_login(text, place.end),
            Anchor::PgpassPort => find_in_pgpass(text, place),
            Anchor::Name => {
                pairs.find(place.start, hits);
                None
            }
            Anchor::KeyStart => {
                blocks.mask_below(text, place.start, hits);
                None
            }
            Anchor::KeyEnd => {
                KeyBlocks::mask_above(text, place.start, hits);
                None
            }
            Anchor::Manifest => {
                if place.start >= manifest_end {
                    manifest_end = mask_manifest(text, place, hits);
                }
                None
            }
        };
        let aws_key = found.iter().filter(|hit| hit.rule == AWS_KEY_ID);
        let aws_key = aws_key.filter_map(|hit| find_aws_key(text, &(hit.start..hit.end)));
        hits.extend(aws_key.map(|key| Hit::new("named-secret", key)));
        hits.extend(found);
    });
}

/// The source that a fixed text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Anchor {
    /// A token format, by its place in the table.
    #[serde(skip)]
    Format(usize),
    Name,
    Url,
    Header,
    Command,
    Call,
    Login,
    PgpassPort,
    KeyStart,
    KeyEnd,
    Manifest,
}

/// Calls back with each anchor of the text and its place. Formats are compared with regard to case,
/// everything else without.
fn each_anchor(text: &[u8], mut found: impl FnMut(Anchor, Range<usize>)) {
    let (cues, anchors) = &*ANCHORS;
    for (place, cue) in cues.places(text) {
        let (anchor, literal) = anchors[cue.row];
        let is_format = matches!(anchor, Anchor::Format(_));
        if !is_format || &text[place.clone()] == literal.as_bytes() {
            found(anchor, place);
        }
    }
}

static ANCHORS: LazyLock<(Cues, Vec<(Anchor, &'static str)>)> = LazyLock::new(|| {
    let mut anchors = Vec::new();
    for (index, rule) in format_rules() {
        anchors.extend(rule.starts.iter().map(|start| (Anchor::Format(index), start.as_str())));
    }
    for (anchor, texts) in &WORDS.anchors {
        anchors.extend(texts.iter().map(|text| (*anchor, text.as_str())));
    }
    (
        anchors.iter().map(|(_, text)| *text).zip(0..).collect(),
        anchors,
    )
});
