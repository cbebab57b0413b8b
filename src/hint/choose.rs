use super::entity::{Entity, covers, entity};
use super::evidence::{Candidate, Evidence, Weight};
use super::idiom::Idiom;
use super::proof;
use super::query::Undefined;
use crate::graph::Graph;
use crate::languages::{Has, Language, exported, is_word, package_part};
use crate::model::{DefinitionKind, HintSource, Import, RepoPath, Suggestion};
use crate::policy::is_test;
use crate::source::Installed;
use std::collections::{BTreeMap, BTreeSet};

const MAX_SUGGESTIONS: usize = 5;
/// Another definition than the best is no contradiction when it has less than this part of the
/// best one's weight; and less than this when files import it.
const NEGLIGIBLE: u64 = 16;
const NEGLIGIBLE_IN_USE: u64 = 64;
/// Importers that a name of one or two letters from outside must have.
const MIN_TAKERS: u32 = 3;

/// What an importer weighs by its nearness, and each other kind of evidence.
const VOTE: u64 = 16;
const DEFINED: u64 = 2_048;
const PASSED_ON: u64 = 1_536;
const EVERYDAY: u64 = 8_192;
const DECLARED: u64 = 1_024;
const LIBRARY: u64 = 64;

struct Scored {
    candidate: Candidate,
    weight: Weight,
    entity: Entity,
    score: u64,
}

/// Weighs the evidence and writes it as suggestions, best first.
pub(super) fn choose(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    evidence: Evidence,
    undef: &Undefined<'_>,
    installed: &Installed,
) -> Vec<Suggestion> {
    let is_shown = is_shown(graph, &evidence, undef);
    let mut rows: Vec<Scored> = evidence
        .0
        .into_iter()
        .filter(|(candidate, _)| undef.language.declares_exports || is_dotted(&candidate.module))
        .map(|(candidate, weight)| Scored {
            entity: entity(graph, &candidate, undef),
            score: {
                let score = score(graph, idiom, &candidate, &weight, undef);
                // The repository says which of several modules it takes the name from.
                let passed_over = is_shown && weight.count == 0 && weight.outside.is_some();
                if passed_over { score / 64 } else { score }
            },
            candidate,
            weight,
        })
        .filter(|row| row.score > 0 && !is_lacked(graph, &row.candidate))
        .collect();
    let totals = totals(&rows);
    rows.sort_by(|a, b| {
        b.score
            .cmp(&a.score)
            .then_with(|| a.candidate.cmp(&b.candidate))
    });
    let total = |row: &Scored| totals.get(&row.entity).copied().unwrap_or(0);
    // The definition with the most evidence, then its best candidate, then whatever is next.
    let most = rows.iter().map(&total).max().unwrap_or(0);
    if let Some(at) = rows.iter().position(|row| total(row) == most) {
        let best = rows.remove(at);
        rows.insert(0, best);
    }
    let certain = is_certain(graph, installed, &rows, &totals, undef);
    let sum: u64 = totals.values().sum();
    let mut found: Vec<Suggestion> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let share = (total(row) * 60).checked_div(sum).unwrap_or(0) as u8;
        let one = written(graph, idiom, row, undef);
        let doubt = match (certain, at) {
            (true, 0) => {
                let kind = row.entity.kind(graph, &row.candidate.imported);
                let lacks = !row.weight.installed && is_lacking(installed, undef, &one);
                let lacks = lacks.then_some("the package that is installed has no such name");
                lacks.or_else(|| proof::doubt(graph, idiom, undef, &one, kind))
            }
            (_, 0) => Some("other evidence speaks against it, or too little for it"),
            _ => Some("another is likelier"),
        };
        let certain = doubt.is_none();
        if found
            .iter()
            .all(|other| other.import_statement != one.import_statement)
        {
            found.push(Suggestion {
                certain,
                doubt: doubt.unwrap_or_default(),
                confidence: match (certain, at) {
                    (true, _) => 95,
                    (_, 0) => 25 + share,
                    _ => 10 + share / 2,
                },
                ..one
            });
        }
        if found.len() == MAX_SUGGESTIONS {
            break;
        }
    }
    found
}

// Whether the repository takes the name from outside, or what the file works with defines it or passes it on.
fn is_shown(graph: &Graph<'_>, evidence: &Evidence, undef: &Undefined<'_>) -> bool {
    let target = |import: &Import| graph.resolver().target(undef.file, import);
    let own: BTreeSet<RepoPath> = undef.facts.imports.iter().filter_map(target).collect();
    evidence.0.iter().any(|(candidate, weight)| {
        let offers = weight.defines.is_some() || weight.passes_on;
        match &candidate.path {
            Some(path) => offers && own.contains(path),
            None => weight.count > 0,
        }
    })
}

// Whether a Python statement can name the module.
fn is_dotted(module: &str) -> bool {
    let mut parts = module.split('.').filter(|part| !part.is_empty());
    parts.all(|part| part.bytes().all(is_word) && !part.starts_with(|c: char| c.is_ascii_digit()))
}

// Whether a module of scripts tells all that it exports, and the name is none of it: who takes it from
// there all the same is as wrong as the file that asks.
fn is_lacked(graph: &Graph<'_>, candidate: &Candidate) -> bool {
    let Some(path) = &candidate.path else {
        return false;
    };
    let declares = Language::of_path(path.as_str()).is_some_and(|it| it.declares_exports);
    if !declares || matches!(candidate.imported.as_str(), "*" | "default") {
        return false;
    }
    let facts = graph.resolver().facts(path);
    let passes = |name: &str| name == candidate.imported || name == "*";
    let reliable = !facts.exports.is_empty() && facts.problems.is_empty();
    // An object made at run time tells nothing of its names.
    let made = || {
        let text = graph.source().read(path).unwrap_or_default();
        memchr::memmem::find(&text, b"module.exports").is_some()
    };
    // Declarations beside it say what there is.
    let declared = || {
        let stem = path.as_str().rsplit_once('.').map_or("", |(stem, _)| stem);
        let beside = RepoPath::new(&format!("{stem}.d.ts")).ok();
        beside.is_some_and(|it| it != *path && graph.resolver().is_file(&it))
    };
    reliable && !facts.exports.iter().any(|it| passes(&it.name)) && !made() && !declared()
}

// Whether a package that is installed is known not to have the name.
pub(super) fn is_lacking(installed: &Installed, undef: &Undefined<'_>, one: &Suggestion) -> bool {
    let whole = matches!(one.imported.as_str(), "*" | "default");
    let outside = one.path.is_none() && one.source != HintSource::Stdlib && !whole;
    outside && exported(installed, undef.file, &one.module, &one.imported) == Some(Has::Nothing)
}

// Whether a name is used as what a library has, and not as a variable that bears a word: called, with
// members, as a type, a decorator or a class.
fn is_used_as_one(undef: &Undefined<'_>) -> bool {
    let usage = &undef.usage;
    let marked = |at: &usize| at.checked_sub(1).and_then(|at| undef.text.get(at)) == Some(&b'@');
    usage.called
        || !usage.members.is_empty()
        || usage.typed
        || undef.name.starts_with(char::is_uppercase)
        || usage.places.iter().any(marked)
}

// What speaks for each definition: all of its importers, and the best of its candidates that
// nobody has taken, however many there are.
fn totals(rows: &[Scored]) -> BTreeMap<Entity, u64> {
    let mut parts: BTreeMap<Entity, (u64, u64)> = BTreeMap::new();
    for row in rows {
        let (taken, open) = parts.entry(row.entity.clone()).or_default();
        if row.weight.count > 0 {
            *taken += row.score;
        } else {
            *open = row.score.max(*open);
        }
    }
    let sums = parts.into_iter();
    sums.map(|(entity, (taken, open))| (entity, taken + open))
        .collect()
}

fn score(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    candidate: &Candidate,
    weight: &Weight,
    undef: &Undefined<'_>,
) -> u64 {
    let mut score = VOTE * weight.votes;
    if weight.defines.is_some() {
        score += DEFINED + 4 * weight.near;
    }
    if weight.passes_on {
        score += PASSED_ON + 2 * weight.near;
    }
    score += match weight.outside {
        Some(HintSource::Stdlib)
            if candidate.imported == "*"
                || (weight.types == 0 && undef.language.is_everyday(&candidate.module)) =>
        {
            EVERYDAY
        }
        Some(HintSource::Stdlib) => LIBRARY,
        Some(_) => DECLARED,
        None => 0,
    };
    score *= 1 + habit(graph, candidate, undef);
    // `copy(x)` is a function of the module of its name, `datetime.timedelta` a member of the module.
    if candidate.path.is_none() && candidate.module == undef.name {
        let (module, usage) = (Candidate::new(undef.name, "*", None), &undef.usage);
        let has_all = covers(graph, undef.language, &module, usage) != Some(false);
        let is_module = has_all && !usage.called && !usage.members.is_empty();
        if is_module != (candidate.imported == "*") {
            score /= 32;
        }
    }
    // Nobody reaches into another package by its place, or takes what is not declared.
    if idiom.is_astray(undef, candidate) {
        score /= 16;
    }
    score.max(u64::from(weight.count > 0 || weight.defines.is_some()))
}

// How much the file and its neighbours take other names from the same module.
fn habit(graph: &Graph<'_>, candidate: &Candidate, undef: &Undefined<'_>) -> u64 {
    let resolver = graph.resolver();
    let from_there = |one: &Import| {
        !one.names.is_empty()
            && (one.specifier == candidate.module
                || (candidate.path.is_some()
                    && one.specifier.starts_with('.')
                    && resolver.target(undef.file, one).as_ref() == candidate.path.as_ref()))
    };
    let own = undef.facts.imports.iter().any(&from_there);
    let others = undef
        .siblings
        .iter()
        .filter(|facts| facts.imports.iter().any(&from_there));
    4 * u64::from(own) + others.count().min(4) as u64
}

// Whether the file or its neighbours take from a package that may have the name, since nobody can look into it.
fn is_near_unknown(graph: &Graph<'_>, installed: &Installed, undef: &Undefined<'_>) -> bool {
    let siblings = undef.siblings.iter().flat_map(|facts| &facts.imports);
    let mut all = undef.facts.imports.iter().chain(siblings);
    all.any(|import| {
        let specifier = &import.specifier;
        !specifier.starts_with('.')
            && !undef.language.is_standard(specifier)
            && graph
                .resolver()
                .resolve(undef.file, import)
                .files
                .is_empty()
            && exported(installed, undef.file, specifier, undef.name).is_none()
    })
}

fn is_certain(
    graph: &Graph<'_>,
    installed: &Installed,
    rows: &[Scored],
    totals: &BTreeMap<Entity, u64>,
    undef: &Undefined<'_>,
) -> bool {
    let Some(best) = rows.first() else {
        return false;
    };
    let own = totals.get(&best.entity).copied().unwrap_or(0);
    let contradicted = totals.iter().any(|(entity, total)| {
        let is_taken = |row: &Scored| row.entity == *entity && row.weight.count > 0;
        let part = if rows.iter().any(is_taken) {
            NEGLIGIBLE_IN_USE
        } else {
            NEGLIGIBLE
        };
        *entity != best.entity && total.saturating_mul(part) > own
    });
    // Where any name may be a parameter's, another function's may be meant.
    let shadowed = undef.usage.shadowed && !undef.language.declares_exports;
    // In a class of Python a name that starts with two underscores is another.
    let mangled = !undef.language.declares_exports
        && undef.name.starts_with("__")
        && !undef.name.ends_with("__");
    let bound = undef.usage.is_own() || shadowed || mangled;
    if contradicted || bound || undef.language.is_global(undef.name) {
        return false;
    }
    let group: Vec<&Scored> = rows
        .iter()
        .filter(|row| row.entity == best.entity)
        .collect();
    if rows.iter().any(|row| is_rival(row, best)) {
        return false;
    }
    let takers: u32 = group.iter().map(|row| row.weight.count).sum();
    // `h` of one package or another: one importer does not tell.
    let package = best.candidate.path.is_none() && best.weight.outside != Some(HintSource::Stdlib);
    if package && undef.name.len() < 3 && takers < MIN_TAKERS {
        return false;
    }
    // Nothing proves where an alias of a bundler leads (`@/x`, `$app/server`).
    let module = &best.candidate.module;
    let is_alias = undef.language.declares_exports
        && !undef.language.is_standard(module)
        && package_part(module).is_none();
    if package && is_alias {
        return false;
    }
    if takers > 0 {
        return true;
    }
    match best.weight.outside {
        Some(HintSource::Stdlib) => {
            // `escape`, `join`: words that several modules took for their functions.
            let others = rows
                .iter()
                .filter(|row| row.weight.outside == Some(HintSource::Stdlib))
                .count();
            let word = undef.name.chars().all(char::is_lowercase);
            if word && others > 1 && best.candidate.imported != "*" {
                return false;
            }
            let module = &best.candidate.module;
            let everyday = undef.language.is_everyday(module)
                && (best.candidate.imported == "*" || !is_near_unknown(graph, installed, undef));
            return (everyday || proof::is_in_use(undef, module)) && is_used_as_one(undef);
        }
        // What an installed package itself shows, and nothing else does.
        Some(_) if best.weight.installed => {
            return undef.name.len() > 2 && rows.iter().all(|row| row.entity == best.entity);
        }
        Some(_) => return best.candidate.imported == "*" && !undef.usage.members.is_empty(),
        None => {}
    }
    // Nobody imports it yet: a plain variable that happens to bear the name proves nothing.
    let telling = undef.name.len() > 3
        && (undef.name.contains(char::is_uppercase) || undef.name.contains('_'));
    let reachable =
        best.candidate.path.as_ref().is_none_or(|path| {
            !is_test(path.as_str()) || path.directory() == undef.file.directory()
        });
    let solid = group.iter().any(|row| {
        row.weight
            .defines
            .is_some_and(|kind| kind != DefinitionKind::Variable || telling)
    });
    rows.iter().all(|row| row.entity == best.entity) && solid && reachable && undef.name.len() > 2
}

// Whether a file beside the one that is meant defines the same name: all but the one may be taken
// by others, and this one by the file alone.
fn is_rival(row: &Scored, best: &Scored) -> bool {
    let beside = |one: &Entity, other: &Entity| match (one, other) {
        (Entity::Defined(one), Entity::Defined(other)) => {
            one != other && one.directory() == other.directory()
        }
        _ => false,
    };
    row.weight.defines.is_some() && beside(&row.entity, &best.entity)
}

fn written(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    row: &Scored,
    undef: &Undefined<'_>,
) -> Suggestion {
    let Scored {
        candidate, weight, ..
    } = row;
    let kind = row.entity.kind(graph, &candidate.imported);
    let (module, type_only) = idiom.spelled(undef, candidate, weight, kind);
    let statement = idiom.statement(undef.name, &module, &candidate.imported, type_only);
    Suggestion {
        name: undef.name.to_owned(),
        import_statement: statement,
        module,
        path: candidate.path.clone(),
        source: match weight {
            Weight { count: 1.., .. } => HintSource::Repo,
            Weight {
                outside: Some(outside),
                ..
            } => *outside,
            _ => HintSource::Definition,
        },
        imported: candidate.imported.clone(),
        type_only,
        ..Suggestion::default()
    }
}
