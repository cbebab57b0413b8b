//! Reads `bench.toml`, in which the user says how tests run over a range of history.

use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use toml::value::Datetime;

use crate::bench::BenchError;
use crate::languages::Language;
use crate::model::{
    AtPath as _, Code, RealEnvironment, RealRepository, RepoPath, file_name, shell_word,
};
use crate::policy::is_test;

/// What a person says of a repository whose history is mined: `bench.toml`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BenchFile {
    /// Owner and name.
    name: String,
    /// Where it can be cloned from.
    url: String,
    /// Its licence, as SPDX writes it.
    licence: String,
    /// The language that totals are given by.
    language: String,
    /// What tests are run in, by ranges of history; the first that fits a commit is taken.
    #[serde(rename = "environment")]
    environments: Vec<Range>,
}

/// What the tests of a range of history are run in.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Range {
    name: String,
    /// The first day, as UTC counts days.
    since: Option<Datetime>,
    /// The first day that is no longer in it.
    until: Option<Datetime>,
    /// Globs of the test files that its command takes; without, the names that runners look for.
    #[serde(default)]
    tests: Vec<String>,
    /// Globs of what is neither product nor test, beyond documents and examples.
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    setup: Vec<String>,
    test: String,
    #[serde(default)]
    variables: Vec<String>,
    #[serde(default)]
    needs: Vec<String>,
    #[serde(default = "default_timeout")]
    timeout_seconds: f64,
    #[serde(skip)]
    test_globs: GlobSet,
    #[serde(skip)]
    ignore_globs: GlobSet,
}

impl BenchFile {
    /// Reads a `bench.toml`.
    ///
    /// # Errors
    /// [`BenchError`] when it is not there or does not make sense.
    pub fn read(path: &Path) -> Result<Self, BenchError> {
        let text = std::fs::read_to_string(path).at(path)?;
        Self::parse(&text).map_err(|message| BenchError::file(Code::F401, path, message))
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut file: Self =
            toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())?;
        if file.environments.is_empty() {
            return Err("no `[[environment]]`, so it is unknown how to run the tests".to_owned());
        }
        let mut names = std::collections::BTreeSet::new();
        for range in &mut file.environments {
            if !names.insert(range.name.clone()) {
                return Err(format!("two environments are called `{}`", range.name));
            }
            if !is_plain(&range.name) {
                return Err(format!(
                    "`{}`: letters, digits, `.` and `-` are expected",
                    range.name
                ));
            }
            if !range.test.contains(TESTS) && !range.test.contains(MODULES) {
                return Err(format!(
                    "the test command of `{}` contains neither `{TESTS}` nor `{MODULES}`: only the tests of a fix are run",
                    range.name
                ));
            }
            range.test_globs = build_globs(&range.tests)?;
            range.ignore_globs = build_globs(&range.ignore)?;
        }
        Ok(file)
    }

    /// The repository.
    pub fn repository(&self) -> RealRepository {
        RealRepository {
            name: self.name.clone(),
            url: self.url.clone(),
            licence: self.licence.clone(),
            language: self.language.clone(),
        }
    }

    /// The environment of a commit, by its time in seconds since 1970.
    pub(super) fn range(&self, time: i64) -> Option<&Range> {
        self.environments.iter().find(|range| range.holds(time))
    }
}

impl Range {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The environment with its set-up run on the files of `commit`.
    pub(super) fn at(&self, commit: &str) -> RealEnvironment {
        RealEnvironment {
            name: self.name.clone(),
            commit: commit.to_owned(),
            setup: self.setup.clone(),
            test: self.test.clone(),
            variables: self.variables.clone(),
            needs: self.needs.clone(),
            timeout_seconds: self.timeout_seconds,
        }
    }

    /// Whether a file is run as a test.
    pub(super) fn takes(&self, path: &str) -> bool {
        if !self.tests.is_empty() {
            return self.test_globs.is_match(path);
        }
        let name = file_name(path);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        if is_aside(path) {
            return false;
        }
        match Language::of_path(name).map(|known| known.name) {
            Some("python") => stem.starts_with("test_") || stem.ends_with("_test"),
            Some("typescript") => [".test", ".spec", "-test"].iter().any(|end| stem.ends_with(end)),
            _ => false,
        }
    }

    /// Whether a file belongs to the tests: one that is run, or what such a file uses.
    pub(super) fn is_test(&self, path: &str) -> bool {
        is_test(path) || path.ends_with("conftest.py") || self.takes(path)
    }

    /// Whether a file is product: a program that is no test.
    pub(super) fn is_product(&self, path: &str) -> bool {
        let name = file_name(path);
        Language::of_path(name).is_some()
            && !is_aside(path)
            && !["setup.py", "noxfile.py"].contains(&name)
            && !name.contains(".config.")
            && !self.is_test(path)
            && !self.ignore_globs.is_match(path)
    }

    fn holds(&self, time: i64) -> bool {
        let Ok(time) = jiff::Timestamp::from_second(time) else {
            return false;
        };
        let day = time.strftime("%Y-%m-%d").to_string();
        let since = self.since.as_ref().map(Datetime::to_string);
        let until = self.until.as_ref().map(Datetime::to_string);
        since.is_none_or(|since| day >= since) && until.is_none_or(|until| day < until)
    }
}

/// Stands for the test files in a command.
pub(super) const TESTS: &str = "{tests}";
/// Stands for the same files as modules: `pkg.test.one_test`.
const MODULES: &str = "{modules}";
/// Stands for the environment's own folder.
const ENVIRONMENT: &str = "{env}";

const ASIDE: [&str; 8] = [
    "docs", "doc", "examples", "example", "benchmarks", "bench", "scripts", ".github",
];

fn is_aside(path: &str) -> bool {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder.split('/').any(|part| ASIDE.contains(&part))
}

/// The line that runs these test files.
pub(super) fn test_line(template: &str, tests: &[&RepoPath], environment: &Path) -> String {
    let files: Vec<String> = tests.iter().map(|path| quote_word(path.as_str())).collect();
    let modules = tests.iter().map(|test| {
        let module = test.as_str().strip_suffix(".py").unwrap_or(test.as_str());
        quote_word(&module.replace('/', "."))
    });
    let modules: Vec<String> = modules.collect();
    with_environment(template, environment)
        .replace(TESTS, &files.join(" "))
        .replace(MODULES, &modules.join(" "))
}

/// A line or variable with the environment's folder in it.
pub(super) fn with_environment(text: &str, environment: &Path) -> String {
    text.replace(ENVIRONMENT, &environment.to_string_lossy())
}

// Quotes what a shell would read in names, because they come from a repository.
fn quote_word(word: &str) -> String {
    let dashed = if word.starts_with('-') { "./" } else { "" };
    shell_word(&format!("{dashed}{word}")).into_owned()
}

/// Whether a name can be that of a folder.
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.chars().all(|char| char.is_ascii_alphanumeric() || "-_.+".contains(char))
}

fn build_globs(patterns: &[String]) -> Result<GlobSet, String> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        set.add(glob.map_err(|error| format!("`{pattern}`: {error}"))?);
    }
    set.build().map_err(|error| error.to_string())
}

fn default_timeout() -> f64 {
    300.0
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{BenchFile, test_line};
    use crate::model::RepoPath;

    const FILE: &str = r#"
name = "a/b"
url = "https://example.org/a/b"
licence = "MIT"
language = "python"

[[environment]]
name = "new"
since = 2024-01-01
test = "{env}/bin/pytest {tests}"

[[environment]]
name = "old"
until = 2024-01-01
tests = ["testing/**/*.py"]
ignore = ["tools/**"]
test = "python -m unittest {modules}"
"#;

    #[test]
    fn pins_environment_to_commit_date() {
        let file = BenchFile::parse(FILE).unwrap();
        // 2024-01-01T00:00:00Z, as `date` says it.
        let new_year = 1_704_067_200;
        assert_eq!(file.range(new_year).unwrap().name(), "new");
        assert_eq!(file.range(new_year - 1).unwrap().name(), "old");
    }

    #[test]
    fn files_are_product_tests_or_neither() {
        let file = BenchFile::parse(FILE).unwrap();
        let (new, old) = (&file.environments[0], &file.environments[1]);
        for (path, takes, is_test, product) in [
            ("src/a.py", false, false, true),
            ("tests/test_a.py", true, true, false),
            ("tests/data.py", false, true, false),
            ("conftest.py", false, true, false),
            ("docs/conf.py", false, false, false),
            ("examples/shop/tests/test_a.py", false, true, false),
            ("CHANGES.md", false, false, false),
            ("setup.py", false, false, false),
            ("packages/a/src/a.test.ts", true, true, false),
            ("packages/a/src/a.ts", false, false, true),
            ("vitest.config.ts", false, false, false),
        ] {
            let found = (new.takes(path), new.is_test(path), new.is_product(path));
            assert_eq!(found, (takes, is_test, product), "{path}");
        }
        assert!(old.takes("testing/python/a.py") && !old.takes("src/test_a.py"));
        assert!(!old.is_product("tools/a.py") && old.is_product("src/a.py"));
    }

    #[test]
    fn quotes_files_and_modules() {
        let paths: Vec<_> = ["a/b_test.py", "a/it's $(x).py", "-k.py"]
            .map(|path| RepoPath::new(path).unwrap())
            .to_vec();
        let tests: Vec<_> = paths.iter().collect();
        let line = |text| test_line(text, &tests, Path::new("/e"));
        assert_eq!(
            line("{env}/pytest {tests}"),
            r"/e/pytest a/b_test.py 'a/it'\''s $(x).py' ./-k.py"
        );
        assert!(line("{modules}").starts_with("a.b_test "));
    }

    #[test]
    fn rejects_nonsense() {
        for (from, to, expected) in [
            ("{tests}", "all", "only the tests"),
            ("\"old\"", "\"new\"", "two environments"),
            ("licence", "license", "unknown field"),
            ("testing/**", "testing/{", "testing/{"),
            ("\"old\"", "\"../x\"", "letters"),
        ] {
            let error = BenchFile::parse(&FILE.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
