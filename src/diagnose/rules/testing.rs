use super::super::finding::Rule;
use super::rules;

pub(super) const PYTEST: &[Rule] = rules! {
    TestSetupError "fixture_not_found" 68 | "fixture '" | r"^E\s+fixture '[^']+' not found",
        "E       fixture 'db' not found", "the test asks for a fixture that nothing provides";
    TestSetupError "fixture_not_found" 67 | "recursive dependency involving fixture" | r"recursive dependency involving fixture",
        "E       recursive dependency involving fixture 'a' detected", "fixtures need each other";
    TestSetupError "" 67 | "ScopeMismatch" | r"ScopeMismatch: ",
        "ScopeMismatch: You tried to access the function scoped fixture x", "a wide fixture needs a narrow one";
    TestSetupError "" 45 | " ERROR at " | r"^_{3,} ERROR at (?:setup|teardown) of ",
        "____ ERROR at setup of test_c ____", "the test's surroundings failed, not its body";
    TestSetupError "no_tests" 22 | "no tests ran" | r"^[= ]*no tests ran in ",
        "no tests ran in 0.02s", "nothing was collected";
    TestSetupError "no_tests" 22 | "collected 0 items" | r"collected 0 items\s*$",
        "collected 0 items", "nothing was collected";
    ConfigError "import_file_mismatch" 83 | "import file mismatch" | r"import file mismatch:",
        "import file mismatch:", "two test files share one module name";
    ConfigError "" 82 | "error: unrecognized arguments" | r"error: unrecognized arguments: ",
        "python -m pytest: error: unrecognized arguments: --cov=app", "an option that nothing installed provides";
    ConfigError "" 60 | "ERROR: usage: " | r"^ERROR: usage: ",
        "ERROR: usage: pytest [options] [file_or_dir]", "the command line is wrong";
    ConfigError "" 81 | "not found in `markers`" | r"'[^']+' not found in `markers` configuration option",
        "'slow' not found in `markers` configuration option", "an unregistered marker under strict rules";
    ConfigError "" 80 | "PytestConfigWarning: " | r"^E?\s*(?:ERROR: |pytest\.)?PytestConfigWarning: ",
        "pytest.PytestConfigWarning: Unknown config option: foo", "the settings are wrong";
    FileNotFound "" 78 | "ERROR: file or directory not found" | r"^ERROR: file or directory not found: (?<path>\S+)",
        "ERROR: file or directory not found: tests/test_gone.py", "the path on the command line does not exist";
    ConfigError "" 77 | "ERROR: not found: " | r"^ERROR: (?:not found|found no collectors for): ",
        "ERROR: not found: /a/tests/test_a.py::test_gone", "the test on the command line does not exist";
    Timeout "test" 72 | "from pytest-timeout" | r"Timeout \(?>[\d.]+ ?s\)? from pytest-timeout",
        "E           Failed: Timeout (>1.0s) from pytest-timeout.", "the test's own limit";
    Timeout "test" 72 | "Timeout >" | r"^(?:E\s+)?Failed: Timeout >[\d.]+s",
        "E           Failed: Timeout >1.0s", "the test's own limit, older words";
    Timeout "test" 94 | "+++ Timeout +++" | r"\+{5,} Timeout \+{5,}",
        "+++++++++++++++++ Timeout +++++++++++++++++", "the limit's thread method ends the whole process";
    SnapshotMismatch "" 33 | "snapshot" | r"^E\s+.*(?:[Ss]napshot .* does not (?:exist|match)|\[\+ (?:failed|diff))|^\d+ snapshots? failed",
        "1 snapshot failed.", "a stored snapshot differs";
    TestFailure "" 24 | "FAILED " | r"^FAILED \S+::",
        "FAILED tests/test_a.py::test_a", "the summary alone";
    TestFailure "" 23 | " FAILED" | r"^\S+\.py::.+ FAILED\b",
        "tests/test_cart.py::TestCart::test_total FAILED   [ 66%]", "the progress line alone";
    TestFailure "" 20 | " failed" | r"^=*\s*\d+ failed\b.* in [\d.]+s",
        "2 failed, 1 passed in 0.41s", "the count alone";
};

pub(super) const UNITTEST: &[Rule] = rules! {
    TestFailure "" 24 | "FAIL: " | r"^FAIL: \w+ \(",
        "FAIL: test_sum (test_a.TestA.test_sum)", "a heading of unittest";
    TestSetupError "" 45 | "ERROR: " | r"^ERROR: (?:setUpClass|tearDownClass|setUpModule|tearDownModule) \(",
        "ERROR: setUpClass (test_a.TestA)", "the class's surroundings failed";
    TestSetupError "no_tests" 22 | "NO TESTS RAN" | r"^NO TESTS RAN",
        "NO TESTS RAN (0 tests)", "nothing was collected";
    TestFailure "" 20 | "FAILED (" | r"^FAILED \((?:failures|errors)=",
        "FAILED (failures=1)", "the count alone";
};

pub(super) const JEST: &[Rule] = rules! {
    ImportError "missing_module" 72 | "Cannot find module" | r"^\s*Cannot find module '(?<module>[^']+)' from '(?<path>[^']+)'",
        "    Cannot find module './lib/nope' from 'a.test.js'", "jest's resolver";
    ImportError "module_system" 82 | "ES Module" | r"Must use import to load ES Module: ",
        "    Must use import to load ES Module: /a/e.test.js", "an ES module was required";
    ImportError "module_system" 82 | "Cannot use import statement outside a module" | r"SyntaxError: Cannot use import statement outside a module",
        "    SyntaxError: Cannot use import statement outside a module", "the file was read as CommonJS";
    ImportError "module_system" 82 | "Unexpected token 'export'" | r"SyntaxError: Unexpected token 'export'",
        "    SyntaxError: Unexpected token 'export'", "the file was read as CommonJS";
    ConfigError "" 83 | "Could not locate module" | r"^\s*Could not locate module (?<module>\S+) mapped as:",
        "    Could not locate module @/k mapped as:", "moduleNameMapper points nowhere";
    ConfigError "" 84 | "Validation Error:" | r"● Validation Error:",
        "● Validation Error:", "jest refuses its configuration";
    ConfigError "" 84 | "Preset " | r"^\s*Preset \S+ (?:not found|is invalid)",
        "  Preset ts-jest not found.", "jest refuses its configuration";
    SyntaxError "" 78 | "Jest encountered an unexpected token" | r"Jest encountered an unexpected token",
        "    Jest encountered an unexpected token", "the file does not parse as configured";
    TestSetupError "no_tests" 50 | "Your test suite must contain at least one test" | r"Your test suite must contain at least one test",
        "    Your test suite must contain at least one test.", "a test file without tests";
    TestSetupError "no_tests" 50 | "No tests found, exiting with code 1" | r"No tests found, exiting with code 1",
        "No tests found, exiting with code 1", "the pattern matches no file";
    Timeout "test" 72 | "Exceeded timeout of" | r"[Ee]xceeded timeout of [\d.,]+ ?ms for a (?:test|hook)",
        "    thrown: \"Exceeded timeout of 5000 ms for a test.", "the test's own limit";
    SnapshotMismatch "" 35 | "toMatch" | r"expect\(.*\)\.(?:toMatch(?:Inline|File)?Snapshot|toThrowErrorMatching(?:Inline)?Snapshot|toHaveScreenshot)\(",
        "    expect(received).toMatchSnapshot()", "a stored snapshot differs";
    SnapshotMismatch "" 34 | "snapshot" | r"› \d+ snapshots? (?:failed|written|obsolete) from|New snapshot was not written",
        " › 1 snapshot failed from 1 test suite.", "a stored snapshot differs";
    TestFailure "" 30 | "expect(" | r"^\s*(?:Error: |JestAssertionError: )?expect\(.*\)\.(?:(?:not|resolves|rejects)\.)*to\w+\(",
        "    expect(received).toBe(expected) // Object.is equality", "an expectation did not hold";
    TestFailure "" 20 | "Tests:" | r"^Tests:\s+\d+ failed",
        "Tests:       1 failed, 1 total", "the count alone";
};

pub(super) const VITEST: &[Rule] = rules! {
    ImportError "missing_module" 72 | "Failed to resolve import" | "Failed to resolve import \"(?<module>[^\"]+)\" from \"(?<path>[^\"]+)\"",
        "Error: Failed to resolve import \"./gone\" from \"src/a.test.ts\". Does the file exist?", "vite's resolver";
    ImportError "missing_module" 72 | "Failed to load url" | r"Failed to load url (?<module>\S+) \(resolved id: [^)]*\)(?: in (?<path>\S+?)\.? )?",
        "Error: Failed to load url ./gone (resolved id: ./gone) in /a/src/a.test.ts. Does the file exist?", "vite's resolver";
    ConfigError "" 86 | "ailed to load config from" | r"[Ff]ailed to load config from (?<path>\S+)",
        "failed to load config from /__w/app/app/vitest.config.ts", "nothing runs before the configuration loads";
    ConfigError "" 85 | "Startup Error" | r"⎯ Startup Error ⎯",
        "⎯⎯⎯⎯⎯⎯⎯ Startup Error ⎯⎯⎯⎯⎯⎯⎯⎯", "nothing ran";
    TestSetupError "no_tests" 50 | "No test suite found in file" | r"No test suite found in file (?<path>\S+)",
        "Error: No test suite found in file /a/src/e.test.ts", "a test file without tests";
    TestSetupError "no_tests" 50 | "No test files found" | r"No test files found, exiting with code 1",
        "No test files found, exiting with code 1", "the pattern matches no file";
    TestSetupError "" 45 | "Failed Suites" | r"⎯ Failed Suites \d+ ⎯",
        "⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯", "a hook or the file itself failed, no test body";
    Timeout "test" 72 | "timed out in" | r"(?:Test|Hook) timed out in \d+ms",
        "Error: Test timed out in 300ms.", "the test's own limit";
    SnapshotMismatch "" 35 | "Snapshot `" | r"Error: Snapshot `[^`]+` mismatched",
        "Error: Snapshot `menu 1` mismatched", "a stored snapshot differs";
    TestFailure "" 30 | "AssertionError" | r"AssertionError: ",
        "AssertionError: expected 1 to be 2 // Object.is equality", "an expectation did not hold";
    TestFailure "" 23 | "Failed Tests" | r"⎯ Failed Tests \d+ ⎯",
        "⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯", "the heading alone";
};

pub(super) const MOCHA: &[Rule] = rules! {
    Timeout "test" 72 | "exceeded. For async tests" | r"Timeout of \d+ms exceeded\. For async tests and hooks",
        "     Error: Timeout of 100ms exceeded. For async tests and hooks, ensure \"done()\" is called", "the test's own limit";
    TestSetupError "" 46 | "\" hook" | "\"(?:before|after)(?: all| each)\" hook(?: for|:| in|$)",
        "  1) \"before each\" hook for \"adds\":", "the test's surroundings failed";
    TestSetupError "no_tests" 50 | "No test files found" | r"^Error: No test files found",
        "Error: No test files found: \"test\"", "the pattern matches no file";
    TestFailure "" 20 | " failing" | r"^\s+\d+ failing$",
        "  1 failing", "the count alone";
};

pub(super) const NODE_TEST: &[Rule] = rules! {
    Timeout "test" 72 | "test timed out after" | r"test timed out after \d+ms",
        "  error: 'test timed out after 100ms'", "the test's own limit";
    Timeout "test" 72 | "testTimeoutFailure" | r"failureType: 'testTimeoutFailure'",
        "  failureType: 'testTimeoutFailure'", "the test's own limit";
    TestSetupError "" 46 | "hookFailed" | r"failureType: 'hookFailed'",
        "  failureType: 'hookFailed'", "the test's surroundings failed";
    TestFailure "" 30 | "ERR_ASSERTION" | r"ERR_ASSERTION",
        "  code: 'ERR_ASSERTION'", "an expectation did not hold";
    TestFailure "" 24 | "not ok " | r"^\s*not ok \d+ ",
        "not ok 1 - adds two numbers", "a failed point of TAP";
    TestFailure "" 22 | "failing tests:" | r"^✖ failing tests:",
        "✖ failing tests:", "the heading alone";
};
