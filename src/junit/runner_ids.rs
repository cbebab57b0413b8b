use super::read::{Case, Enclosing};

// What reports call themselves, and the runner that writes them.
const ROOTS: [(&str, &str); 6] = [
    ("bun test", "bun"),
    ("deno", "deno"),
    ("jest tests", "jest"),
    ("Mocha", "mocha"),
    ("vitest tests", "vitest"),
    ("pytest tests", "pytest"),
];

/// Gives a test the name that its runner prints, and tells which runner that is.
pub(super) fn set_id(case: &mut Case, around: &Enclosing) {
    let suite = around.suites.last().map_or("", String::as_str);
    let root = ROOTS.iter().find(|(root, _)| around.root.starts_with(root));
    let title = playwright(&case.detail);
    case.runner = match root {
        Some((_, runner)) => Some(runner),
        None if suite == "pytest" => Some("pytest"),
        None if title.is_some() => Some("playwright"),
        None if around.is_go || is_go(case) => Some("go test"),
        None if case.class.contains('\\') => Some("phpunit"),
        None if case.class == "test" && suite.is_empty() => Some("node-test"),
        None => None,
    };
    let is_path = is_script(&case.class) || is_script(suite) || case.class.contains('/');
    let has_class = is_dotted(&case.class) && !case.name.starts_with(&case.class);
    case.id = match case.runner {
        Some("pytest") => pytest(case),
        Some("bun") => bun(case),
        Some("phpunit") => format!("{}::{}", case.class, case.name),
        Some("playwright") => title.unwrap_or_default(),
        None if !is_path && has_class => format!("{}.{}", case.class, case.name),
        _ => case.name.clone(),
    };
    // Its lines count from 0.
    if case.runner == Some("pytest") {
        case.line = case.line.map(|line| line.saturating_add(1));
    }
}

// Directories and classes of one test that are told apart.
const MOST_PARTS: usize = 64;

// `tests.test_a.T` and `test_x` are `tests/test_a.py::T::test_x`.
fn pytest(case: &Case) -> String {
    let dotted = if case.class.is_empty() {
        &case.name
    } else {
        &case.class
    };
    let parts: Vec<&str> = dotted.split('.').collect();
    let named = |count: usize| format!("{}.py", parts[..count].join("/"));
    let is_named = |path: &str| {
        case.file.as_deref() == Some(path) || case.detail.contains(&format!("{path}:"))
    };
    let is_class = |part: &&str| part.starts_with(|c: char| c.is_ascii_uppercase());
    let usual = parts
        .iter()
        .skip(1)
        .position(is_class)
        .map_or(parts.len(), |at| at + 1);
    let count = (1..=parts.len().min(MOST_PARTS))
        .rev()
        .find(|count| is_named(&named(*count)))
        .unwrap_or(usual);
    let mut id = named(count);
    for class in parts.get(count..).unwrap_or_default() {
        id.push_str("::");
        id.push_str(class);
    }
    // A file that could not be collected has no test.
    if !case.class.is_empty() {
        id.push_str("::");
        id.push_str(&case.name);
    }
    id
}

// It puts the heading of its own report first: `[chromium] › a.spec.ts:3:5 › page › opens ───`.
fn playwright(detail: &str) -> Option<String> {
    let first = detail.lines().find(|line| !line.trim().is_empty())?;
    let title = first.trim().trim_end_matches('─').trim_end();
    let mut parts = title.split(" › ");
    let place = parts.find(|part| !part.starts_with('['))?;
    let (file, _) = place.split_once(':')?;
    (is_script(file) && parts.next().is_some()).then(|| title.to_owned())
}

// Its suites become a class, the inner last.
fn bun(case: &Case) -> String {
    if case.class.is_empty() || is_script(&case.class) {
        case.name.clone()
    } else {
        format!("{} > {}", case.class.replace(" &gt; ", " > "), case.name)
    }
}

fn is_go(case: &Case) -> bool {
    ["Test", "Fuzz", "Example", "Benchmark"]
        .iter()
        .any(|start| case.name.starts_with(start))
        && case.class.contains('/')
        && !is_script(&case.class)
}

fn is_script(path: &str) -> bool {
    let end = path.rsplit('.').next().unwrap_or_default();
    path.contains('.')
        && [
            "ts", "tsx", "js", "jsx", "mjs", "cjs", "mts", "cts", "coffee", "vue",
        ]
        .contains(&end)
}

fn is_dotted(class: &str) -> bool {
    class.contains('.')
        && class.split('.').all(|part| {
            !part.is_empty()
                && part
                    .chars()
                    .all(|c| c.is_alphanumeric() || "_$".contains(c))
        })
}

#[cfg(test)]
mod tests {
    use crate::junit::{End, read_report};

    #[test]
    fn each_runner_spells_its_tests_and_says_where_they_stand() {
        for (report, runner, id, place) in [
            (
                r#"<testsuites name="pytest tests"><testsuite name="pytest"><testcase classname="tests.test_a.T" name="test_f[a&gt;1]"><failure message="a &gt; b">tests/test_a.py:3: AssertionError</failure></testcase></testsuite></testsuites>"#,
                Some("pytest"),
                "tests/test_a.py::T::test_f[a>1]",
                None,
            ),
            (
                r#"<testsuite name="pytest"><testcase classname="a.b" name="test_f" file="a/b.py" line="4"><error message="boom"/></testcase></testsuite>"#,
                Some("pytest"),
                "a/b.py::test_f",
                Some(("a/b.py", 5)),
            ),
            (
                r#"<testsuites name="pytest tests"><testsuite name="pytest"><testcase classname="" name="tests.test_u"><error message="collection failure">E</error></testcase></testsuite></testsuites>"#,
                Some("pytest"),
                "tests/test_u.py",
                None,
            ),
            (
                r#"<testsuites name="jest tests"><testsuite name="math"><testcase classname="math adds" name="math adds"><failure>Error: x</failure></testcase></testsuite></testsuites>"#,
                Some("jest"),
                "math adds",
                None,
            ),
            (
                r#"<testsuites name="vitest tests"><testsuite name="a.test.ts"><testcase classname="a.test.ts" name="queue &gt; waits"><failure message="m" type="AssertionError">x</failure></testcase></testsuite></testsuites>"#,
                Some("vitest"),
                "queue > waits",
                None,
            ),
            (
                r#"<testsuites name="Mocha Tests"><testsuite name="Net" file="/app/test/a.js"><testcase name="Net pings" classname="pings"><failure message="1 == 2" type="AssertionError"><![CDATA[at <x>]]></failure></testcase></testsuite></testsuites>"#,
                Some("mocha"),
                "Net pings",
                Some(("/app/test/a.js", 0)),
            ),
            (
                "<testsuites><testsuite name=\"a.spec.ts\"><testcase name=\"cart › totals\" classname=\"a.spec.ts\"><failure message=\"a.spec.ts:4:3 totals\"><![CDATA[  [api] › a.spec.ts:4:3 › cart › totals ────\n\n    Error: no]]></failure></testcase></testsuite></testsuites>",
                Some("playwright"),
                "[api] › a.spec.ts:4:3 › cart › totals",
                None,
            ),
            (
                r#"<testsuites><testsuite name="example.com/m/net"><properties><property name="go.version" value="go1.24"/></properties><testcase classname="example.com/m/net" name="TestA/one"><failure message="Failed">a_test.go:9: no</failure></testcase></testsuite></testsuites>"#,
                Some("go test"),
                "TestA/one",
                None,
            ),
            (
                r#"<testsuite name="com.x.NetTest"><testcase name="pings" classname="com.x.NetTest" time="0.1"><rerunFailure>a</rerunFailure><failure message="expected: 1" type="AssertionFailedError">at x</failure></testcase></testsuite>"#,
                None,
                "com.x.NetTest.pings",
                None,
            ),
        ] {
            let read = read_report(report);
            let case = read.failed().next().unwrap();
            assert!(read.whole, "{report}");
            assert_eq!((case.runner, case.id.as_str()), (runner, id), "{report}");
            let found = case.file.as_deref();
            let found = found.map(|file| (file, case.line.unwrap_or(0)));
            assert_eq!(found, place, "{report}");
        }
    }

    #[test]
    fn tests_that_passed_in_the_end_are_no_failures() {
        let read = read_report(
            r#"<testsuite name="com.x.T"><testcase name="a" classname="com.x.T"><flakyFailure message="m">x</flakyFailure></testcase><testcase name="b" classname="com.x.T"><skipped/></testcase></testsuite>"#,
        );
        let ends: Vec<End> = read.cases.iter().map(|case| case.end).collect();
        assert_eq!(ends, [End::Passed, End::Skipped]);
        assert!(read.whole);
    }

    #[test]
    fn hostile_reports_are_read_without_harm() {
        let bomb = format!(
            "<!DOCTYPE x [<!ENTITY a \"{}\"><!ENTITY b SYSTEM \"file:///etc/passwd\">]><testsuite><testcase name=\"&a;\"><failure message=\"&b;\">&a;&b;&#65;&lt;</failure></testcase></testsuite>",
            "x".repeat(1000)
        );
        let read = read_report(&bomb);
        let case = read.failed().next().unwrap();
        assert_eq!(
            (case.name.as_str(), case.detail.as_str()),
            ("&a;", "&a;&b;A<")
        );
        let half = &bomb[..bomb.len() - 30];
        assert!(!read_report(half).whole);
        for odd in [
            "",
            "not XML",
            "<a><b>",
            "<testcase",
            &"<testsuite>".repeat(100_000),
        ] {
            assert!(!read_report(odd).whole, "{}", odd.len());
            assert!(read_report(odd).cases.is_empty());
        }
        let long = format!(
            "<testsuite><testcase name=\"a\"><failure>{}</failure></testcase></testsuite>",
            "é".repeat(100_000)
        );
        assert!(read_report(&long).cases[0].detail.len() <= 16 << 10);
    }
}
