use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Captures;
use serde::Deserialize;

use super::place;
use super::read::Case;
use crate::diagnose::line::Line;
use crate::runners::Pattern;

/// A word of each row, without which it finds nothing.
pub(super) fn words() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.has.as_str())
}

/// Failing tests of runners that name each in a line of its own, by the rows of a table.
pub(super) fn cases(lines: &[Line<'_>]) -> Vec<Case> {
    let (again, plain): (Vec<&'static Row>, Vec<&'static Row>) =
        ROWS.iter().partition(|row| row.again);
    let mut cases: Vec<Case> = plain.iter().flat_map(|row| row.cases(lines)).collect();
    for told in again.iter().flat_map(|row| row.cases(lines)) {
        let known = |it: &&mut Case| it.runner == told.runner && it.name == told.name;
        if let Some(case) = cases
            .iter_mut()
            .find(known)
            .filter(|_| told.place.is_some())
        {
            case.cause = told.cause;
            case.place = told.place;
            case.frames = told.frames;
        }
    }
    cases
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    runner: String,
    has: String,
    line: Pattern,
    after: Option<Pattern>,
    next: Option<Pattern>,
    above: Option<Pattern>,
    #[serde(default)]
    file: bool,
    cause: Option<Pattern>,
    error: Option<Pattern>,
    within: Option<usize>,
    at: Option<usize>,
    frame: Option<Frame>,
    end: Option<Pattern>,
    #[serde(default)]
    again: bool,
    parts: Option<String>,
    #[serde(rename = "seen")]
    _seen: String,
}

// What the first own frame of the stack below is.
#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Frame {
    Place,
    Raised,
}

#[derive(Deserialize)]
struct Table {
    runner: Vec<Row>,
}

#[expect(clippy::expect_used, reason = "embedded and tested")]
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let table: Table = crate::model::read_table(embedded!("diagnose/runners/listed.toml"))
        .expect("listed.toml parses");
    table.runner
});

impl Row {
    fn cases(&'static self, lines: &[Line<'_>]) -> Vec<Case> {
        let mut cases: Vec<Case> = Vec::new();
        let mut known: HashMap<String, usize> = HashMap::new();
        let mut listed = self.after.is_none();
        for (at, line) in lines.iter().enumerate() {
            let text = line.text.as_ref();
            if !listed {
                listed = self.after.as_ref().is_some_and(|it| it.finds(text));
                continue;
            }
            if line.captured || !text.contains(&self.has) {
                continue;
            }
            let next = lines.get(at + 1).map_or("", |it| it.text.as_ref());
            if self.next.as_ref().is_some_and(|it| !it.finds(next)) {
                continue;
            }
            let Some(found) = self.line.get().captures(text) else {
                continue;
            };
            if !known.contains_key(&found["name"]) {
                known.insert(found["name"].to_owned(), cases.len());
                cases.push(self.case(&found, at, lines));
            }
        }
        if let Some(parts) = &self.parts {
            let names: BTreeSet<&String> = known.keys().collect();
            let heads = |name: &String| {
                let start = format!("{name}{parts}");
                let mut below = names.range::<String, _>(&start..);
                below.next().is_some_and(|it| it.starts_with(&start))
            };
            cases.retain(|it| it.place.is_some() || !it.name.as_ref().is_some_and(heads));
        }
        cases
    }

    fn case(&'static self, found: &Captures<'_>, at: usize, lines: &[Line<'_>]) -> Case {
        let error = self.error.as_ref().map(|error| {
            let above = lines.get(at.saturating_sub(40)..at).unwrap_or_default();
            let offset = above.iter().rposition(|it| error.finds(&it.text));
            offset.map(|it| at.saturating_sub(40) + it)
        });
        let below = at + self.at.unwrap_or(1);
        let usual = error.unwrap_or((below < lines.len()).then_some(below));
        let rest = lines.get(at + 1..).unwrap_or_default().iter();
        let mut rest = rest.take(self.within.unwrap_or(30)).enumerate();
        let cause = self.cause.as_ref().and_then(|cause| {
            rest.find_map(|(offset, line)| {
                let told = cause.get().captures(&line.text)?;
                Some((at + 1 + offset, placed(&told)))
            })
        });
        let ends = |text: &str| self.end.as_ref().unwrap_or(&self.line).finds(text);
        let of_stack = || match error {
            Some(from) => place::of_stack(lines.get(..at)?, from?, |_| false),
            None => place::of_stack(lines, below.max(at + 1), ends),
        };
        let before = || {
            let text = lines.get(at.checked_sub(1)?)?.text.as_ref();
            placed(&self.above.as_ref()?.get().captures(text)?)
        };
        let told = cause.as_ref().and_then(|it| it.1.clone());
        let own = placed(found).or_else(before).or(told);
        let name = match &found["name"] {
            name if self.file => place::relative(name),
            name => name.to_owned(),
        };
        let place_of = |frame: Frame| of_stack().filter(|_| self.frame == Some(frame));
        Case::new(&self.runner, name, at)
            .cause(cause.map(|it| it.0).or(usual))
            .place(own.or_else(|| place_of(Frame::Place)))
            .raised_at(place_of(Frame::Raised))
    }
}

fn placed(found: &Captures<'_>) -> Option<(String, Option<u32>)> {
    let path = found.name("path")?.as_str().to_owned();
    let line = found.name("line").and_then(|it| it.as_str().parse().ok());
    Some((path, line))
}
