use crate::heal::gather::program_of;
use crate::heal::programs::PROGRAMS;
use crate::heal::{Fix, History};
use crate::model::Diagnosis;

/// The program is not there: other ways to the same program, or to the package that the
/// configuration itself names.
pub(super) fn not_found(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let words = history.current.words();
    let Some(&program) = words.first() else {
        return vec![Fix::person(diagnosis.suggested_fix.clone())];
    };
    let evidence = &diagnosis.evidence;
    if !evidence.is_empty() && !evidence.iter().any(|line| line.text.contains(program)) {
        // A name that only the log knows is never run.
        let first = evidence.first().map(|line| line.text.as_str());
        return vec![Fix::person(format!(
            "A program that `{program}` starts is not installed: {}",
            first.unwrap_or(&diagnosis.explanation)
        ))];
    }
    let mut fixes = ways(program, &words, history);
    fixes.push(install(program, history));
    fixes
}

// The rows of the table that can be filled in. A package with the name of a program is taken only when
// a manifest or a lock names it too: whoever owns the name in a registry is otherwise unknown.
fn ways(program: &str, words: &[&str], history: &History<'_>) -> Vec<Fix> {
    let around = history.surroundings;
    let is_for = |names: &[String]| names.iter().any(|name| name == program);
    let starts_package = |start: &[String]| start.iter().any(|word| word == "{package}");
    let is_runner = PROGRAMS
        .way
        .iter()
        .any(|way| is_for(&way.instead_of) && starts_package(&way.start));
    // The configuration names a package and who shall run it, or the program itself.
    let mut named = words.iter().enumerate().skip(usize::from(is_runner));
    let is_option = |word: &str| word.starts_with('-') || word == "run";
    let Some((at, &wanted)) = named.find(|(_, word)| !is_runner || !is_option(word)) else {
        return Vec::new();
    };
    let name = program_of(wanted);
    let bare = || is_runner || !program.contains('/');
    let manifest = || Some(name).filter(|name| bare() && around.has_python(name));
    let value = |placeholder: &str| match placeholder {
        "package" => Some(wanted.to_owned()),
        "npm" => around.npm.get(wanted).filter(|_| bare()).cloned(),
        "manifest" => manifest().map(str::to_owned),
        "module" => manifest().map(|name| name.replace('-', "_")),
        "local" => around.local.get(name).cloned(),
        "elsewhere" => around.elsewhere.get(name).cloned(),
        "python" => around.program(&PYTHON).map(str::to_owned),
        _ => None,
    };
    let rows = PROGRAMS.way.iter().filter(|way| match &way.instead_of {
        none if none.is_empty() => !is_runner,
        names => is_for(names),
    });
    rows.filter_map(|way| {
        let first = way.start.first()?;
        let words = way.start.iter().map(|word| filled(word, &value));
        let words = words.collect::<Option<Vec<_>>>()?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let there = first.starts_with('{') || around.programs.contains(first);
        let changed = history.current.with_front(at + 1, &words);
        let changed = changed.filter(|_| there)?;
        Some(Fix::change(filled(&way.does, &value)?, changed))
    })
    .collect()
}

// The text with values in place of what stands in braces.
fn filled(text: &str, value: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let Some((before, after)) = text.split_once('{') else {
        return Some(text.to_owned());
    };
    let (name, after) = after.split_once('}')?;
    Some(format!("{before}{}{}", value(name)?, filled(after, value)?))
}

const PYTHON: [&str; 2] = ["python3", "python"];

fn install(program: &str, history: &History<'_>) -> Fix {
    let around = history.surroundings;
    let name = program_of(program);
    if around.npm.contains(name) {
        let message = format!("`{name}` is in package.json and not installed: run your installer");
        return Fix::person_runs(message, "npm install");
    }
    if around.has_python(name) {
        let message = format!("`{name}` is in the manifest and not installed: run your installer");
        return Fix::person_runs(message, "pip install -r requirements.txt");
    }
    let mut rows = PROGRAMS.program.iter();
    let row = rows.find(|row| row.names.iter().any(|it| it == name));
    Fix::person(match row.and_then(|row| row.from.as_ref()) {
        Some(from) => format!("`{name}` is not installed: it comes with {from}"),
        None => format!(
            "`{program}` is not installed, and no manifest of the project names it: install it if \
             you trust it, or correct the command"
        ),
    })
}
