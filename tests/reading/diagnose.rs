//! What a caller relies on: kinds, places in the repository, root causes first.

use mendit::documents::{Diagnosis, FailureKind, RepoPath};
use mendit::internals::DiagnoseRule;
use mendit::internals::diagnose::{LogFacts, UserRules, diagnose, rule_page};
use mendit::internals::source::{Entry, EntryKind, Listing};

fn of(log: &str) -> Diagnosis {
    diagnose(log, &LogFacts::default(), None)
}

fn listing(paths: &[&str]) -> Listing {
    let entries = paths
        .iter()
        .map(|path| Entry {
            path: RepoPath::new(path).unwrap(),
            kind: EntryKind::File { executable: false },
            bytes: 1,
        })
        .collect();
    Listing::new(entries, Vec::new())
}

#[test]
fn an_unknown_tool_stays_unknown() {
    let diagnosis = of("flurble: the grommet is askew\n");
    assert_eq!(diagnosis.kind, FailureKind::Unknown);
    assert!(diagnosis.confidence < 0.01);
    assert!(
        !diagnosis.evidence.is_empty(),
        "the end of the log is shown"
    );
    assert_eq!(of("").kind, FailureKind::Unknown);
}

#[test]
fn the_place_or_the_error_before_each_line_is_no_wrapper() {
    let of_lines = |line: &str| {
        let numbered = |at: usize| line.replace("{}", &(at + 1).to_string()) + "\n";
        of(&(0..4).map(numbered).collect::<String>())
    };
    for (line, kind, path) in [
        (
            "a.py:{}: error: Name \"Bee\" is not defined  [name-defined]",
            FailureKind::ImportError,
            "a.py",
        ),
        (
            "a.py:{}:9: F821 undefined name 'Bee'",
            FailureKind::ImportError,
            "a.py",
        ),
        (
            "src/a.c:{}:5: error: 'x' undeclared",
            FailureKind::StaticTypeError,
            "src/a.c",
        ),
        (
            "./a.go:{}:5: undefined: x",
            FailureKind::ImportError,
            "a.go",
        ),
        (
            "src/A.java:{}: error: cannot find symbol",
            FailureKind::StaticTypeError,
            "src/A.java",
        ),
        (
            "ModuleNotFoundError: No module named 'yaml{}'",
            FailureKind::ImportError,
            "",
        ),
        (
            "bash: foo{}: command not found",
            FailureKind::CommandNotFound,
            "",
        ),
        (
            "/w/a.py:{}: NameError: name 'x' is not defined",
            FailureKind::ImportError,
            "/w/a.py",
        ),
        (
            "FAIL\texample.com/x{}\t0.005s",
            FailureKind::TestFailure,
            "",
        ),
        (
            "--- FAIL: TestA{} (0.00s)\nFAIL\texample.com/x\t0.005s",
            FailureKind::TestFailure,
            "",
        ),
    ] {
        let found = of_lines(line);
        assert_eq!(found.kind, kind, "{line}: {found:#?}");
        let first = found.files.first().map_or("", |it| it.path.as_str());
        assert_eq!(first, path, "{line}");
        assert_ne!(found.tool.as_deref(), Some("esbuild"), "{line}");
    }
}

#[test]
fn a_name_error_that_a_test_caught_is_an_undefined_name() {
    let log = concat!(
        "=========== FAILURES ===========\n________ test_a ________\n\n    def test_a(runner):\n>       assert not result.exception\n",
        "E       assert not NameError(\"name 'area' is not defined\")\n",
        "E        +  where NameError(\"name 'area' is not defined\") = <Result NameError(\"name 'area' is not defined\")>.exception\n\n",
        "tests/test_a.py:4: AssertionError\n",
        "________ test_b ________\n\n    def test_b(runner):\n>       assert result.exit_code == 0\n",
        "E       assert 1 == 0\n",
        "E        +  where 1 = <Result NameError(\"name 'area' is not defined\")>.exit_code\n\n",
        "tests/test_a.py:9: AssertionError\n",
        "=== short test summary info ===\nFAILED tests/test_a.py::test_a\nFAILED tests/test_a.py::test_b\n",
        "=== 2 failed in 0.02s ===\n",
    );
    let found = of(log);
    assert_eq!(found.kind, FailureKind::ImportError, "{found:#?}");
    assert_eq!(found.undefined_names, ["area"]);
    let wanted = log
        .replace("not NameError(", "x == NameError(")
        .replace("<Result NameError", "<Result Other");
    assert_eq!(of(&wanted).kind, FailureKind::TestFailure);
}

#[test]
fn modules_that_import_each_other_are_not_missing() {
    let found = of(
        "ImportError: cannot import name 'a' from partially initialized module 'm' (most likely due to a circular import) (/w/m.py)\n",
    );
    assert_eq!(found.subkind.unwrap().to_string(), "circular_import");
    assert!(found.missing_modules.is_empty());
}

#[test]
fn settings_that_do_not_parse_have_a_place() {
    let found = of(concat!(
        "failed to load config from /w/vitest.config.ts\n\n⎯⎯⎯⎯⎯⎯⎯ Startup Error ⎯⎯⎯⎯⎯⎯⎯⎯\n",
        "✘ [ERROR] Expected \",\" in JSON but found \"\\\"license\\\"\"\n\n    packages/zod/package.json:5:2:\n",
    ));
    assert_eq!(found.kind, FailureKind::SyntaxError, "{found:#?}");
    assert!(found.evidence[0].text.contains("in JSON but found"));
    let found = of(
        "ERROR: /w/pyproject.toml: Expected ']' at the end of a table declaration (at line 181, column 13)\n",
    );
    let place = &found.files[0];
    assert_eq!(
        (place.line, place.column),
        (Some(181), Some(13)),
        "{found:#?}"
    );
}

#[test]
fn what_the_command_line_names_is_for_a_person() {
    let log = "ERROR: file or directory not found: tests/test_utils.py\n";
    for (command, person) in [
        ("pytest -q ./tests/test_utils.py", true),
        ("pytest -q", false),
    ] {
        let facts = LogFacts {
            command: Some(command.to_owned()),
            ..LogFacts::default()
        };
        let found = diagnose(log, &facts, None);
        assert_eq!(found.requires_user_action, person, "{command}");
    }
    let refused = of(
        " ERROR  Refusing to run pnpm@10.12.1: its npm registry signature could not be verified\n",
    );
    assert_eq!(refused.kind, FailureKind::DependencyError);
    assert!(refused.requires_user_action);
}

#[test]
fn a_bare_name_out_of_quoted_source_is_no_place() {
    let log = concat!(
        "Traceback (most recent call last):\n  File \"/w/tests/test_a.py\", line 4, in test_a\n",
        "    run(\"out.txt\")\nTypeError: run() takes 0 positional arguments but 1 was given\n",
    );
    let listing = listing(&["tests/test_a.py"]);
    let found = diagnose(log, &LogFacts::default(), Some(&listing));
    let paths: Vec<&str> = found.files.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["tests/test_a.py"]);
}

#[test]
fn words_that_only_look_like_an_environment_are_no_evidence() {
    for log in [
        "processed 401 rows in 403 ms",
        "TypeError: f() missing 1 required positional argument: 'MAX_SIZE'",
        "src/a.ts(401,3): error TS2741: Property 'b' is missing in type '{}' but required in type 'B_C'.",
        "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'",
    ] {
        let kind = of(log).kind;
        assert!(
            !matches!(
                kind,
                FailureKind::AuthFailed | FailureKind::MissingEnvVar | FailureKind::CommandNotFound
            ),
            "{log}: {kind}"
        );
    }
}

#[test]
fn a_collection_error_outranks_two_hundred_failures() {
    let mut log = String::from(
        "____ ERROR collecting tests/test_m.py ____\ntests/test_m.py:1: in <module>\n    from app.models import Usr\nE   ImportError: cannot import name 'Usr' from 'app.models' (/__w/app/app/app/models.py)\n",
    );
    for index in 0..200 {
        log.push_str(&format!(
            "____ test_{index} ____\nE       assert 1 == 2\ntests/test_a.py:{index}: AssertionError\n"
        ));
    }
    let diagnosis = of(&log);
    assert_eq!(diagnosis.kind, FailureKind::ImportError);
    assert_eq!(diagnosis.missing_exports, ["Usr"]);
    assert_eq!(diagnosis.evidence[0].line, 4);
    assert_eq!(diagnosis.alternatives[0].kind, FailureKind::TestFailure);
}

#[test]
fn files_are_those_of_the_repository_nearest_to_the_error_first() {
    let log = "Traceback (most recent call last):\n  File \"/home/runner/work/a/a/run.py\", line 3, in <module>\n    main()\n  File \"/home/runner/work/a/a/src/a/core.py\", line 9, in main\n    helper()\n  File \"/opt/hostedtoolcache/Python/3.11.7/x64/lib/python3.11/site-packages/x/y.py\", line 1, in helper\nValueError: no\n";
    let listing = listing(&["run.py", "src/a/core.py", "y.py"]);
    let diagnosis = diagnose(log, &LogFacts::default(), Some(&listing));
    let files: Vec<_> = diagnosis
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.line, file.in_repository))
        .collect();
    assert_eq!(
        files,
        [("src/a/core.py", Some(9), true), ("run.py", Some(3), true)]
    );
}

#[test]
fn the_way_a_process_ended_speaks_when_the_log_does_not() {
    for (exit_code, timed_out, kind) in [
        (Some(127), false, FailureKind::CommandNotFound),
        (Some(-11), false, FailureKind::Crash),
        (Some(-9), false, FailureKind::Crash),
        (Some(137), false, FailureKind::Crash),
        (None, true, FailureKind::Timeout),
        (Some(1), false, FailureKind::Unknown),
    ] {
        let facts = LogFacts {
            exit_code,
            timed_out,
            ..LogFacts::default()
        };
        assert_eq!(diagnose("working\n", &facts, None).kind, kind);
    }
    // A kill alone does not say that memory ran out.
    let facts = LogFacts {
        exit_code: Some(-9),
        ..LogFacts::default()
    };
    let killed = diagnose("working\n", &facts, None);
    assert!(killed.explanation.starts_with("SIGKILL") && !killed.requires_user_action);
    let told = diagnose("Out of memory: Killed process 42 (node)\n", &facts, None);
    assert_eq!(told.kind, FailureKind::OutOfMemory);
}

#[test]
fn the_programs_own_output_is_not_the_failure() {
    let log = "____ test_a ____\nE       assert 1 == 2\ntests/test_a.py:3: AssertionError\n----- Captured stderr call -----\nModuleNotFoundError: No module named 'nope'\n==== short test summary info ====\nFAILED tests/test_a.py::test_a - assert 1 == 2\n";
    let diagnosis = of(log);
    assert_eq!(diagnosis.kind, FailureKind::TestFailure);
    assert_eq!(diagnosis.failing_tests, ["tests/test_a.py::test_a"]);
    assert!(diagnosis.missing_modules.is_empty());
}

#[test]
fn hostile_text_is_read_to_the_end() {
    for log in [
        "\u{1b}[".repeat(50_000),
        "a/".repeat(200_000),
        "Error: ".repeat(100_000),
        "(".repeat(300_000),
        "not ok 1 - x\n".repeat(50_000),
        "\u{0}\u{feff}\r\r\r\n".repeat(1000),
        "Traceback (most recent call last):\n".repeat(100_000),
        "1) a\n b\n".repeat(50_000),
    ] {
        let diagnosis = of(&log);
        assert!(diagnosis.evidence.len() <= 20 && diagnosis.files.len() <= 50);
    }
}

#[test]
fn the_first_failure_stands_before_its_followers() {
    let log = "##[group]Run ruff\nruff check\n##[endgroup]\na.py:1:1: F401 'os' imported but unused\n##[error]Process completed with exit code 1.\n##[group]Run pytest\npytest\n##[endgroup]\n==== FAILURES ====\n____ test_a ____\nE   assert 1 == 2\ntests/test_a.py:3: AssertionError\n==== short test summary info ====\nFAILED tests/test_a.py::test_a - assert 1 == 2\n##[error]Process completed with exit code 1.\nPost job cleanup.\n";
    let diagnosis = of(log);
    let kinds: Vec<FailureKind> = diagnosis.failures.iter().map(|it| it.kind).collect();
    assert_eq!(kinds, [FailureKind::LintError, FailureKind::TestFailure]);
    assert_eq!(diagnosis.kind, FailureKind::LintError);
    assert_eq!(diagnosis.failing_tests, ["tests/test_a.py::test_a"]);
}

#[test]
fn an_answer_names_its_rule_and_the_rule_has_a_page() {
    let diagnosis = of("ModuleNotFoundError: No module named 'app.core'\n");
    let rule = diagnosis.rule.unwrap();
    assert!(rule_page(&rule).unwrap().contains("No module named"));
}

#[test]
fn a_users_rule_is_asked_first() {
    let rule: DiagnoseRule = serde_json::from_value(serde_json::json!({
        "id": "flurble",
        "kind": "config_error",
        "pattern": "^flurble: (?<name>.+) is askew$",
        "example": "flurble: the grommet is askew",
    }))
    .unwrap();
    let facts = LogFacts {
        rules: std::sync::Arc::new(UserRules::new(&[rule]).unwrap()),
        ..LogFacts::default()
    };
    let log = "flurble: the grommet is askew\n";
    let diagnosis = diagnose(log, &facts, None);
    assert_eq!(diagnosis.kind, FailureKind::ConfigError);
    assert_eq!(diagnosis.rule.as_deref(), Some("flurble"));
}

#[test]
fn of_files_that_end_alike_the_one_in_the_named_package_is_meant() {
    let listing = listing(&["packages/a/src/x.ts", "packages/b/src/x.ts"]);
    for (banner, file) in [
        (
            "> b@1.0.0 build /home/runner/work/app/app/packages/b",
            "packages/b/src/x.ts",
        ),
        (
            "make[1]: Entering directory '/ci/app/packages/a'",
            "packages/a/src/x.ts",
        ),
        ("$ cd packages/b && npx tsc", "packages/b/src/x.ts"),
        ("packages/a build$ tsc", "packages/a/src/x.ts"),
    ] {
        let log = format!("{banner}\nsrc/x.ts(3,5): error TS2322: Type 'a' is not assignable.\n");
        let diagnosis = diagnose(&log, &LogFacts::default(), Some(&listing));
        assert_eq!(diagnosis.files[0].path, file, "{banner}");
        assert!(diagnosis.files[0].in_repository);
    }
}

#[test]
fn what_one_of_several_tests_died_of_is_lacking() {
    let log = " FAIL  test/a.test.ts > throws\nAssertionError: expected a thrown error to be TypeError: no\n ❯ \
               test/a.test.ts:9:1\n\n FAIL  test/a.test.ts > throws too\nAssertionError: expected 1 to be 2\n ❯ \
               test/a.test.ts:12:1\n\n FAIL  test/a.test.ts > makes\nTypeError: __vite_ssr_import_1__.$URL is not a \
               constructor\n ❯ test/a.test.ts:4:13\n\n Test Files  1 failed (1)\n      Tests  3 failed (3)\n";
    let found = of(log);
    assert_eq!(found.kind, FailureKind::TestFailure);
    assert_eq!(found.missing_exports, ["$URL"]);
}

#[test]
fn a_test_that_fails_and_errs_when_it_is_torn_down_is_one() {
    let log = "==== ERRORS ====\n____ ERROR at teardown of test_a ____\nE   UserWarning: unused\n\nconftest.py:3: \
               UserWarning\n==== FAILURES ====\n____ test_a ____\nE   KeyError: 'k'\n\na.py:7: KeyError\n==== short \
               test summary info ====\nFAILED t.py::test_a - KeyError: 'k'\nERROR t.py::test_a - UserWarning: \
               unused\n==== 1 failed, 1 error in 0.1s ====\n";
    let found = of(log).tests;
    let tests: Vec<_> = found
        .iter()
        .map(|it| (it.id.as_str(), it.message.as_deref()))
        .collect();
    assert_eq!(tests, [("t.py::test_a", Some("KeyError: 'k'"))]);
}

// pytest leaves one mark on each side of a title that fills the line.
#[test]
fn a_long_title_of_pytest_ends_the_report_before_it() {
    let log = "\
=================================== FAILURES ===================================
__________________________________ test_short __________________________________

E       AssertionError: assert 'short' in ''

tests/test_a.py:7: AssertionError
_ test_long[name_specs0-  -h, --help  Show this message and exit with nothing-True] _

E           AssertionError: assert 'long' in ''

tests/test_a.py:19: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_short - Assertio...
FAILED tests/test_a.py::test_long[name_specs0-  -h, --help  Show this message and exit with nothing-True]
2 failed in 0.10s
";
    let tests = of(log).tests;
    let told: Vec<_> = tests
        .iter()
        .map(|it| (it.line, it.message.as_deref().unwrap_or_default()))
        .collect();
    assert_eq!(
        told,
        [
            (Some(7), "AssertionError: assert 'short' in ''"),
            (Some(19), "AssertionError: assert 'long' in ''"),
        ]
    );
}

#[test]
fn a_report_is_of_the_test_that_its_whole_title_names() {
    let report = |title: &str, line: u32| {
        format!(
            "________ {title} ________\n\nE       assert {line} == 0\n\ntests/test_a.py:{line}: \
             AssertionError\n"
        )
    };
    let tests = ["A::test_x", "test_x", "B::test_x[1.5]", "test_x[1.5]"];
    let reports = [
        ("test_x", 3),
        ("A.test_x", 5),
        ("test_x[1.5]", 7),
        ("B.test_x[1.5]", 9),
    ];
    let reports: String = reports.iter().map(|(it, line)| report(it, *line)).collect();
    let summary: String = tests
        .iter()
        .map(|it| format!("FAILED tests/test_a.py::{it} - assert\n"))
        .collect();
    let log = format!("==== FAILURES ====\n{reports}==== short test summary info ====\n{summary}");
    let found = of(&log).tests;
    let mut lines: Vec<_> = found.iter().map(|it| (it.id.as_str(), it.line)).collect();
    lines.sort_by_key(|it| it.1);
    let ids: Vec<&str> = lines
        .iter()
        .filter_map(|it| it.0.strip_prefix("tests/test_a.py::"))
        .collect();
    assert_eq!(
        ids,
        ["test_x", "A::test_x", "test_x[1.5]", "B::test_x[1.5]"]
    );
}

#[test]
fn what_pytest_itself_died_of_is_read_like_any_error() {
    let log = "INTERNALERROR> Traceback (most recent call last):\nINTERNALERROR>   File \
               \"/w/app/url.py\", line 8, in parse\nINTERNALERROR>     re.compile(x)\n\
               INTERNALERROR> NameError: name 're' is not defined\n";
    let found = diagnose(log, &LogFacts::default(), Some(&listing(&["app/url.py"])));
    assert_eq!(found.undefined_names, ["re"]);
    assert_eq!(
        (found.files[0].path.as_str(), found.files[0].line),
        ("app/url.py", Some(8))
    );
    let log = log.replace("NameError: name 're' is not defined", "PluginError: x");
    assert_eq!(of(&log).subkind.unwrap().to_string(), "internal");
}

#[test]
fn what_vitest_passes_on_from_the_type_checker_is_a_type_error() {
    let log = "\
⎯⎯⎯⎯⎯⎯ Unhandled Errors ⎯⎯⎯⎯⎯⎯

Vitest caught 1 unhandled error during the test run.

⎯⎯⎯ Unhandled Source Error ⎯⎯⎯
TypeCheckError: Property 'remainder' does not exist on type 'Numbers'. Did you mean 'remaining'?
 ❯ src/checks.ts:194:18

 Test Files  1 passed (1)
      Tests  3 passed (3)
     Errors  1 error
";
    let found = of(log);
    assert_eq!(found.kind, FailureKind::StaticTypeError);
    assert!(found.evidence[0].text.contains("'remainder'"), "{found:?}");
}

const FIXTURE: &str = "==== ERRORS ====
____ ERROR at setup of test_a ____

    @pytest.fixture
    def cart():
>       return load()

tests/test_a.py:6:
_ _ _ _

>       return rows.frist()
E       AttributeError: 'list' object has no attribute 'frist'

src/shop/cart.py:3: AttributeError
==== short test summary info ====
ERROR tests/test_a.py::test_a - AttributeError: 'list' object has no attrib...
";

#[test]
fn an_exception_has_the_place_where_it_was_raised() {
    let files = listing(&["src/shop/cart.py", "tests/test_a.py", "tests/conftest.py"]);
    let found = diagnose(FIXTURE, &LogFacts::default(), Some(&files));
    assert_eq!(found.kind, FailureKind::RuntimeError);
    assert!(
        found
            .failures
            .iter()
            .all(|it| it.kind != FailureKind::TestSetupError)
    );
    let place = |test: &mendit::documents::FailedTest| {
        let test = test.clone();
        (test.path, test.line, test.crash_path, test.crash_line)
    };
    let text = |it: &str| Some(it.to_owned());
    let expected = (
        text("tests/test_a.py"),
        Some(6),
        text("src/shop/cart.py"),
        Some(3),
    );
    assert_eq!(place(&found.tests[0]), expected);
    // What fails in the fixture's own files is a set-up that fails.
    for own in ["tests/test_a.py", "tests/conftest.py"] {
        let log = FIXTURE.replace("src/shop/cart.py", own);
        let found = diagnose(&log, &LogFacts::default(), Some(&files));
        assert_eq!(found.kind, FailureKind::TestSetupError, "{own}");
        assert!(
            !found.explanation.contains("no test"),
            "{}",
            found.explanation
        );
    }
    // An expectation is the test's, whatever helper of the tests looks at it.
    let log = FIXTURE
        .replace("ERROR at setup of ", "")
        .replace(
            "src/shop/cart.py:3: AttributeError",
            "tests/conftest.py:3: AssertionError",
        )
        .replace(
            "AttributeError: 'list' object has no attribute 'frist'",
            "assert 1 == 2",
        );
    let found = diagnose(&log, &LogFacts::default(), Some(&files));
    assert_eq!(found.tests[0].crash_path, None, "{found:#?}");
}

#[test]
fn one_line_for_each_failure_is_that_of_its_test() {
    let log = "==== FAILURES ====\n/w/tests/test_a.py:4: AssertionError: assert 'a long one' == 'b'\n\
               /w/src/shop/cart.py:3: IndexError: list index out of range\n\
               ==== short test summary info ====\n\
               FAILED tests/test_a.py::test_a - AssertionError: assert 'a lo...\n\
               FAILED tests/test_a.py::test_b - IndexError: list index out of range\n";
    let files = listing(&["src/shop/cart.py", "tests/test_a.py"]);
    let found = diagnose(log, &LogFacts::default(), Some(&files));
    let said: Vec<_> = found
        .tests
        .iter()
        .filter_map(|it| it.message.as_deref())
        .collect();
    assert_eq!(
        said,
        [
            "AssertionError: assert 'a long one' == 'b'",
            "IndexError: list index out of range"
        ]
    );
    assert_eq!(found.tests[0].line, Some(4));
    assert_eq!(
        found.tests[1].crash_path.as_deref(),
        Some("src/shop/cart.py")
    );
    // Without them the summary says what it can.
    let log: String = log.lines().skip(3).map(|it| format!("{it}\n")).collect();
    let found = diagnose(&log, &LogFacts::default(), Some(&files));
    assert_eq!(
        found.tests[0].message.as_deref(),
        Some("AssertionError: assert 'a lo...")
    );
}

#[test]
fn a_file_of_tests_whose_process_ended_says_what_it_printed() {
    let point = |printed: &str, end: &str| {
        format!(
            "TAP version 13\nok 1 - before\n  ---\n  duration_ms: 1\n  ...\n{printed}# Subtest: /w/test/a.js\n\
             not ok 2 - /w/test/a.js\n  ---\n  duration_ms: 269.7\n  location: '/w/test/a.js:1:1'\n  \
             failureType: 'testCodeFailure'\n  {end}\n  error: 'test failed'\n  code: \
             'ERR_TEST_FAILURE'\n  ...\n1..2\n# tests 2\n# pass 1\n# fail 1\n"
        )
    };
    let exit = "exitCode: 1\n  signal: ~";
    for (log, said) in [
        (
            point(
                "# starting\n# error: unknown option '--pepper'\n# (Did you mean --paper?)\n",
                exit,
            ),
            "unknown option '--pepper'",
        ),
        (point("# no such shop\n", exit), "no such shop"),
        (point("", exit), "exitCode: 1"),
        (
            point("", "exitCode: ~\n  signal: 'SIGSEGV'"),
            "signal: 'SIGSEGV'",
        ),
    ] {
        let found = diagnose(&log, &LogFacts::default(), Some(&listing(&["test/a.js"])));
        assert_eq!(found.kind, FailureKind::RuntimeError, "{log}");
        assert_eq!(found.failing_tests, ["test/a.js"]);
        assert_eq!(found.tests[0].message.as_deref(), Some(said), "{log}");
    }
}

#[test]
fn a_test_has_the_message_of_its_own_report() {
    let ava = "  ✘ [fail]: total\n  ✘ [fail]: first Error thrown in test\n  ─\n\n  total\n\n  \
               test/a.js:3\n\n   2: if (x) {\n   3:   y:\n\n  Difference (- actual, + expected):\n\n  \
               - 5\n  + 6\n\n\n\n  first\n\n  Error thrown in test:\n\n  TypeError: x is not a \
               function\n      at first (file:///w/src/a.js:1:2)\n";
    let tap = "TAP version 13\nnot ok 1 - total\n  ---\n  location: '/w/test/a.js:5:2'\n  error: |-\n    \
               Expected values to be strictly equal:\n    \n    5 !== 6\n    \n  code: \
               'ERR_ASSERTION'\n  stack: |-\n    T.<anonymous> (file:///w/test/a.js:7:73)\n  ...\n\
               not ok 2 - first\n  ---\n  location: '/w/test/a.js:9:2'\n  error: \"x is not a \
               function\"\n  name: 'TypeError'\n  stack: |-\n    first (file:///w/src/a.js:1:2)\n  ...\n";
    let deno = "total ... FAILED (1ms)\nfirst ... FAILED (556µs)\n\n ERRORS \n\ntotal => \
                ./test/a.js:3:6\nerror: AssertionError: Expected values to be strictly equal:\n\n5 !== \
                6\n\n    at file:///w/test/a.js:3:9\n\nfirst => ./test/a.js:4:6\nerror: TypeError: x \
                is not a function\n    at first (file:///w/src/a.js:1:2)\n";
    for (log, total, line) in [
        (
            ava,
            "Difference (- actual, + expected): expected 6, received 5",
            3,
        ),
        (tap, "Expected values to be strictly equal: 5 !== 6", 7),
        (
            deno,
            "AssertionError: Expected values to be strictly equal: 5 !== 6",
            3,
        ),
    ] {
        let found = diagnose(
            log,
            &LogFacts::default(),
            Some(&listing(&["src/a.js", "test/a.js"])),
        );
        let said: Vec<_> = found
            .tests
            .iter()
            .filter_map(|it| it.message.as_deref())
            .collect();
        assert_eq!(said, [total, "TypeError: x is not a function"]);
        assert_eq!(found.tests[0].line, Some(line), "{log}");
        let first = &found.tests[1];
        let raised = first.crash_path.as_ref().or(first.path.as_ref());
        assert_eq!(raised.map(String::as_str), Some("src/a.js"), "{log}");
    }
}

#[test]
fn what_no_rule_knows_ends_with_its_last_words() {
    let passed = "tests/a.py::test_x PASSED\n".repeat(9);
    let bytes = "\u{fffd}y\u{fffd}\u{1}T\u{fffd}4\n".repeat(9);
    for (log, said) in [
        (passed.as_str(), vec![]),
        (bytes.as_str(), vec![]),
        ("one\ntwo\n\nthree\nfour\n", vec!["two", "three", "four"]),
    ] {
        let found = of(log);
        assert_eq!(found.kind, FailureKind::Unknown, "{log}");
        let texts: Vec<_> = found.evidence.iter().map(|it| it.text.as_str()).collect();
        assert_eq!(texts, said);
    }
    assert_eq!(of(" \n").explanation, "The log is empty.");
}

#[test]
fn pieces_of_addresses_and_of_test_data_are_no_files() {
    let log = "==== FAILURES ====\n____ test_a ____\nE       assert 1 == 2\n\ntests/test_a.py:3: \
               AssertionError\nDocs: https://docs.pytest.org/en/stable/how-to/capture.html\n\
               http://user:pass%20pass@request.com/url.html and /spec.json\n/tmp/pytest-1/t.txt\n\
               /other/lib/deep.py:9: in f\n";
    let files = listing(&["tests/test_a.py"]);
    let found = diagnose(log, &LogFacts::default(), Some(&files));
    let paths: Vec<_> = found.files.iter().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["tests/test_a.py", "/other/lib/deep.py"]);
}

#[test]
fn what_the_project_raises_itself_is_no_trouble_of_the_machine() {
    let raised = "_____ test_retry _____\n\n    async def fetch(path):\n>           raise ConnectionError(\"no route\")\nE           ConnectionError: no route\n\ntests/test_a.py:19: ConnectionError\n==== short test summary info ====\nFAILED tests/test_a.py::test_retry - ConnectionError: no route\n";
    let log = format!("==== FAILURES ====\n{raised}");
    assert_eq!(of(&log).kind, FailureKind::RuntimeError);
    let of_library = log.replace(
        "tests/test_a.py:19:",
        "lib/python3.11/site-packages/n.py:19:",
    );
    assert_eq!(of(&of_library).kind, FailureKind::NetworkError);
    let traceback = |file: &str, why: &str| {
        let last = format!("  File \"{file}\", line 3, in f\n    raise MemoryError\nMemoryError\n");
        of(&format!("Traceback (most recent call last):\n{why}{last}")).kind
    };
    assert_eq!(traceback("app/a.py", ""), FailureKind::RuntimeError);
    let chained =
        "OSError: x\n\nThe above exception was the direct cause of the following exception:\n\n";
    assert_eq!(traceback("app/a.py", chained), FailureKind::OutOfMemory);
    assert_eq!(
        traceback("/usr/lib/python3.11/a.py", ""),
        FailureKind::OutOfMemory
    );
}

#[test]
fn a_report_without_a_traceback_is_told_whole() {
    let log = "==== FAILURES ====\n_____ test_rates _____\nasync def functions are not natively supported.\nYou need to install a suitable plugin for your async framework, for example:\n  - anyio\n==== short test summary info ====\nFAILED tests/test_a.py::test_rates - Failed: async def functions are no...\n";
    let diagnosis = of(log);
    assert_eq!(diagnosis.kind, FailureKind::ConfigError);
    let said = "async def functions are not natively supported.";
    assert_eq!(diagnosis.tests[0].message.as_deref(), Some(said));
    let log = "==== ERRORS ====\n___ ERROR collecting tests/test_a.py ___\n'slow' not found in `markers` configuration option\n==== short test summary info ====\nERROR tests/test_a.py - Failed: 'slow' not found in `markers` configurati...\n";
    assert_eq!(of(log).kind, FailureKind::ConfigError);
}

#[test]
fn a_threshold_of_coverage_is_no_failed_expectation() {
    for line in [
        "FAIL Required test coverage of 100% not reached. Total coverage: 99.19%",
        "Coverage failure: total of 99 is less than fail-under=100",
        "ERROR: Coverage for lines (96.55%) does not meet global threshold (100%)",
        "Jest: \"global\" coverage threshold for lines (90%) not met: 80%",
    ] {
        let diagnosis = of(&format!("24 passed in 1.38s\n{line}\n"));
        let subkind = diagnosis.subkind.map(|it| it.to_string());
        let told = (diagnosis.kind, subkind.as_deref());
        assert_eq!(told, (FailureKind::TestFailure, Some("coverage")), "{line}");
    }
}

#[test]
fn an_option_that_the_compiler_does_not_know_comes_before_what_follows_of_it() {
    let log = "src/a.ts(1,20): error TS2792: Cannot find module 'vitest'.\ntsconfig.json(1,84): error TS6046: Argument for '--moduleResolution' option must be: 'node10', 'bundler'.\n";
    let diagnosis = of(log);
    assert_eq!(diagnosis.kind, FailureKind::ConfigError);
    assert_eq!(diagnosis.files[0].path, "tsconfig.json");
}
