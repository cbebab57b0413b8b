use super::Query;
use super::choose::is_lacking;
use super::entity::entity;
use super::evidence::ImportCandidate;
use super::fix::binds;
use super::idiom::Idiom;
use super::proof::{holds, is_in_use};
use super::query::UndefinedName;
use crate::graph::Graph;
use crate::languages::{facts, uses};
use crate::model::{FileFacts, HintSource, Import, Suggestion};

/// What an earlier version of the file has for a name that it lacks now.
enum Was {
    /// It took the name from elsewhere, and how.
    Imported(Box<Import>),
    /// A definition of its own.
    Defined,
    /// A parameter or a variable.
    Local,
}

/// Weighs suggestions by what the file itself last had for the name. The import that it had, where it
/// still leads to the name, comes first; what it defined comes from no package; and nothing is certain
/// of a name that stood for a parameter or a variable.
pub(super) fn weighed(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    asked: &UndefinedName<'_>,
    query: &Query<'_>,
    mut rows: Vec<Suggestion>,
) -> Vec<Suggestion> {
    match before(asked, &(query.earlier)(asked.file)) {
        None => {}
        Some(Was::Imported(import)) => {
            let Some(one) = again(graph, idiom, asked, query, &import, &rows) else {
                return rows;
            };
            rows.retain(|it| it.import_statement != one.import_statement);
            for row in &mut rows {
                row.certain = false;
                row.confidence = row.confidence.min(50);
            }
            rows.insert(0, one);
        }
        Some(Was::Defined) => rows.retain(|it| it.path.is_some()),
        Some(Was::Local) => {
            rows.retain(|it| it.path.is_some());
            for row in &mut rows {
                row.certain = false;
                row.confidence = row.confidence.min(25);
            }
        }
    }
    rows
}

// The newest version that has something for the name.
fn before(asked: &UndefinedName<'_>, versions: &[Vec<u8>]) -> Option<Was> {
    let now = &asked.usage;
    versions
        .iter()
        .filter(|it| **it != *asked.text)
        .find_map(|text| {
            let then = facts(asked.file, text);
            if let Some(import) = binding(&then, asked.name) {
                return Some(Was::Imported(Box::new(import.clone())));
            }
            if then.definitions.iter().any(|it| it.name == asked.name) {
                return Some(Was::Defined);
            }
            let used = uses(asked.file, text, asked.name)?;
            let lost = (used.bound && !now.bound) || (used.shadowed && !now.shadowed);
            lost.then_some(Was::Local)
        })
}

fn binding<'f>(facts: &'f FileFacts, name: &str) -> Option<&'f Import> {
    facts.imports.iter().find(|import| {
        let only = FileFacts {
            imports: vec![(*import).clone()],
            ..FileFacts::default()
        };
        binds(&only, name)
    })
}

// The import of before as a suggestion, where it leads to the name as things are.
fn again(
    graph: &Graph<'_>,
    idiom: &dyn Idiom,
    asked: &UndefinedName<'_>,
    query: &Query<'_>,
    import: &Import,
    rows: &[Suggestion],
) -> Option<Suggestion> {
    let taken = import
        .names
        .iter()
        .find(|it| it.alias.as_ref().unwrap_or(&it.name) == asked.name);
    let imported = taken.map_or("*", |it| it.name.as_str());
    let known = rows
        .iter()
        .find(|it| it.module == import.specifier && it.imported == imported);
    let path = graph
        .resolver()
        .resolve(asked.file, import)
        .files
        .into_iter()
        .next();
    let one = match known {
        Some(known) => known.clone(),
        None => Suggestion {
            name: asked.name.to_owned(),
            import_statement: idiom.statement(
                asked.name,
                &import.specifier,
                imported,
                import.type_only,
            ),
            module: import.specifier.clone(),
            confidence: 0,
            source: match &path {
                Some(_) => HintSource::Repo,
                None if asked.language.is_standard(&import.specifier) => HintSource::Stdlib,
                None => HintSource::Manifest,
            },
            path,
            certain: false,
            imported: imported.to_owned(),
            type_only: import.type_only,
            replaces: None,
            also_in: Vec::new(),
        },
    };
    let gives = match &one.path {
        Some(path) if imported != "*" && imported != "default" => {
            let facts = graph.resolver().facts(path);
            facts.exports.iter().any(|it| it.name == imported)
                || graph.defining(path, imported).is_some()
        }
        Some(_) => true,
        // A module that is gone looks like a package that nobody declares.
        None => {
            let module = &one.module;
            asked.language.is_standard(module) || idiom.declares(module) || is_in_use(asked, module)
        }
    };
    let way = ImportCandidate {
        module: one.module.clone(),
        imported: one.imported.clone(),
        path: one.path.clone(),
    };
    let kind = entity(graph, &way, asked).kind(graph, imported);
    let certain = gives
        && holds(graph, idiom, asked, &one, kind)
        && !is_lacking(query.installed, asked, &one);
    certain.then_some(Suggestion {
        certain,
        confidence: 95,
        ..one
    })
}
