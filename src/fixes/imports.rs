//! Lists import fixes: the certain ones as one candidate, the others one by one.

use super::candidate::{Candidate, name_lines};
use super::list::Question;
use super::log_file::LogFile;
use crate::hint::{Answer, answers, fix, replace_words};
use crate::languages::uses;
use crate::model::{HintSource, RepoPath, Suggestion};
use crate::patch::{Change, canonical};
use crate::policy::{is_test, is_test_text};

/// Tools that look at names alone: any import of the name satisfies them, so none is tried.
const NAME_CHECKERS: &str = "ruff flake8 pyflakes pylint eslint biome oxlint";

/// Returns the suggestions for files that lack something, one candidate of all certain imports, and candidates that
/// may be tried under the tests.
pub(super) fn imports(question: &Question<'_>) -> (Vec<Answer>, Vec<Candidate>, Vec<Candidate>) {
    let mut answers = answers(question.graph, question.wanted, question.ask);
    answers.retain(|answer| (question.ask.may_read)(&answer.file));
    let source = question.graph.source();
    let mut certain: Vec<Change> = Vec::new();
    let (mut settled, mut tries) = (Vec::new(), Vec::new());
    for answer in &mut answers {
        let path = answer.file.as_str();
        let text = source.read(&answer.file).unwrap_or_default();
        let is_test = is_test(path) || is_test_text(path, &text);
        for one in &mut answer.suggestions {
            // A module that tests still use under its old name is an interface: its new place is one answer of two.
            one.certain &= !is_test || one.replaces.is_none();
        }
        let mut sure = answer.suggestions.clone();
        sure.retain(|one| one.certain);
        let fixed = fix(question.graph, &answer.file, &sure);
        // A fix for a command changes no test, because that would hide the failure.
        if is_test && !question.judging.lines.is_empty() {
            continue;
        }
        if let Some(fixed) = fixed.filter(|fixed| question.allows(&canonical(&fixed.changes))) {
            sure.retain(|one| fixed.names.contains(&one.name));
            settled.extend(sure.into_iter().map(|one| (answer.file.clone(), one)));
            certain.extend(fixed.changes);
        } else {
            // Nothing is certain that policy refuses.
            for one in &mut answer.suggestions {
                one.certain = false;
            }
        }
        if !is_test {
            tries.extend(candidates_of(question, answer, &text));
        }
    }
    let lines = settled.iter().map(|(file, one)| (file, one.import_statement.clone()));
    let what = format!("add {}", name_lines(lines));
    // All certain imports are one change.
    let certain = Candidate::from_changes("", certain).map(|fix| Candidate {
        what,
        certain: true,
        must_fix: false,
        ..fix.with_imports(settled.iter().map(|(_, one)| one))
    });
    (answers, certain.into_iter().collect(), tries)
}

// Suggestions for names for which nothing is certain.
fn candidates_of(question: &Question<'_>, answer: &Answer, text: &[u8]) -> Vec<Candidate> {
    let (graph, file) = (question.graph, &answer.file);
    let all = &answer.suggestions;
    let settled: Vec<&String> = all.iter().filter(|one| one.certain).map(|one| &one.name).collect();
    let open = all.iter().filter(|one| !settled.contains(&&one.name) && may_try(one, all));
    let (typos, imports): (Vec<_>, Vec<_>) = open.partition(|one| one.import_statement.is_empty());
    let mut tools = question.logs.iter().filter_map(|(diagnosis, _)| diagnosis.tool.as_deref());
    let looks_at_names = tools.any(|tool| NAME_CHECKERS.split(' ').any(|one| one == tool));
    // Not tried when unused, because an unused import from a library passes nearly any test.
    let proven = imports.into_iter().filter(|one| {
        let outside = matches!(one.source, HintSource::Stdlib | HintSource::Manifest);
        let used = uses(file, text, &one.name).unwrap_or_default();
        let proves = !outside || used.called || !used.members.is_empty();
        one.replaces.is_some() || (proves && !looks_at_names)
    });
    let imports = proven.filter_map(|one| {
        let fixed = fix(graph, file, std::slice::from_ref(one))?;
        let what = format!("add `{}`", one.import_statement);
        Some(Candidate::from_changes(&what, fixed.changes)?.with_imports([one]))
    });
    fix_typos(question, file, &typos).into_iter().chain(imports).collect()
}

// Whether passing tests confirm a suggestion: of two definitions of one name, or two equally similar names, tests
// that pass with one may pass with the other.
fn may_try(one: &Suggestion, all: &[Suggestion]) -> bool {
    let mut others = all.iter().filter(|other| *other != one && other.name == one.name);
    match &one.replaces {
        // Not tried, because a neighboring file in place of an alias would hide that the alias is wrong.
        Some(alias) if !alias.starts_with('.') && one.module.starts_with('.') => false,
        Some(_) => {
            one.imported == "*"
                || !others.any(|other| other.imported == one.imported && other.path != one.path)
        }
        None if one.source == HintSource::Similar => others.next().is_none(),
        None => others.all(|other| other.path == one.path),
    }
}

// All typos at once, because the commands pass only when none is left.
fn fix_typos(question: &Question<'_>, file: &RepoPath, typos: &[&Suggestion]) -> Option<Candidate> {
    let place = LogFile::open(file.clone(), question.graph.source())?;
    let after = typos.iter().try_fold(place.text.clone(), |text, one| {
        let places = uses(file, text.as_bytes(), &one.name)?.places;
        Some(replace_words(&text, &places, &one.name, &one.imported))
    })?;
    let all = typos.iter();
    let words = all.map(|one| format!("replace `{}` with `{}`", one.name, one.imported));
    let what = words.collect::<Vec<_>>().join(", ");
    Some(place.make_candidate(&what, &after)?.with_imports(typos.iter().copied()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::imports;
    use crate::diagnose::{LogFacts, diagnose};
    use crate::fixes::{Judging, Question};
    use crate::graph::Graph;
    use crate::hint::{Ask, Wanted, answers, lacked_names};
    use crate::model::RepoPath;
    use crate::policy::Allowed;
    use crate::source::{Installed, Memory, Source};

    // The lines that the candidates for a log about one file would add.
    fn tried(path: &str, text: &str, log: &str) -> Vec<String> {
        let core = "def helper(x):\n    return x\n";
        let files = [(path, text), ("pkg/core.py", core), ("pkg/__init__.py", "")];
        let source = Memory::named(files);
        let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
        let ask = Ask {
            installed: &Installed::default(),
            may_read: &|_| true,
        };
        let question = Question {
            wanted: &lacked_names(&source, &diagnosis),
            logs: &[(diagnosis, log)],
            graph: &Graph::new(&source),
            git: None,
            ask: &ask,
            judging: Judging {
                lines: &[],
                prefix: "",
                allowed: &Allowed::default(),
            },
        };
        let (_, _, tries) = imports(&question);
        let added = tries.iter().map(|fix| {
            assert!(fix.must_fix, "{}", fix.what);
            let added = fix.added();
            added.iter().map(|line| line.trim()).collect::<Vec<_>>().join("|")
        });
        added.collect()
    }

    #[test]
    fn tries_names_in_scope_outside_tests() {
        let missing = |path: &str, name: &str| {
            format!("E   NameError: name '{name}' is not defined\n\n{path}:5: NameError\n")
        };
        let use_of = |name: &str| {
            format!(
                "from .core import helper\n\n\ndef run(rows):\n    return {name}(rows), {name}\n"
            )
        };
        for (path, name, expected) in [
            ("pkg/use.py", "helpr", &["return helper(rows), helper"][..]),
            ("tests/test_use.py", "helpr", &[]),
            ("pkg/use.py", "frobnicate", &[]),
        ] {
            let found = tried(path, &use_of(name), &missing(path, name));
            assert_eq!(found, expected, "{path} {name}");
        }
        let two = "from .core import helper, helpes\n\n\ndef run(y):\n    return helpe(y)\n";
        let found = tried("pkg/use.py", two, &missing("pkg/use.py", "helpe"));
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn package_offers_no_name_that_it_takes_from_where_it_is_gone() {
        let files = [
            ("pkg/__init__.py", ""),
            ("pkg/core.py", "def decode_url(x):\n    return x\n"),
            ("pkg/use.py", "from .core import decode\n"),
            ("keys/__init__.py", "from pkg.core import decode\n"),
        ];
        let source = Memory::named(files);
        let file = RepoPath::new("pkg/use.py").unwrap();
        let ask = Ask {
            installed: &Installed::default(),
            may_read: &|_| true,
        };
        let wanted = Wanted {
            exports: vec!["decode".to_owned()],
            ..Wanted::default()
        };
        let found = answers(
            &Graph::new(&source),
            &BTreeMap::from([(file, wanted)]),
            &ask,
        );
        let found: Vec<_> = found.iter().flat_map(|answer| &answer.suggestions).collect();
        assert!(
            found.iter().all(|one| one.imported == "decode_url"),
            "{found:?}"
        );
    }
}
