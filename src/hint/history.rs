use std::collections::BTreeSet;

use super::Query;
use super::choose::is_lacking;
use super::entity::entity;
use super::evidence::Candidate;
use super::idiom::Idiom;
use super::proof::{holds, is_in_use};
use super::query::Undefined;
use super::renamed::{Kept, definition, kept, renaming};
use super::restored::stands_again;
use crate::graph::Graph;
use crate::languages::{Has, exported, facts, import_lines, uses, words};
use crate::model::{FileFacts, HintSource, Import, ImportKind, Suggestion};

/// Confidence up to which an import is told and not tried: no other evidence gives as little.
pub const MOST_IN_DOUBT: u8 = 9;
/// Lines that two versions differ in that are compared.
const MAX_LINES: usize = 200;

/// What an earlier version of the file has for a name that it lacks now.
enum Was {
    /// It took the name from elsewhere, and how: in each branch another way.
    Imported(Vec<Import>),
    /// A definition of its own.
    Defined,
    /// A parameter or a variable.
    Local,
    /// A member of something, where a line has lost what stood before the dot.
    Member,
}

/// Weighs suggestions by what the file itself last had for the name. The import that it had, where it
/// still leads to the name, comes first; what it defined comes from no package; and nothing is certain
/// or tried of a name that stood for a parameter or a variable, whose import stood in a function or a
/// branch to which it cannot go back, or which has given way to another name at its other places.
pub(super) fn weighed(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    asked: &Undefined<'_>,
    query: &Query<'_>,
    mut rows: Vec<Suggestion>,
) -> Vec<Suggestion> {
    // Without `self.` before it a method is meant, if the file did not import the name.
    let is_member = asked.usage.member;
    match before(asked) {
        Some((Was::Defined | Was::Local, _)) | None if is_member => rows.clear(),
        None => {}
        Some((Was::Imported(imports), then)) => {
            let late = |it: &Import| (it.nested && !it.type_only) || it.kind == ImportKind::Dynamic;
            let late = imports.iter().any(late);
            if has_given_way(asked, &then) {
                doubt(&mut rows);
                rows.retain(|_| !is_member);
                return rows;
            }
            let mut again = imports
                .iter()
                .filter_map(|import| again(graph, idiom, asked, query, import, &rows));
            let Some(one) = again.find(|one| !late || stands_again(asked, one)) else {
                if late {
                    doubt(&mut rows);
                }
                rows.retain(|_| !is_member);
                return rows;
            };
            rows.retain(|it| it.import_statement != one.import_statement);
            for row in &mut rows {
                row.certain = false;
                row.confidence = row.confidence.min(50);
            }
            rows.retain(|_| !is_member);
            rows.insert(0, one);
        }
        Some((Was::Defined, then)) => {
            rows.retain(|it| it.path.is_some());
            // The same definition under another name: the uses of the old one were left behind.
            if let Some((new, true)) = renaming(asked.file, &then, asked.text, asked.name) {
                rows = vec![Suggestion {
                    name: asked.name.to_owned(),
                    confidence: 50,
                    source: HintSource::Similar,
                    imported: new,
                    ..Suggestion::default()
                }];
            } else {
                doubt_namesakes(graph, asked, &then, &mut rows);
            }
        }
        Some((Was::Member, _)) => doubt(&mut rows),
        Some((Was::Local, _)) => {
            rows.retain(|it| it.path.is_some());
            doubt(&mut rows);
        }
    }
    rows
}

// What the file defined itself may have moved; whoever else has the word is not it.
fn doubt_namesakes(graph: &Graph<'_>, asked: &Undefined<'_>, then: &[u8], rows: &mut [Suggestion]) {
    let was = definition(asked.file, then, asked.name);
    for row in rows {
        let kept = was.as_ref().map_or(Kept::Not, |was| kept(graph, was, row));
        row.certain &= kept == Kept::Same;
        if kept == Kept::Not {
            row.confidence = row.confidence.min(MOST_IN_DOUBT);
        }
    }
}

fn doubt(rows: &mut [Suggestion]) {
    for row in rows {
        row.certain = false;
        row.confidence = row.confidence.min(MOST_IN_DOUBT);
    }
}

// Whether a line of before has another name in the place of this one now, and is the same otherwise.
fn has_given_way(asked: &Undefined<'_>, then: &[u8]) -> bool {
    let (was, is) = (lines(then), lines(asked.text));
    let text = std::str::from_utf8(then).unwrap_or_default();
    let then = facts(asked.file, then);
    let rows = import_lines(asked.file, text, &then);
    let all: Vec<&str> = text.lines().collect();
    let rows = rows.into_iter().flatten().filter_map(|at| all.get(at));
    let imports: BTreeSet<&[u8]> = rows.map(|it| it.trim().as_bytes()).collect();
    let gone: Vec<Vec<&[u8]>> = was
        .difference(&is)
        .filter(|line| words(line, asked.name).next().is_some())
        .filter(|line| !imports.contains(*line))
        .take(MAX_LINES)
        .map(|line| tokens(line))
        .collect();
    // Names that came into the file by imports of what the name came from.
    let home = |facts: &FileFacts| -> BTreeSet<String> {
        let of = then.imports.iter().filter(|it| it.binds(asked.name));
        let homes: Vec<&String> = of.map(|it| &it.specifier).collect();
        let same = facts
            .imports
            .iter()
            .filter(|it| homes.contains(&&it.specifier));
        let names = same.flat_map(|it| &it.names);
        names.map(|it| it.local().to_owned()).collect()
    };
    let (before, after) = (home(&then), home(asked.facts));
    let is_new = |name: &[u8]| after.difference(&before).any(|it| it.as_bytes() == name);
    let mut new = is.difference(&was).take(MAX_LINES);
    new.any(|line| {
        let new = tokens(line);
        let instead = |old: &Vec<&[u8]>| {
            let mut pairs = old.iter().zip(&new).filter(|(one, other)| one != other);
            let first = pairs.next();
            first.is_some_and(|(one, other)| {
                *one == asked.name.as_bytes()
                    && is_name(other)
                    && (is_new(other)
                        || old.len() == new.len() && pairs.all(|it| it == (one, other)))
            })
        };
        gone.iter().any(instead)
    })
}

fn lines(text: &[u8]) -> BTreeSet<&[u8]> {
    let lines = text.split(|byte| *byte == b'\n');
    lines.map(<[u8]>::trim_ascii).collect()
}

// Whether a line of before has the name behind a dot where it stands alone now: `self.stock.reserve`
// became `reserve`.
fn has_lost_dot(asked: &Undefined<'_>, then: &[u8]) -> bool {
    let (was, is) = (lines(then), lines(asked.text));
    let name = asked.name.as_bytes();
    let holds = |line: &&&[u8]| words(line, asked.name).next().is_some();
    let gone: Vec<Vec<&[u8]>> = was
        .difference(&is)
        .filter(holds)
        .take(MAX_LINES)
        .map(|line| tokens(line))
        .collect();
    let mut new = is.difference(&was).filter(holds).take(MAX_LINES);
    new.any(|line| {
        let new = tokens(line);
        gone.iter().any(|old| {
            let same = old.iter().zip(&new).take_while(|(one, other)| one == other);
            let from = same.count();
            let object = old.get(from..).unwrap_or_default();
            let member = object.iter().position(|it| *it == name);
            new.get(from) == Some(&name)
                && member.is_some_and(|at| at > 1 && object[at - 1] == b"." && is_name(object[0]))
        })
    })
}

fn is_name(token: &[u8]) -> bool {
    token.first().is_some_and(|it| is_part(*it))
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

// Names, and each other byte for itself.
fn tokens(line: &[u8]) -> Vec<&[u8]> {
    let together = |one: &u8, next: &u8| is_part(*one) && is_part(*next);
    line.chunk_by(together)
        .filter(|it| !it.trim_ascii().is_empty())
        .collect()
}

// The newest version that has something for the name, and its text.
fn before(asked: &Undefined<'_>) -> Option<(Was, Vec<u8>)> {
    let now = &asked.usage;
    let had = |text: &Vec<u8>| {
        let then = facts(asked.file, text);
        let mut imports = binding(&then, asked.name, false);
        if imports.is_empty() {
            imports = late(&then, asked);
        }
        if !imports.is_empty() {
            return Some(Was::Imported(imports.into_iter().cloned().collect()));
        }
        if then.definitions.iter().any(|it| it.name == asked.name) {
            return Some(Was::Defined);
        }
        if has_lost_dot(asked, text) {
            return Some(Was::Member);
        }
        let used = uses(asked.file, text, asked.name)?;
        let lost = (used.is_own() && !now.is_own()) || (used.shadowed && !now.shadowed);
        lost.then_some(Was::Local)
    };
    let mut others = asked.past.iter().filter(|it| **it != *asked.text);
    others.find_map(|text| Some((had(text)?, text.clone())))
}

fn binding<'f>(facts: &'f FileFacts, name: &str, nested: bool) -> Vec<&'f Import> {
    let imports = facts.imports.iter().filter(|it| it.nested == nested);
    imports.filter(|it| it.binds(name)).collect()
}

// The imports in functions and branches, where some of them are gone.
fn late<'f>(then: &'f FileFacts, asked: &Undefined<'_>) -> Vec<&'f Import> {
    let left = binding(asked.facts, asked.name, true);
    let had = binding(then, asked.name, true);
    if left.len() < had.len() {
        had
    } else {
        Vec::new()
    }
}

// The import of before as a suggestion, where it leads to the name as things are.
fn again(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    asked: &Undefined<'_>,
    query: &Query<'_>,
    import: &Import,
    rows: &[Suggestion],
) -> Option<Suggestion> {
    let taken = import.names.iter().find(|it| it.local() == asked.name);
    let imported = taken.map_or("*", |it| it.name.as_str());
    let known = rows
        .iter()
        .find(|it| it.module == import.specifier && it.imported == imported);
    let path = graph.resolver().target(asked.file, import);
    let one = match known {
        // A type stays a type where the file said so.
        Some(known) if known.type_only || !import.type_only => known.clone(),
        _ => Suggestion {
            name: asked.name.to_owned(),
            import_statement: idiom.statement(
                asked.name,
                &import.specifier,
                imported,
                import.type_only,
            ),
            module: import.specifier.clone(),
            source: match &path {
                Some(_) => HintSource::Repo,
                None if asked.language.is_standard(&import.specifier) => HintSource::Stdlib,
                None => HintSource::Manifest,
            },
            path,
            imported: imported.to_owned(),
            type_only: import.type_only,
            ..Suggestion::default()
        },
    };
    let gives = match &one.path {
        Some(path) if imported != "*" && imported != "default" => {
            let facts = graph.resolver().facts(path);
            facts.exports.iter().any(|it| it.name == imported)
                || graph.defining(path, imported).is_some()
        }
        Some(_) => true,
        // A module that is gone looks like a package that nobody declares and that is not installed.
        None => {
            let module = &one.module;
            let installed = || match exported(query.installed, asked.file, module, imported) {
                Some(Has::Exported { .. }) => true,
                found => found.is_some() && matches!(imported, "*" | "default"),
            };
            asked.language.is_standard(module)
                || idiom.declares(module)
                || is_in_use(asked, module)
                || installed()
        }
    };
    let kind = entity(graph, &Candidate::of(&one), asked).kind(graph, imported);
    let certain = gives
        && holds(graph, idiom, asked, &one, kind)
        && !is_lacking(query.installed, asked, &one);
    certain.then_some(Suggestion {
        certain,
        confidence: 95,
        ..one
    })
}
