use std::collections::BTreeSet;
use std::sync::Arc;

use super::compiler_heals::{python_frame, word_on};
use super::edit_heal::{LogFile, LogFiles, MAX_LINE, is_name};
use super::heals::HealPatch;
use crate::hint::distance;
use crate::languages::{Language, PYTHON, facts};
use crate::model::Diagnosis;
use crate::policy::is_test;
use crate::source::Source;

/// Longest list of parameters that is read, in bytes.
const MAX_LIST: usize = 2_000;
/// Places looked at; for each all parameters of the repository are read.
const MAX_FILES: usize = 8;

/// A slip of the finger in a name that only one other of the repository is like: a keyword of a call,
/// a member, an entry of `__all__`. Kept only when the commands pass with it.
pub(super) fn spelling_heals(
    log: &str,
    diagnosis: &Diagnosis,
    source: &dyn Source,
) -> Vec<HealPatch> {
    let files = LogFiles::new(diagnosis, source, MAX_FILES);
    let parameters = |name: &str| parameters(name, source);
    let members = |name: &str| members(name, source);
    let found = [
        at_its_frame(log, &files, keyword, &parameters),
        at_its_frame(log, &files, member, &members),
        unbound(log, source),
    ];
    found.into_iter().flatten().collect()
}

// What a line of a log says is not there: the function or class that lacks it, and its name.
type Lacking = (String, String);

// `TypeError: Cart.add() got an unexpected keyword argument 'pirce'`.
fn keyword(line: &str) -> Option<Lacking> {
    let (_, rest) = line.split_once("TypeError: ")?;
    let (function, rest) = rest.split_once("() got an unexpected keyword argument '")?;
    let (wrong, _) = rest.split_once('\'')?;
    let name = function.rsplit('.').next()?;
    (is_name(wrong) && is_name(name)).then(|| (name.to_owned(), wrong.to_owned()))
}

// `AttributeError: 'Cart' object has no attribute 'pirce'`.
fn member(line: &str) -> Option<Lacking> {
    let (_, rest) = line.split_once("AttributeError: ")?;
    let rest = rest.strip_prefix("type object ").unwrap_or(rest);
    let (class, rest) = rest.strip_prefix('\'')?.split_once('\'')?;
    let rest = rest.trim_start_matches(" object");
    let (wrong, _) = rest.strip_prefix(" has no attribute '")?.split_once('\'')?;
    (is_name(wrong) && is_name(class)).then(|| (class.to_owned(), wrong.to_owned()))
}

// The name that is meant where the frame stands, above or below what the log says.
fn at_its_frame(
    log: &str,
    files: &LogFiles<'_>,
    said: fn(&str) -> Option<Lacking>,
    names: &dyn Fn(&str) -> BTreeSet<String>,
) -> Option<HealPatch> {
    let lines = log.lines().filter(|line| line.len() < MAX_LINE);
    let mut frame: Option<(&str, usize)> = None;
    let mut open: Option<Lacking> = None;
    for line in lines {
        let line = line.strip_prefix('E').unwrap_or(line).trim();
        let here = python_frame(line);
        frame = here.or(frame);
        let found = said(line);
        let ends = here.is_some() && open.is_some();
        if found.is_none() && !ends {
            continue;
        }
        open = found.or(open);
        let (Some((name, wrong)), Some((path, row))) = (&open, frame) else {
            continue;
        };
        // A test may be what asks for something else.
        let place = files.find(path);
        let place = place.filter(|it| !is_test(it.path.as_str()));
        let heal = place.and_then(|place| {
            let right = only_near(wrong, names(name).iter().map(String::as_str))?;
            word_on(&place, row, wrong, &right)
        });
        if heal.is_some() || ends {
            return heal;
        }
    }
    None
}

// What the files have after `def` and `self.` that define a class of that name.
fn members(class: &str, source: &dyn Source) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let starts = [format!("class {class}("), format!("class {class}:")];
    for bytes in python_files(source) {
        let has = |it: &String| memchr::memmem::find(&bytes, it.as_bytes()).is_some();
        if !starts.iter().any(has) {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        for word in ["def ", "self."] {
            let tails = text.split(word).skip(1);
            let ends = |it: char| !(it.is_alphanumeric() || it == '_');
            let names = tails.filter_map(|it| it.split(ends).next());
            found.extend(names.filter(|it| is_name(it)).map(str::to_owned));
        }
    }
    found
}

fn python_files(source: &dyn Source) -> impl Iterator<Item = Arc<[u8]>> {
    let files = source.listing().files().map(|entry| &entry.path);
    let files = files.filter(|it| Language::of_path(it.as_str()) == Some(&PYTHON));
    files.filter_map(|path| source.read(path).ok())
}

// Of all functions of that name: which is called, the log does not say.
fn parameters(name: &str, source: &dyn Source) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let start = format!("def {name}(");
    for bytes in python_files(source) {
        for at in memchr::memmem::find_iter(&bytes, start.as_bytes()) {
            let list = bytes.get(at + start.len()..).unwrap_or_default();
            let list = list.get(..MAX_LIST.min(list.len())).unwrap_or_default();
            found.extend(named(&String::from_utf8_lossy(list)));
        }
    }
    found
}

// The names of a list of parameters, up to the bracket that closes it.
fn named(list: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let mut part = String::new();
    let mut found = Vec::new();
    for char in list.chars() {
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' if depth == 0 => break,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => found.push(std::mem::take(&mut part)),
            _ if depth == 0 => part.push(char),
            _ => {}
        }
    }
    found.push(part);
    let name = |part: String| part.split([':', '=']).next().map(|it| it.trim().to_owned());
    let names = found.into_iter().filter_map(name);
    names.filter(|it| is_name(it)).collect()
}

// The name that is nearest to another, when no second one is as near.
fn only_near<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    let near: BTreeSet<(usize, &str)> = names
        .filter_map(|name| Some((distance(wrong, name)?, name)))
        .collect();
    let mut near = near.into_iter();
    let (edits, right) = near.next()?;
    let rival = near.next().is_some_and(|(other, _)| other == edits);
    (!rival).then(|| right.to_owned())
}

// `AttributeError: module 'a.b' has no attribute 'x'`, where the module's own list of what a star
// takes holds the name once and the module has one almost like it.
fn unbound(log: &str, source: &dyn Source) -> Option<HealPatch> {
    let lines = log.lines().filter(|line| line.len() < MAX_LINE);
    let said = |line: &str| {
        let (_, rest) = line.split_once("AttributeError: module '")?;
        let (module, rest) = rest.split_once("' has no attribute '")?;
        let (name, _) = rest.split_once('\'')?;
        is_name(name).then(|| (module.replace('.', "/"), name.to_owned()))
    };
    let (module, wrong) = lines.into_iter().find_map(said)?;
    let file = |path: &str| {
        let ends = [format!("{module}.py"), format!("{module}/__init__.py")];
        let below = |end: &String| path == end || path.ends_with(&format!("/{end}"));
        ends.iter().any(below)
    };
    let mut files = source.listing().files().map(|entry| &entry.path);
    let (Some(path), None) = (
        files.find(|it| file(it.as_str())),
        files.find(|it| file(it.as_str())),
    ) else {
        return None;
    };
    let place = LogFile::of(path.clone(), source)?;
    let quotes = ['\'', '"'].map(|quote| format!("{quote}{wrong}{quote}"));
    let mut found = quotes
        .iter()
        .flat_map(|it| place.text.match_indices(it.as_str()));
    let (Some((at, _)), None) = (found.next(), found.next()) else {
        return None;
    };
    place.text.get(..at)?.contains("__all__").then_some(())?;
    let facts = facts(path, place.text.as_bytes());
    let own = facts.definitions.iter().map(|it| it.name.as_str());
    let own = own.chain(facts.exports.iter().map(|it| it.name.as_str()));
    let right = only_near(&wrong, own)?;
    let after = place.with(at + 1..at + 1 + wrong.len(), &right)?;
    let what = format!("`{right}` for `{wrong}` in `__all__`");
    place.heal(&what, &after, true)
}

#[cfg(test)]
mod tests {
    use super::spelling_heals;
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
        let found = spelling_heals(log, &diagnosis, &source);
        let added = found.iter().map(|heal| {
            assert!(heal.must_fix, "{}", heal.what);
            heal.added().join("|")
        });
        added.collect()
    }

    #[test]
    fn a_slip_in_a_keyword_is_one_in_a_parameter_of_that_function() {
        let said = |name: &str| {
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
                    said(name)
                ),
                format!(
                    "tests/test_use.py:5: \n_ _ _\nE   {}\n\nsrc/use.py:2: TypeError\n",
                    said(name)
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
}
