//! Ranks import candidates and decides which are certain.

use super::certainty::{self, Entity, candidate_entity, covers_candidate, is_declared};
use super::evidence::{Candidate, Evidence, Weight};
use super::import_style::ImportStyle;
use super::outside::find_beside;
use super::query::Undefined;
use super::script::{crosses_boundary, is_type};
use crate::languages::is_word;
use crate::model::{DefinitionKind, FileFacts, HintSource, Import, Suggestion};
use crate::policy::is_test;
use std::collections::BTreeMap;

const MAX_SUGGESTIONS: usize = 5;

// How much each kind of evidence weighs beside the nearness of one importer (4,096 for a file of the same
// directory). Fitted on 305 imports taken out of eleven public repositories; any order-preserving change of them
// gives the same first suggestions.
const VOTE: u64 = 16;
const DEFINED: u64 = 2_048;
const REEXPORTED: u64 = 1_536;
const EVERYDAY: u64 = 8_192;
const DECLARED: u64 = 1_024;
const LIBRARY: u64 = 64;

struct Row {
    candidate: Candidate,
    weight: Weight,
    entity: Entity,
    score: u64,
    /// The file takes other names from the module.
    is_own: bool,
}

type Totals = BTreeMap<Entity, u64>;

/// Weighs the evidence and writes it as suggestions, best first.
pub(super) fn choose(
    style: &dyn ImportStyle,
    evidence: Evidence,
    undef: &Undefined<'_>,
) -> Vec<Suggestion> {
    let rows = evidence.0.into_iter().filter(|(candidate, _)| is_importable(candidate, undef));
    let rows = rows.map(|(candidate, weight)| Row {
        entity: candidate_entity(&candidate, undef),
        score: score_candidate(&candidate, &weight, undef),
        is_own: is_own_module(&candidate, undef),
        candidate,
        weight,
    });
    let mut rows: Vec<Row> = rows.filter(|row| row.score > 0).collect();
    let totals = add_up(&rows);
    let total = |row: &Row| totals.get(&row.entity).copied().unwrap_or(0);
    rows.sort_by(|a, b| {
        let by_weight = (total(b), b.is_own, b.score).cmp(&(total(a), a.is_own, a.score));
        by_weight.then_with(|| a.candidate.cmp(&b.candidate))
    });
    let objection = find_objection(&rows, &totals, undef);
    let sum: u64 = totals.values().sum::<u64>().max(1);
    let mut found: Vec<Suggestion> = Vec::new();
    for row in &rows {
        let one = write_suggestion(style, row, undef);
        let mut others = found.iter();
        if others.any(|other| other.import_statement == one.import_statement) {
            continue;
        }
        let kind = row.entity.kind(undef.graph, &row.candidate.imported);
        let doubt = match objection {
            _ if !found.is_empty() => Some("another candidate is likelier"),
            Some(objection) => Some(objection),
            None => certainty::why_uncertain(style, undef, &one, kind),
        };
        let share = (total(row) * 85).checked_div(sum).unwrap_or(0) as u8;
        found.push(Suggestion {
            certain: doubt.is_none(),
            doubt: doubt.unwrap_or_default(),
            confidence: if doubt.is_none() { 95 } else { share.max(10) },
            ..one
        });
    }
    found.truncate(MAX_SUGGESTIONS);
    found
}

// Whether a statement can name the module, and the module exports the name.
fn is_importable(candidate: &Candidate, undef: &Undefined<'_>) -> bool {
    if !undef.language.declares_exports {
        // `if TYPE_CHECKING` binds nothing at run time, but a module may load such names on demand.
        let mut path = candidate.path.iter().filter(|_| undef.usage.value);
        let is_erased = path.any(|path| {
            is_type(undef.graph, path, &candidate.imported)
                && undef.graph.defining(path, "__getattr__").is_none()
        });
        let mut parts = candidate.module.split('.').filter(|part| !part.is_empty());
        let is_spelled = parts.all(|part| {
            part.bytes().all(is_word) && !part.starts_with(|first: char| first.is_ascii_digit())
        });
        return is_spelled && !is_erased;
    }
    let Some(path) = &candidate.path else {
        return true;
    };
    let facts = undef.graph.resolver().facts(path);
    let whole = matches!(candidate.imported.as_str(), "*" | "default");
    let mut exports = facts.exports.iter();
    let exports = exports.any(|export| export.name == candidate.imported || export.name == "*");
    whole || exports || facts.exports.is_empty() || !facts.problems.is_empty()
}

// The weight of each definition: all of its importers, and the best of its candidates that nobody imports yet.
fn add_up(rows: &[Row]) -> Totals {
    let mut parts: BTreeMap<Entity, (u64, u64)> = BTreeMap::new();
    for row in rows {
        let (taken, open) = parts.entry(row.entity.clone()).or_default();
        if row.weight.count > 0 {
            *taken += row.score;
        } else {
            *open = row.score.max(*open);
        }
    }
    let sums = parts.into_iter().map(|(entity, (taken, open))| (entity, taken + open));
    sums.collect()
}

fn score_candidate(candidate: &Candidate, weight: &Weight, undef: &Undefined<'_>) -> u64 {
    let mut score = VOTE * weight.votes;
    if weight.defines.is_some() {
        score += DEFINED + 4 * weight.near;
    }
    if weight.passes_on {
        score += REEXPORTED + 2 * weight.near;
    }
    let is_whole = candidate.imported == "*";
    let is_everyday =
        is_whole || (weight.types == 0 && undef.language.is_everyday(&candidate.module));
    score += match weight.outside {
        Some(HintSource::Stdlib) if is_everyday => EVERYDAY,
        Some(HintSource::Stdlib) => LIBRARY,
        Some(_) => DECLARED,
        None => 0,
    };
    // Where the file takes other names from a file of the repository that has the name, that is meant: above any
    // neighbors. Of 4, 64 and 256 the last was right most often, in 889 of 988 imports taken out of public projects.
    let has_it = candidate.path.is_some() && candidate.imported == undef.name;
    let own = u64::from(is_own_module(candidate, undef)) * if has_it { 256 } else { 4 };
    score *= 1 + own + habit_score(candidate, undef);
    score += u64::from(weight.beside);
    // `copy(x)` is a function of the module of its name, `datetime.timedelta` a member of the module.
    let module = Candidate::new(undef.name, "*", None);
    let is_called = undef.usage.called || undef.usage.members.is_empty();
    let is_module = !is_called && covers_candidate(undef, &module) != Some(false);
    if candidate.path.is_none() && candidate.module == undef.name && is_module != is_whole {
        score /= 32;
    }
    // Weak, because code does not import another package by its path, or one that is not declared.
    if undef.language.declares_exports
        && (crosses_boundary(undef, candidate) || !is_declared(undef, &candidate.module))
    {
        score /= 16;
    }
    score.max(u64::from(weight.count > 0 || weight.defines.is_some()))
}

// Whether an import takes names from the module of a candidate.
fn takes_from(import: &Import, candidate: &Candidate, undef: &Undefined<'_>) -> bool {
    let relative = candidate.path.is_some() && import.specifier.starts_with('.');
    let is_same = || undef.graph.resolver().target(undef.file, import) == candidate.path;
    !import.names.is_empty() && (import.specifier == candidate.module || relative && is_same())
}

// Whether the file takes other names from the same module.
fn is_own_module(candidate: &Candidate, undef: &Undefined<'_>) -> bool {
    undef.facts.imports.iter().any(|import| takes_from(import, candidate, undef))
}

// How many neighbors take other names from the same module.
fn habit_score(candidate: &Candidate, undef: &Undefined<'_>) -> u64 {
    let takes = |one: &FileFacts| one.imports.iter().any(|it| takes_from(it, candidate, undef));
    undef.siblings.iter().filter(|facts| takes(facts)).count().min(4) as u64
}

// Returns the first reason why the evidence does not make the first row certain; `None` when it does.
fn find_objection(rows: &[Row], totals: &Totals, undef: &Undefined<'_>) -> Option<&'static str> {
    let best = rows.first()?;
    let is_outside = best.candidate.path.is_none();
    let is_library = best.weight.outside == Some(HintSource::Stdlib);
    let is_python = !undef.language.declares_exports;
    // In a class of Python a name that starts with two underscores is another.
    let is_mangled = is_python && undef.name.starts_with("__") && !undef.name.ends_with("__");
    let is_bound = undef.usage.is_own() || is_mangled || is_python && undef.usage.shadowed;
    let is_unused = !undef.usage.value && !undef.usage.typed;
    let own = totals.get(&best.entity).copied().unwrap_or(0);
    let mut weights = totals.iter().filter(|(entity, _)| **entity != best.entity);
    let others = || rows.iter().filter(|row| row.entity != best.entity);
    let is_imported = rows.iter().any(|row| row.entity == best.entity && row.weight.votes > 0);
    let is_word = is_library && !is_imported && undef.name.chars().all(char::is_lowercase);
    let is_default = is_outside && best.candidate.imported == "default";
    // A definition below this part of the best one's weight does not contradict it. Fitted likewise: no suggestion
    // that was certain was wrong.
    let has_equal = weights.any(|(_, total)| total.saturating_mul(16) > own)
        || others().any(|row| match &row.entity {
            Entity::Defined(_) => is_library && row.weight.votes > 0,
            // Who imports a default chooses its name; `escape`, `join`: several modules took the word.
            Entity::Outside(other, _) => is_default || is_word && *other != best.candidate.module,
            Entity::File(_) => false,
        });
    let has_rival = rows.iter().any(|row| is_rival(row, best));
    let is_weak = !is_imported && !identifies_module(rows, best, undef);
    // A package that is not installed may have any name.
    let is_hidden = !is_library && others().any(|row| row.weight.beside > 0);
    // A package that is not installed has the name where two files take it from there.
    let is_single = is_outside && !is_library && !best.weight.installed && best.weight.count < 2;
    let plain = [undef.name, "*", "default"];
    let mut imported = rows.iter().filter(|row| row.weight.votes > 0);
    let is_renamed = imported.any(|row| !plain.contains(&&*row.candidate.imported));
    let objections = [
        (is_bound, "the file binds the name somewhere"),
        (undef.language.is_global(undef.name), "the name is built in"),
        (is_unused, "the file does not use the name"),
        (has_equal, "another definition has as much evidence"),
        (is_hidden, "a module that cannot be read may have the name"),
        (is_single, "only one file imports it from that package"),
        (is_renamed, "another file uses this name for something else"),
        (has_rival, "a file next to it defines the same name"),
        (is_weak, "nothing imports it yet; the name alone is weak"),
    ];
    objections.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
}

// Whether a name that no file imports yet leads to the best row all the same.
fn identifies_module(rows: &[Row], best: &Row, undef: &Undefined<'_>) -> bool {
    let is_alone = rows.iter().all(|row| row.entity == best.entity);
    match best.weight.outside {
        Some(HintSource::Stdlib) => is_plain_library(best, undef),
        // The installed package exports it, and nothing else does.
        Some(_) if best.weight.installed => undef.name.len() > 2 && is_alone,
        Some(_) => best.candidate.imported == "*" && !undef.usage.members.is_empty(),
        None => {
            let is_reachable = best.candidate.path.as_ref().is_none_or(|path| {
                !is_test(path.as_str()) || path.directory() == undef.file.directory()
            });
            // A variable needs a telling name, because a plain one of that name proves nothing.
            let is_telling = undef.name.contains(|c: char| c.is_uppercase() || c == '_');
            let mut kinds = rows.iter().filter_map(|row| row.weight.defines);
            let is_defined = kinds.any(|kind| kind != DefinitionKind::Variable || is_telling);
            is_alone && undef.name.len() > 2 && is_reachable && is_defined
        }
    }
}

// Whether a file beside the one that is meant defines the name too: however many files import the other, this file
// may mean that one.
fn is_rival(row: &Row, best: &Row) -> bool {
    let (Entity::Defined(one), Entity::Defined(other)) = (&row.entity, &best.entity) else {
        return false;
    };
    row.weight.defines.is_some() && one != other && one.directory() == other.directory()
}

// Whether a name of the standard library is meant: of a module in everyday use, or one that the file takes from, and
// used as a library is.
fn is_plain_library(best: &Row, undef: &Undefined<'_>) -> bool {
    let usage = &undef.usage;
    let mut above = usage.places.iter().filter_map(|at| undef.text.get(at.checked_sub(1)?));
    let is_used = usage.called
        || usage.typed
        || !usage.members.is_empty()
        || undef.name.starts_with(char::is_uppercase)
        || above.any(|byte| *byte == b'@');
    let module = &best.candidate.module;
    let siblings = undef.siblings.iter().flat_map(|facts| &facts.imports);
    let mut all = undef.facts.imports.iter().chain(siblings);
    let is_open = all.any(|one| find_beside(undef, one).is_some_and(|(_, it)| it.beside > 0));
    let is_sure = best.candidate.imported == "*" || !is_open;
    let everyday = undef.language.is_everyday(module) && is_sure;
    is_used && (everyday || certainty::is_in_use(undef, module))
}

fn write_suggestion(style: &dyn ImportStyle, row: &Row, undef: &Undefined<'_>) -> Suggestion {
    let (candidate, weight) = (&row.candidate, &row.weight);
    let kind = row.entity.kind(undef.graph, &candidate.imported);
    let (module, type_only) = style.spell_module(undef, candidate, weight, kind);
    Suggestion {
        name: undef.name.to_owned(),
        import_statement: style.statement(undef.name, &module, &candidate.imported, type_only),
        module,
        path: candidate.path.clone(),
        source: match weight.outside {
            _ if weight.count > 0 || weight.beside > 0 => HintSource::Repo,
            Some(outside) => outside,
            None => HintSource::Definition,
        },
        imported: candidate.imported.clone(),
        type_only,
        ..Suggestion::default()
    }
}
