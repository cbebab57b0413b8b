use super::heal::Heal;
use super::import_heals::import_heals;
use crate::model::{Diagnosis, FailureKind as Kind, MentionedFile, RepoPath};
use crate::patch::{Change, FileState, canonical};
use crate::source::{EntryKind, Source};

/// Changes that the evidence itself names, most certain first. Each is judged like any patch and
/// kept only when the commands say that it helps. `known` is the setting `hint.known`.
#[must_use]
pub fn heals(
    diagnosis: &Diagnosis,
    log: &str,
    source: &dyn Source,
    known: &[String],
    may_read: &(dyn Fn(&RepoPath) -> bool + Sync),
) -> Vec<Heal> {
    let mut found = modes(diagnosis, source);
    found.extend(import_heals(diagnosis, source, known, may_read));
    found.extend(suggestions(log, diagnosis, source));
    found
}

// A tracked script that starts with `#!` and may not be executed (conflict 11: as a mode patch).
fn modes(diagnosis: &Diagnosis, source: &dyn Source) -> Vec<Heal> {
    if diagnosis.kind != Kind::PermissionDenied {
        return Vec::new();
    }
    let mut found = Vec::new();
    for path in diagnosis.files.iter().filter_map(MentionedFile::repo_path) {
        let plain = source
            .listing()
            .get(path.as_str())
            .is_some_and(|entry| entry.kind == EntryKind::File { executable: false });
        let Some(bytes) = plain.then(|| source.read(&path).ok()).flatten() else {
            continue;
        };
        if !bytes.starts_with(b"#!") {
            continue;
        }
        let state = |mode| {
            Some(FileState {
                bytes: bytes.clone(),
                mode,
            })
        };
        let change = Change::between(path.clone(), state(0o100_644), state(0o100_755));
        found.push(Heal {
            what: format!("make {path} executable"),
            patch: canonical(&[change]),
            files: vec![path],
            must_fix: false,
        });
    }
    found
}

// A compiler that names the place, the wrong word and the right one.
fn suggestions(log: &str, diagnosis: &Diagnosis, source: &dyn Source) -> Vec<Heal> {
    let mut found: Vec<Heal> = Vec::new();
    for line in log.lines().filter(|line| line.len() < MAX_LINE) {
        let Some(suggestion) = type_script(line) else {
            continue;
        };
        let Some(path) = diagnosis
            .files
            .iter()
            .filter_map(MentionedFile::repo_path)
            .find(|path| {
                suggestion.path.ends_with(path.as_str()) || path.as_str().ends_with(suggestion.path)
            })
        else {
            continue;
        };
        let Some(heal) = replace_word(&path, &suggestion, source) else {
            continue;
        };
        if !found.contains(&heal) {
            found.push(heal);
        }
    }
    found.truncate(MAX_SUGGESTIONS);
    found
}

const MAX_LINE: usize = 2000;
const MAX_SUGGESTIONS: usize = 4;

#[derive(Debug, PartialEq, Eq)]
struct Suggestion<'l> {
    path: &'l str,
    line: usize,
    column: usize,
    wrong: &'l str,
    right: &'l str,
}

// `a.ts(3,7): error TS2552: Cannot find name 'x'. Did you mean 'y'?`, or with `a.ts:3:7 - error`.
fn type_script(line: &str) -> Option<Suggestion<'_>> {
    let at = line.find("error TS")?;
    let (place, said) = line.split_at(at);
    let code = said.get("error TS".len()..)?.split(':').next()?;
    if !["2551", "2552", "2724"].contains(&code) {
        return None;
    }
    let place = place.trim_end_matches([' ', '-', ':']);
    let (path, numbers) = if let Some(place) = place.strip_suffix(')') {
        place.rsplit_once('(')?
    } else {
        let (rest, _) = place.rsplit_once(':')?;
        let (path, _) = rest.rsplit_once(':')?;
        (path, place.get(path.len() + 1..)?)
    };
    let (row, column) = numbers.split_once([',', ':'])?;
    let (before, after) = said.split_once("Did you mean ")?;
    let right = after
        .trim_start_matches(['\'', '"'])
        .split(['\'', '"'])
        .next()?;
    let wrong = before
        .split('\'')
        .skip(1)
        .step_by(2)
        .find(|word| is_name(word))?;
    (is_name(right) && wrong != right).then_some(Suggestion {
        path: path.trim(),
        line: row.parse().ok()?,
        column: column.trim().parse().ok()?,
        wrong,
        right,
    })
}

fn is_name(word: &str) -> bool {
    !word.is_empty()
        && word
            .chars()
            .all(|char| char.is_alphanumeric() || char == '_' || char == '$')
}

// Only where exactly this word stands at exactly this place.
fn replace_word(path: &RepoPath, suggestion: &Suggestion<'_>, source: &dyn Source) -> Option<Heal> {
    let bytes = source.read(path).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    let line = text.lines().nth(suggestion.line.checked_sub(1)?)?;
    let start = line
        .char_indices()
        .nth(suggestion.column.checked_sub(1)?)
        .map(|(at, _)| at)?;
    let rest = line.get(start..)?.strip_prefix(suggestion.wrong)?;
    if rest
        .chars()
        .next()
        .is_some_and(|char| is_name(&char.to_string()))
    {
        return None;
    }
    let offset = line.as_ptr() as usize - text.as_ptr() as usize + start;
    let after = format!(
        "{}{}{}",
        text.get(..offset)?,
        suggestion.right,
        text.get(offset + suggestion.wrong.len()..)?
    );
    let mode = match source.listing().get(path.as_str())?.kind {
        EntryKind::File { executable: true } => 0o100_755,
        _ => 0o100_644,
    };
    let state = |bytes: &[u8]| {
        Some(FileState {
            bytes: bytes.into(),
            mode,
        })
    };
    let change = Change::between(path.clone(), state(&bytes), state(after.as_bytes()));
    Some(Heal {
        what: format!(
            "the compiler suggests `{}` for `{}` in {path}",
            suggestion.right, suggestion.wrong
        ),
        patch: canonical(&[change]),
        files: vec![path.clone()],
        must_fix: true,
    })
}

#[cfg(test)]
mod tests {
    use super::{Suggestion, heals, type_script};
    use crate::diagnose::{LogFacts, diagnose};
    use crate::model::RepoPath;
    use crate::source::{Memory, Source};

    #[test]
    fn both_forms_of_the_compiler_are_read() {
        let expected = Suggestion {
            path: "src/a.ts",
            line: 3,
            column: 7,
            wrong: "lenght",
            right: "length",
        };
        for line in [
            "src/a.ts(3,7): error TS2551: Property 'lenght' does not exist on type 'string'. Did you mean 'length'?",
            "src/a.ts:3:7 - error TS2551: Property 'lenght' does not exist on type 'string'. Did you mean 'length'?",
        ] {
            assert_eq!(type_script(line).as_ref(), Some(&expected));
        }
        assert_eq!(
            type_script("src/a.ts(3,7): error TS2322: Did you mean 'x'?"),
            None
        );
    }

    #[test]
    fn a_suggestion_is_taken_only_where_the_word_stands() {
        let path = RepoPath::new("src/a.ts").unwrap();
        let source = Memory::new([(path, b"const a = 'x'\nexport const n = a.lenght\n".to_vec())]);
        let log = |column: usize| {
            format!(
                "src/a.ts(2,{column}): error TS2551: Property 'lenght' does not exist on type 'string'. Did you mean 'length'?\n"
            )
        };
        let found = |log: &str| {
            let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
            heals(&diagnosis, log, &source, &[], &|_| true)
        };
        let healed = found(&log(20));
        assert_eq!(healed.len(), 1);
        let patch = String::from_utf8(healed[0].patch.clone()).unwrap();
        assert!(patch.contains("+export const n = a.length\n"), "{patch}");
        assert!(found(&log(19)).is_empty());
    }
}
