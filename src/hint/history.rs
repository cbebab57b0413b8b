use super::Query;
use super::evidence::{Candidate, Weight};
use super::idiom::Idiom;
use super::proof::is_in_use;
use super::query::Undefined;
use super::renamed::{Kept, definition, exports_it, kept, renaming};
use super::undo::stands_again;
use crate::graph::Graph;
use crate::languages::{Has, exported, facts, uses};
use crate::model::{FileFacts, HintSource, Import, ImportKind, Suggestion};

/// Confidence up to which an import is told and not tried: no other evidence gives as little.
pub const MOST_IN_DOUBT: u8 = 9;

/// What an earlier version of the file has for a name that it lacks now.
pub(super) enum Was {
    /// It took the name from elsewhere, and how: in each branch another way.
    Imported(Vec<Import>),
    /// A definition of its own.
    Defined,
    /// A parameter or a variable.
    Local,
}

/// What the file itself last took the name from, where that still gives it: it outweighs all else.
pub(super) fn taken_before(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    undef: &Undefined<'_>,
    query: &Query<'_>,
    before: Option<&(Was, Vec<u8>)>,
) -> Vec<(Candidate, Weight)> {
    let Some((Was::Imported(imports), _)) = before else {
        return Vec::new();
    };
    let candidate = |import: &Import| {
        let taken = import.names.iter().find(|it| it.local() == undef.name);
        let imported = taken.map_or("*", |it| it.name.as_str());
        let path = graph.resolver().target(undef.file, import);
        let whole = matches!(imported, "*" | "default");
        let module = &import.specifier;
        let installed = || exported(query.installed, undef.file, module, imported);
        // A module that is gone looks like a package that nobody declares and that is not installed.
        let gives = match &path {
            Some(path) => whole || exports_it(graph, path, imported),
            None => {
                undef.language.is_standard(module)
                    || idiom.declares(module)
                    || is_in_use(undef, module)
                    || installed().is_some_and(|it| whole || it != Has::Nothing)
            }
        };
        let weight = Weight::vote(TAKEN_BEFORE, import);
        gives.then(|| (Candidate::new(module, imported, path), weight))
    };
    imports.iter().filter_map(candidate).collect()
}

/// More than any number of importers.
const TAKEN_BEFORE: u64 = 1 << 40;

/// Weighs suggestions by what the file itself last had for the name: what it defined comes from no package; and
/// nothing is certain or tried of a name that stood for a parameter or a variable, whose import stood in a
/// function or a branch to which it cannot go back, or which has given way to another name at its other places.
pub(super) fn weighed(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    undef: &Undefined<'_>,
    before: Option<(Was, Vec<u8>)>,
    mut rows: Vec<Suggestion>,
) -> Vec<Suggestion> {
    // Without `self.` before it a method is meant, if the file did not import the name.
    let is_member = undef.usage.member;
    match before {
        Some((Was::Defined | Was::Local, _)) | None if is_member => rows.clear(),
        None => {}
        Some((Was::Imported(imports), _)) => {
            let target = |it: &Import| graph.resolver().target(undef.file, it);
            let same = |row: &Suggestion, import: &Import| match &row.path {
                Some(path) => target(import).as_ref() == Some(path),
                None => row.module == import.specifier,
            };
            // It is written as it was.
            if let Some(first) = rows.first_mut()
                && let Some(import) = imports.iter().find(|it| same(first, it))
            {
                let (module, erased) = (&import.specifier, first.type_only);
                let statement = idiom.statement(undef.name, module, &first.imported, erased);
                (first.import_statement, first.module) = (statement, module.clone());
            }
            rows.retain(|row| !is_member || imports.iter().any(|it| same(row, it)));
            let late = |it: &Import| (it.nested && !it.type_only) || it.kind == ImportKind::Dynamic;
            let goes_back = || rows.first().is_some_and(|it| stands_again(undef, it));
            if imports.iter().any(late) && !goes_back() {
                doubt(&mut rows);
            }
        }
        Some((Was::Defined, then)) => {
            rows.retain(|it| it.path.is_some());
            // The same definition under another name: the uses of the old one were left behind.
            if let Some((new, true)) = renaming(undef.file, &then, undef.text, undef.name) {
                rows = vec![Suggestion {
                    name: undef.name.to_owned(),
                    confidence: 50,
                    source: HintSource::Similar,
                    imported: new,
                    ..Suggestion::default()
                }];
            } else {
                doubt_namesakes(graph, undef, &then, &mut rows);
            }
        }
        Some((Was::Local, _)) => {
            rows.retain(|it| it.path.is_some());
            doubt(&mut rows);
        }
    }
    rows
}

// What the file defined itself may have moved; whoever else has the word is not it.
fn doubt_namesakes(graph: &Graph<'_>, undef: &Undefined<'_>, then: &[u8], rows: &mut [Suggestion]) {
    let old = definition(undef.file, then, undef.name);
    for row in rows {
        let kept = old.as_ref().map_or(Kept::Not, |old| kept(graph, old, row));
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

/// The newest version that has something for the name, and its text.
pub(super) fn before(undef: &Undefined<'_>) -> Option<(Was, Vec<u8>)> {
    let now = &undef.usage;
    let had = |text: &Vec<u8>| {
        let then = facts(undef.file, text);
        let mut imports = binding(&then, undef.name, false);
        if imports.is_empty() {
            imports = late(&then, undef);
        }
        if !imports.is_empty() {
            return Some(Was::Imported(imports.into_iter().cloned().collect()));
        }
        if then.definitions.iter().any(|it| it.name == undef.name) {
            return Some(Was::Defined);
        }
        let used = uses(undef.file, text, undef.name)?;
        let lost = (used.is_own() && !now.is_own()) || (used.shadowed && !now.shadowed);
        lost.then_some(Was::Local)
    };
    let mut others = undef.past.iter().filter(|it| **it != *undef.text);
    others.find_map(|text| Some((had(text)?, text.clone())))
}

fn binding<'f>(facts: &'f FileFacts, name: &str, nested: bool) -> Vec<&'f Import> {
    let imports = facts.imports.iter().filter(|it| it.nested == nested);
    imports.filter(|it| it.binds(name)).collect()
}

// The imports in functions and branches, where some of them are gone.
fn late<'f>(then: &'f FileFacts, undef: &Undefined<'_>) -> Vec<&'f Import> {
    let left = binding(undef.facts, undef.name, true);
    let had = binding(then, undef.name, true);
    if left.len() < had.len() {
        had
    } else {
        Vec::new()
    }
}
