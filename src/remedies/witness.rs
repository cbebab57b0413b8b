use std::collections::BTreeSet;
use std::sync::{LazyLock, OnceLock};

use regex::{Captures, Regex};
use serde::Deserialize;

use super::await_edits::{as_value, awaited, waits};
use super::candidate::Candidate;
use super::frames::python_frame;
use super::log_file::{LogFile, LogFiles, MAX_LINE, is_name};
use super::nearest::{
    members, module_of, only_near, only_quoted, parameters, quoted, quoted_alone, quoting,
};
use crate::languages::{facts, words};
use crate::model::Diagnosis;
use crate::policy::is_test;
use crate::source::Source;

const MAX_CANDIDATES: usize = 4;
/// Places looked at; for each all names of a kind may be read.
const MAX_FILES: usize = 256;

// A row of `witness.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    id: String,
    cue: String,
    pattern: String,
    #[serde(default)]
    edit: Edit,
    names: Option<Names>,
    #[expect(dead_code, reason = "for whoever reads the table")]
    seen: String,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

#[derive(Deserialize, Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Edit {
    #[default]
    Word,
    Listed,
    Quoted,
    Specifier,
    Type,
    Value,
    Await,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Names {
    Parameters,
    Members,
    Module,
    Choices,
    Quoted,
    Files,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    struct Table {
        row: Vec<Row>,
    }
    let read = crate::model::read_table::<Table>(embedded!("remedies/witness.toml"));
    read.map(|it| it.row).unwrap_or_default()
});

/// What the lines of a log propose, or are witnesses of: they name the place, what is wrong there and what is
/// right, or of what kind that is. Kept only when the commands pass with it, unless it says what the compiler asks
/// for.
pub(super) fn witnesses(log: &str, diagnosis: &Diagnosis, source: &dyn Source) -> Vec<Candidate> {
    let files = LogFiles::new(diagnosis, source, MAX_FILES);
    let mut found: Vec<Candidate> = Vec::new();
    let mut seen = BTreeSet::new();
    each(log, &mut |statement, frame| {
        // Many tests die of one word.
        if found.len() >= MAX_CANDIDATES
            || !seen.insert((&statement.row.id, statement.place(frame), statement.wrong))
        {
            return true;
        }
        let one = statement.candidate(&files, source, frame);
        let is_placed = one.is_some();
        found.extend(one.filter(|one| !found.contains(one)));
        is_placed
    });
    found
}

// What lines of a log say, each with the frame above, and where that is of no use with the one below: that is
// where pytest names the place.
fn each<'l>(log: &'l str, put: &mut dyn FnMut(&Statement<'l>, Frame<'l>) -> bool) {
    let mut frame: Frame<'_> = None;
    let mut open: Vec<Statement<'_>> = Vec::new();
    for line in log.lines().filter(|line| line.len() < MAX_LINE) {
        let line = line.strip_prefix("E ").unwrap_or(line).trim();
        if let Some(here) = python_frame(line) {
            frame = Some(here);
            for statement in open.drain(..) {
                put(&statement, frame);
            }
        }
        for row in ROWS.iter().filter(|row| line.contains(&row.cue)) {
            let Some(read) = row.read(line) else { continue };
            if !put(&read, frame) && read.path.is_none() {
                open.push(read);
            }
        }
    }
}

// The path and the line of a frame.
type Frame<'l> = Option<(&'l str, usize)>;

// What a line says.
#[derive(Clone)]
struct Statement<'l> {
    row: &'static Row,
    path: Option<&'l str>,
    line: Option<usize>,
    column: Option<usize>,
    wrong: &'l str,
    right: Option<&'l str>,
    of: &'l str,
    choices: &'l str,
}

impl Row {
    fn read<'l>(&'static self, line: &'l str) -> Option<Statement<'l>> {
        let pattern = self.compiled.get_or_init(|| Regex::new(&self.pattern).ok());
        let found: Captures<'l> = pattern.as_ref()?.captures(line)?;
        let group = |name: &str| found.name(name).map(|it| it.as_str());
        let number = |name: &str| group(name).and_then(|it| it.parse().ok());
        Some(Statement {
            row: self,
            path: group("path"),
            line: number("line"),
            column: number("column"),
            wrong: group("wrong").unwrap_or_default(),
            right: group("right"),
            of: group("of").unwrap_or_default(),
            choices: group("choices").unwrap_or_default(),
        })
    }
}

impl<'l> Statement<'l> {
    fn place(&self, frame: Option<(&'l str, usize)>) -> Option<(&'l str, usize)> {
        self.path.zip(self.line).or(frame)
    }

    fn candidate(
        &self,
        files: &LogFiles<'_>,
        source: &dyn Source,
        frame: Option<(&str, usize)>,
    ) -> Option<Candidate> {
        let named = || {
            let (path, line) = self.place(frame)?;
            Some((files.find(path)?, line))
        };
        let right = || match (self.right, self.row.names) {
            (Some(right), _) => (right != self.wrong).then(|| right.to_owned()),
            (None, Some(names)) => {
                let all = self.names(names, source);
                only_near(self.wrong, all.iter().map(String::as_str))
            }
            (None, None) => Some(String::new()),
        };
        match self.row.edit {
            Edit::Listed => self.listed(source),
            Edit::Quoted => quoted_alone(source, self.wrong, &right()?),
            edit => {
                let (place, line) = named()?;
                // A test may be what asks for something else.
                let guesses = self.right.is_none() && self.row.names.is_some();
                if guesses && is_test(place.path.as_str()) {
                    return None;
                }
                match self.column {
                    Some(column) => self.at(&place, place.offset(line, column)?, &right()?),
                    None if edit == Edit::Await => waits(&place, line, self.wrong),
                    None => word_on(&place, line, self.wrong, &right()?),
                }
            }
        }
    }

    // The edit at the byte that a compiler names.
    fn at(&self, place: &LogFile<'_>, start: usize, right: &str) -> Option<Candidate> {
        let wrong = self.wrong;
        let rest = place.text.get(start..)?;
        let stands = || {
            let after = rest.strip_prefix(wrong)?.chars().next();
            (!after.is_some_and(|char| is_name(&char.to_string()))).then_some(())
        };
        let (what, after, must_fix) = match self.row.edit {
            Edit::Specifier => {
                let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
                let end = rest.get(1..)?.find(quote)? + 1;
                let after = place.with(start + 1..start + end, right)?;
                (format!("the compiler says `{right}`"), after, false)
            }
            Edit::Type => {
                stands()?;
                let what = format!("import `{wrong}` as the type that it is");
                (what, place.with(start..start, "type ")?, false)
            }
            Edit::Value => {
                let what = format!("import `{wrong}` as the value that it is");
                (what, as_value(&place.text, wrong)?, false)
            }
            Edit::Await => (
                "wait for a promise".to_owned(),
                awaited(place, start)?,
                true,
            ),
            _ => {
                stands()?;
                let what = format!("the compiler suggests `{right}` for `{wrong}`");
                let after = place.with(start..start + wrong.len(), right)?;
                return respelling(place.heal(&what, &after, true)?, wrong, right);
            }
        };
        place.parses(&after).then_some(())?;
        place.heal(&what, &after, must_fix)
    }

    fn names(&self, names: Names, source: &dyn Source) -> BTreeSet<String> {
        match names {
            Names::Parameters => parameters(self.of, source),
            Names::Members => members(self.of, source),
            Names::Choices => {
                let all = self.choices.split(',').map(str::trim);
                all.map(str::to_owned).collect()
            }
            Names::Quoted => quoting(source)
                .flat_map(|(_, text)| quoted(&text).map(str::to_owned).collect::<Vec<_>>())
                .filter(|it| it != self.wrong)
                .collect(),
            Names::Files => {
                let count = self.wrong.split('/').count();
                let files = source.listing().files().map(|it| it.path.as_str());
                let ends = files.map(|path| {
                    let parts: Vec<&str> = path.split('/').collect();
                    let start = parts.len().saturating_sub(count);
                    parts.get(start..).unwrap_or_default().join("/")
                });
                ends.collect()
            }
            Names::Module => BTreeSet::new(),
        }
    }

    // The entry of a module's own list of what a star takes, where the module has one almost like it.
    fn listed(&self, source: &dyn Source) -> Option<Candidate> {
        let path = &module_of(source, self.of)?;
        let place = LogFile::of(path.clone(), source)?;
        let at = only_quoted(&place.text, self.wrong)?;
        place.text.get(..at)?.contains("__all__").then_some(())?;
        let facts = facts(path, place.text.as_bytes());
        let own = facts.definitions.iter().map(|it| it.name.as_str());
        let own = own.chain(facts.exports.iter().map(|it| it.name.as_str()));
        let right = only_near(self.wrong, own)?;
        let after = place.with(at..at + self.wrong.len(), &right)?;
        let what = format!("`{right}` for `{}` in `__all__`", self.wrong);
        place.heal(&what, &after, true)
    }
}

// One word of a line for another, where it stands once on it.
fn word_on(place: &LogFile<'_>, row: usize, wrong: &str, right: &str) -> Option<Candidate> {
    if !is_name(wrong) || !is_name(right) {
        return None;
    }
    let range = place.line(row)?;
    let line = place.text.get(range.clone())?;
    let mut places = words(line.as_bytes(), wrong);
    let (Some(at), None) = (places.next(), places.next()) else {
        return None;
    };
    let start = range.start + at;
    let after = place.with(start..start + wrong.len(), right)?;
    let what = format!("`{right}` is suggested for `{wrong}`");
    respelling(place.heal(&what, &after, true)?, wrong, right)
}

#[expect(clippy::unnecessary_wraps, reason = "the end of a chain of options")]
fn respelling(one: Candidate, wrong: &str, right: &str) -> Option<Candidate> {
    Some(Candidate {
        respells: Some((wrong.to_owned(), right.to_owned())),
        ..one
    })
}

#[cfg(test)]
mod tests {
    use super::{ROWS, witnesses};
    use crate::diagnose::{LogFacts, diagnose};
    use crate::model::RepoPath;
    use crate::source::{Memory, Source};

    // The lines that are added for a log about one file.
    fn healed(path: &str, text: &str, log: &str) -> Vec<String> {
        let file = RepoPath::new(path).unwrap();
        let cart = "class Cart:\n    def add(self, price: dict[str, int], *, count=f(1, 2)):\n        ...\n";
        let cart = (
            RepoPath::new("lib/cart.py").unwrap(),
            cart.as_bytes().to_vec(),
        );
        let source = Memory::new([(file, text.as_bytes().to_vec()), cart]);
        let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
        let found = witnesses(log, &diagnosis, &source);
        let added = found.iter().map(|heal| {
            assert!(heal.must_fix, "{}", heal.what);
            heal.added().join("|")
        });
        added.collect()
    }

    #[test]
    fn a_slip_in_a_keyword_is_one_in_a_parameter_of_that_function() {
        let error = |name: &str| {
            format!("TypeError: Cart.add() got an unexpected keyword argument '{name}'")
        };
        for (name, after) in [
            ("pirce", Some("    cart.add(price=1, count=2)")),
            ("volume", None),
            ("f", None),
        ] {
            let text = format!("def use(cart):\n    cart.add({name}=1, count=2)\n");
            for log in [
                format!(
                    "  File \"/w/src/use.py\", line 2, in use\n    x\n{}\n",
                    error(name)
                ),
                format!(
                    "tests/test_use.py:5: \n_ _ _\nE   {}\n\nsrc/use.py:2: TypeError\n",
                    error(name)
                ),
            ] {
                let expected: Vec<&str> = after.into_iter().collect();
                assert_eq!(healed("src/use.py", &text, &log), expected, "{log}");
                let log = log.replace("src/use.py", "tests/test_a.py");
                assert!(healed("tests/test_a.py", &text, &log).is_empty());
            }
        }
    }

    #[test]
    fn a_slip_in_a_member_is_one_of_its_class() {
        let text = |name: &str| {
            format!(
                "class Shop(Base):\n    def on_bind(self):\n        self.rates = {{}}\n        self.{name}\n"
            )
        };
        for (name, right) in [("on_bnid", "on_bind"), ("rtaes", "rates"), ("tax", "")] {
            for log in [
                format!(
                    "src/shop.py:4: in run\n    self.x\nE   AttributeError: 'Shop' object has no attribute '{name}'\n"
                ),
                format!(
                    "E   AttributeError: type object 'Shop' has no attribute '{name}'\n\nsrc/shop.py:4: AttributeError\n"
                ),
            ] {
                let right = (!right.is_empty()).then(|| format!("        self.{right}"));
                let expected: Vec<String> = right.into_iter().collect();
                assert_eq!(healed("src/shop.py", &text(name), &log), expected, "{log}");
            }
        }
    }

    #[test]
    fn a_slip_in_what_a_star_takes_is_told_by_the_module_itself() {
        let text = "__all__ = ['chunkd', 'take']\n\ndef chunked(it): ...\ndef take(it): ...\n";
        let log = "tests/test_more.py:1: in <module>\nE   AttributeError: module 'lib.more' has no \
                   attribute 'chunkd'\n";
        let healed = |text: &str| healed("src/lib/more.py", text, log);
        assert_eq!(healed(text), ["__all__ = ['chunked', 'take']"]);
        for other in [
            text.replace("def chunked", "def pieces"),
            text.replace("def take", "def chunks(it): ...\ndef take"),
            text.replace("__all__", "NAMES"),
        ] {
            assert!(healed(&other).is_empty(), "{other}");
        }
    }

    // The lines that a log about one file proposes.
    fn proposed(path: &str, text: &str, log: &str) -> Vec<String> {
        let source = Memory::named([(path, text)]);
        let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
        let found = witnesses(log, &diagnosis, &source);
        found.iter().map(|one| one.added().join("|")).collect()
    }

    #[test]
    fn every_row_can_be_read_and_holds_its_cue() {
        let ids: std::collections::BTreeSet<&str> = ROWS.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids.len(), ROWS.len());
        assert!(ids.len() > 15);
        for row in ROWS.iter() {
            assert!(regex::Regex::new(&row.pattern).is_ok(), "{}", row.id);
        }
    }

    #[test]
    fn a_word_of_the_log_that_is_quoted_once_is_one_that_is_nearly_quoted_elsewhere() {
        for (files, log, added) in [
            (
                &[
                    (
                        "polls/views.py",
                        "def show(r):\n    return render(r, 'polls/details.html')\n",
                    ),
                    ("polls/templates/polls/detail.html", "<p>\n"),
                ][..],
                "E   django.template.exceptions.TemplateDoesNotExist: polls/details.html\n",
                Some("    return render(r, 'polls/detail.html')"),
            ),
            (
                &[
                    ("polls/urls.py", "u = [path('r', v, name='result')]\n"),
                    (
                        "polls/views.py",
                        "def go():\n    return reverse('results')\n",
                    ),
                ],
                "E   django.urls.exceptions.NoReverseMatch: Reverse for 'results' not found. 'results' is not a valid view function or pattern name.\n",
                Some("    return reverse('result')"),
            ),
            (
                &[(
                    "app/models.py",
                    "class B:\n    __tablename__ = 'books'\n\n\nclass L:\n    b = ForeignKey('book.id')\n",
                )],
                "E   sqlalchemy.exc.NoReferencedTableError: Foreign key associated with column 'l.b' could not find table 'book' with which to generate a foreign key to target column 'id'\n",
                Some("    b = ForeignKey('books.id')"),
            ),
            // In two places; two that are as near; one of a test.
            (
                &[(
                    "a.py",
                    "reverse('results')\nreverse('results')\nname='result'\n",
                )],
                "E   NoReverseMatch: Reverse for 'results' not found.\n",
                None,
            ),
            (
                &[(
                    "a.py",
                    "reverse('results')\nname='result'\nname='resulte'\n",
                )],
                "E   NoReverseMatch: Reverse for 'results' not found.\n",
                None,
            ),
            (
                &[
                    ("tests/test_a.py", "reverse('results')\n"),
                    ("a.py", "name='result'\n"),
                ],
                "E   NoReverseMatch: Reverse for 'results' not found.\n",
                None,
            ),
        ] {
            let source = Memory::named(files.iter().copied());
            let diagnosis = diagnose(log, &LogFacts::default(), Some(source.listing()));
            let found = witnesses(log, &diagnosis, &source);
            let found: Vec<String> = found.iter().map(|one| one.added().join("|")).collect();
            let expected: Vec<&str> = added.into_iter().collect();
            assert_eq!(found, expected, "{log}");
        }
    }

    #[test]
    fn a_coroutine_that_nobody_awaits_is_awaited_where_that_can_be() {
        let log = "lib/notify.py:3: RuntimeWarning: coroutine 'Notifier.lent' was never awaited\n";
        let text = |head: &str| {
            format!(
                "class A:\n    {head}def go(self, it):\n        if it.lent(1):\n            pass\n"
            )
        };
        let found = proposed("lib/notify.py", &text("async "), log);
        assert_eq!(found, ["        if await it.lent(1):"]);
        assert!(proposed("lib/notify.py", &text(""), log).is_empty());
    }

    #[test]
    fn what_the_compiler_names_is_changed_at_its_place() {
        for (text, log, after) in [
            (
                "const a = 'x'\nexport const n = a.lenght\n",
                "src/a.ts(2,20): error TS2551: Property 'lenght' does not exist on type 'string'. Did you mean 'length'?\n",
                "export const n = a.length",
            ),
            (
                "const a = 'x'\nexport const n = a.lenght\n",
                "src/a.ts(2,19): error TS2551: Property 'lenght' does not exist on type 'string'. Did you mean 'length'?\n",
                "",
            ),
            (
                "class A {\n  go() { return load(1) }\n}\n",
                "src/a.ts(2,17): error TS2663: Cannot find name 'load'. Did you mean the instance member 'this.load'?\n",
                "  go() { return this.load(1) }",
            ),
            (
                "import { b } from './b';\nb();\n",
                "src/a.ts(1,19): error TS2835: Relative import paths need explicit file extensions in ECMAScript imports when '--moduleResolution' is 'node16' or 'nodenext'. Did you mean './b.js'?\n",
                "import { b } from './b.js';",
            ),
            (
                "import { b, Shape } from './b'\nb as Shape\n",
                "src/a.ts(1,13): error TS1484: 'Shape' is a type and must be imported using a type-only import when 'verbatimModuleSyntax' is enabled.\n",
                "import { b, type Shape } from './b'",
            ),
            (
                "import type { Table } from './b'\nclass A extends Table {}\n",
                "src/a.ts(2,17): error TS1361: 'Table' cannot be used as a value because it was imported using 'import type'.\n",
                "import { Table } from './b'",
            ),
            (
                "import { type Table, b } from './b'\nclass A extends Table {}\n",
                "src/a.ts(2,17): error TS1361: 'Table' cannot be used as a value because it was imported using 'import type'.\n",
                "import { Table, b } from './b'",
            ),
            (
                "async function f() {\n  return load(1, 'a').size\n}\n",
                "src/a.ts(2,23): error TS2339: Property 'size' does not exist on type 'Promise<Blob>'.\n",
                "  return (await load(1, 'a')).size",
            ),
            (
                "async function f() {\n  show(load())\n}\n",
                "src/a.ts(2,8): error TS2345: Argument of type 'Promise<string>' is not assignable to parameter of type 'string'.\n",
                "  show(await load())",
            ),
            (
                "function f() {\n  show(load())\n}\n",
                "src/a.ts(2,8): error TS2345: Argument of type 'Promise<string>' is not assignable to parameter of type 'string'.\n",
                "",
            ),
        ] {
            assert_eq!(proposed("src/a.ts", text, log).join("||"), after, "{log}");
        }
    }

    #[test]
    fn what_python_means_is_taken_where_the_word_stands_once() {
        let text = "class Job:\n    attempts = 0\n\ndef run(job):\n    job.attemps += 1\n";
        for log in [
            "Traceback (most recent call last):\n  File \"/w/src/a.py\", line 5, in run\n    job.attemps += 1\nAttributeError: 'Job' object has no attribute 'attemps'. Did you mean: 'attempts'?\n",
            "E   AttributeError: 'Job' object has no attribute 'attemps'. Did you mean: 'attempts'?\n\nsrc/a.py:5: AttributeError\n",
            "src/a.py:5: error: \"Job\" has no attribute \"attemps\"; maybe \"attempts\"?  [attr-defined]\n",
        ] {
            assert_eq!(
                proposed("src/a.py", text, log),
                ["    job.attempts += 1"],
                "{log}"
            );
        }
    }
}
