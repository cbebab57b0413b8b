use crate::languages::Exchange;
use crate::model::RepoPath;

/// Where runners keep what a test of a file compares with.
pub(super) fn files_of(path: &RepoPath) -> Vec<RepoPath> {
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |it| it.0);
    let folder = match path.directory() {
        "" => String::new(),
        folder => format!("{folder}/"),
    };
    let names = [format!("{name}.snap"), format!("{stem}.ambr")];
    let paths = names
        .iter()
        .filter_map(|it| RepoPath::new(&format!("{folder}__snapshots__/{it}")).ok());
    paths.collect()
}

/// What of a file of snapshots is of the test of these names, each with its line and one changed line.
pub(super) fn exchanges(text: &str, names: &[String]) -> Vec<(u32, Exchange)> {
    let written = [" ", " > ", "."].map(|it| names.join(it));
    let is_own = |key: &str| {
        let rest = written.iter().find_map(|it| key.strip_prefix(it.as_str()));
        // The first of a test is `adds 1`, or `adds`, of a table `adds[1]`.
        rest.is_some_and(|rest| {
            rest.trim_matches(|it: char| it == ' ' || it.is_ascii_digit())
                .is_empty()
                || rest.starts_with('[')
        })
    };
    let mut found = Vec::new();
    let mut start = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let next = start + line.len();
        let script = line
            .strip_prefix("exports[`")
            .and_then(|it| it.split_once("`] = `"));
        let python = line.strip_prefix("# name: ");
        let end = match (script, python) {
            (Some((key, rest)), _) if is_own(key) => {
                let body = next - rest.len();
                text.get(body..)
                    .and_then(|it| it.find("`;"))
                    .map(|it| body + it)
            }
            (_, Some(key)) if is_own(key.trim_end()) => text
                .get(next..)
                .and_then(|it| it.find('\n'))
                .map(|it| next + it),
            _ => None,
        };
        if let Some(end) = end {
            let exchange = Exchange {
                place: end..end,
                was: line.trim_end().to_owned(),
                other: "~7919".to_owned(),
                raises: None,
            };
            found.push((number, exchange));
        }
        start = next;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{exchanges, files_of};
    use crate::model::RepoPath;

    #[test]
    fn snapshots_of_a_test_are_exchanged_by_one_line() {
        let script = "// v1\n\nexports[`shop adds 1`] = `42`;\n\nexports[`shop adds more 1`] = `1`;\n\nexports[`shop adds 2`] = `\n{\n  a\n}\n`;\n";
        let python = "# serializer version: 1\n# name: TestShop.test_a\n  1\n# ---\n# name: TestShop.test_ab\n  2\n# ---\n";
        for (text, names, expected) in [
            (
                script,
                ["shop", "adds"],
                &[(3, "= `42~7919`;"), (7, "\n}\n~7919`;")][..],
            ),
            (
                python,
                ["TestShop", "test_a"],
                &[(2, "test_a\n  1~7919\n# ---")],
            ),
        ] {
            let names = names.map(str::to_owned);
            let found = exchanges(text, &names);
            assert_eq!(found.len(), expected.len());
            for ((line, exchange), (at, held)) in found.into_iter().zip(expected) {
                let mut changed = text.to_owned();
                changed.replace_range(exchange.place, &exchange.other);
                assert_eq!(line, *at);
                assert!(changed.contains(held), "{changed}");
            }
        }
        let paths = files_of(&RepoPath::new("tests/a.test.ts").unwrap());
        let paths: Vec<&str> = paths.iter().map(RepoPath::as_str).collect();
        assert_eq!(
            paths,
            [
                "tests/__snapshots__/a.test.ts.snap",
                "tests/__snapshots__/a.test.ambr"
            ]
        );
    }
}
