//! Loads fixtures and checks that they are complete, so that a typo in a fixture is an error and not a
//! failed case.

use super::stage::hidden_folder;
use super::{BenchError, Fixture, Reply};
use crate::model::{AtPath as _, Code, RepoPath};
use std::fs;
use std::io;
use std::path::Path;

/// Reads the fixtures in a folder, by name; the folder of a single fixture gives that one.
///
/// # Errors
/// [`BenchError`] for the first that cannot be used, or when there is none.
pub fn load_fixtures(directory: &Path) -> Result<Vec<Fixture>, BenchError> {
    if directory.join(MANIFEST).is_file() {
        return Ok(vec![load_fixture(directory)?]);
    }
    let mut folders = Vec::new();
    for entry in fs::read_dir(directory).at(directory)? {
        let path = entry.at(directory)?.path();
        if path.join(MANIFEST).is_file() {
            folders.push(path);
        }
    }
    folders.sort();
    if folders.is_empty() {
        return Err(BenchError::None(directory.display().to_string()));
    }
    folders.iter().map(|folder| load_fixture(folder)).collect()
}

const MANIFEST: &str = "fixture.toml";

fn load_fixture(directory: &Path) -> Result<Fixture, BenchError> {
    let manifest = directory.join(MANIFEST);
    let text = fs::read_to_string(&manifest).at(&manifest)?;
    let mut fixture: Fixture = toml::from_str(&text).map_err(|error| {
        let message = error.to_string().trim_end().to_owned();
        BenchError::file(Code::F101, &manifest, message)
    })?;
    fixture.id = directory
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    directory.clone_into(&mut fixture.directory);
    fixture.reference = read_optional(&directory.join("reference.patch"))?
        .map(|bytes| fixture.fill(&String::from_utf8_lossy(&bytes)).into_bytes());
    let mut replies = load_replies(&directory.join("replies"))?;
    for reply in &mut replies {
        reply.text = fixture.fill(&reply.text);
    }
    fixture.replies = replies;
    check_fixture(&fixture, &manifest)?;
    Ok(fixture)
}

fn read_optional(path: &Path) -> Result<Option<Vec<u8>>, BenchError> {
    match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        refused => Ok(refused.map(Some).at(path)?),
    }
}

fn load_replies(directory: &Path) -> Result<Vec<Reply>, BenchError> {
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let mut replies = Vec::new();
    for entry in fs::read_dir(directory).at(directory)? {
        let entry = entry.at(directory)?;
        let bytes = fs::read(entry.path()).at(entry.path())?;
        replies.push(Reply {
            name: entry.file_name().to_string_lossy().into_owned(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
        });
    }
    replies.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(replies)
}

// Files that the manifest names must exist, otherwise the fixture proves less than it says.
fn check_fixture(fixture: &Fixture, manifest: &Path) -> Result<(), BenchError> {
    let repo = fixture.directory.join("repo");
    if !repo.is_dir() {
        return dangling("there is no folder `repo` beside it".to_owned(), manifest);
    }
    if fixture.is_fixable() && fixture.reference.is_none() {
        return dangling(
            "it expects a fix, but there is no `reference.patch`".to_owned(),
            manifest,
        );
    }
    let missing = fixture.needed.iter().chain(&fixture.targets);
    if let Some(path) = missing.map(RepoPath::as_str).find(|path| !repo.join(path).is_file()) {
        return dangling(format!("`{path}` is named but is not in `repo`"), manifest);
    }
    if fixture.hidden_test.is_some() != hidden_folder(fixture).is_dir() {
        return dangling(
            "`hidden-test` and a folder `hidden` require each other".to_owned(),
            manifest,
        );
    }
    if fixture.hidden_test.is_some() && fixture.reference.is_none() {
        return dangling(
            "it has hidden tests, but there is no `reference.patch`".to_owned(),
            manifest,
        );
    }
    if fixture.replay.is_some() && fixture.replies.is_empty() {
        return dangling(
            "it sets the end of a replay, but has no `replies`".to_owned(),
            manifest,
        );
    }
    Ok(())
}

fn dangling<T>(message: String, manifest: &Path) -> Result<T, BenchError> {
    Err(BenchError::file(Code::F101, manifest, message))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::load_fixtures;

    const WHOLE: &str = r#"
title = "A name is not imported"
language = "python"
test = "python3 -m unittest"
needs = ["python3"]
needed = ["app.py"]
level = 0
heal-safe = true

[expect]
kind = "import_error"
subkind = "undefined_name"
status = "fixed"
stop-reason = "fixed"

[forbid]
text = ["{{secret:token}}"]

[secrets]
token = ["ab", "cd"]
"#;

    fn folder(manifest: &str) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        let one = home.path().join("one");
        fs::create_dir_all(one.join("repo")).unwrap();
        fs::write(one.join("fixture.toml"), manifest).unwrap();
        fs::write(one.join("repo/app.py"), "print(x)\n").unwrap();
        fs::write(one.join("reference.patch"), "{{secret:token}}\n").unwrap();
        home
    }

    #[test]
    fn fills_secrets_of_fixture() {
        let home = folder(WHOLE);
        let fixtures = load_fixtures(home.path()).unwrap();
        assert_eq!(fixtures.len(), 1);
        assert_eq!(fixtures[0].id, "one");
        assert_eq!(fixtures[0].forbidden_texts(), ["abcd"]);
        assert_eq!(fixtures[0].reference.as_deref(), Some(&b"abcd\n"[..]));
        let alone = load_fixtures(&home.path().join("one")).unwrap();
        assert_eq!(alone.len(), 1);
    }

    #[test]
    fn wrong_fixture_has_code() {
        let rows = [
            (WHOLE.replace("heal-safe", "heal-save"), "F101"),
            (WHOLE.replace("import_error", "import_eror"), "F101"),
            (WHOLE.replace("\"app.py\"", "\"../app.py\""), "F101"),
            (WHOLE.replace("\"app.py\"", "\"other.py\""), "F101"),
            (format!("hidden-test = \"true\"\n{WHOLE}"), "F101"),
        ];
        for (manifest, code) in rows {
            let error = load_fixtures(folder(&manifest).path()).unwrap_err();
            assert_eq!(error.code().as_str(), code, "{error}");
        }
        let empty = tempfile::tempdir().unwrap();
        let error = load_fixtures(empty.path()).unwrap_err();
        assert_eq!(error.code().as_str(), "F101");
        let error = load_fixtures(&empty.path().join("none")).unwrap_err();
        assert_eq!(error.code().as_str(), "F101");
    }
}
