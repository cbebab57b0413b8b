use super::claimed::{mentioned, reached};
use crate::languages::{Resolver, syntax_errors};
use crate::model::{Diagnosis, MentionedFile, RepoPath};
use crate::source::Source;

// Files that are looked through.
const MAX_SEEN: usize = 200;

/// Puts the file that does not parse first: of those that a log names, else the only one among what
/// these import. Some runners name the file that they loaded instead, and `make` names its own.
pub(super) fn name_unparsed(diagnosis: &mut Diagnosis, source: &dyn Source) {
    let broken = |path: &RepoPath| {
        let text = source.read(path).ok()?;
        let line = syntax_errors(path, &text).first()?.line;
        Some((path.clone(), line))
    };
    let files = mentioned(diagnosis);
    let found = files.iter().find_map(broken).or_else(|| {
        let imported = reached(&Resolver::new(source), &files, MAX_SEEN, |_| true);
        let mut others = imported.iter().filter_map(|(path, _)| broken(path));
        others.next().filter(|_| others.next().is_none())
    });
    let Some((path, line)) = found else { return };
    let rows = &mut diagnosis.files;
    if rows.iter().all(|it| it.path != path.as_str()) {
        rows.insert(0, MentionedFile::at(&path, None));
    }
    rows.sort_by_key(|it| it.path != path.as_str());
    if let Some(first) = rows.first_mut() {
        first.line.get_or_insert(line);
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnose::{LogFacts, diagnose_in};
    use crate::model::FailureKind;
    use crate::source::Memory;

    #[test]
    fn the_file_that_does_not_parse_comes_first() {
        let cut = "export function b() {\n  return 1;\n";
        let whole = "export function b() {\n  return 1;\n}\n";
        let mocha = " Exception during run: SyntaxError[ @/w/test/a.test.js ]: Unexpected token '}'\n    \
                     at #asyncInstantiate (node:internal/modules/esm/module_job:326:21)\n";
        let make = "Compiling 'src/c.py'...\n***   File \"src/c.py\", line 2\n    x = (\n        ^\n\
                    SyntaxError: '(' was never closed\n\nmake: *** [Makefile:6: lint] Error 1\n";
        for (log, b, place) in [
            (mocha, cut, "src/b.js:2"),
            (mocha, whole, "test/a.test.js:0"),
            (make, whole, "src/c.py:2"),
        ] {
            let files = [
                ("Makefile", "lint:\n\tpython -m compileall src\n"),
                ("test/a.test.js", "import { a } from '../src/a.js';\na();\n"),
                ("src/a.js", "export { b as a } from './b.js';\n"),
                ("src/b.js", b),
                ("src/c.py", "import os\nx = (\n"),
            ];
            let source = Memory::named(files);
            let found = diagnose_in(log, &LogFacts::default(), &source);
            assert_eq!(found.kind, FailureKind::SyntaxError, "{log}");
            let first = &found.files[0];
            let line = first.line.unwrap_or_default();
            assert_eq!(format!("{}:{line}", first.path), place, "{log}");
        }
    }
}
