/// Programs that only start another one.
pub(super) const STARTERS: &[&str] = &[
    "!",
    "if",
    "then",
    "else",
    "elif",
    "while",
    "until",
    "do",
    "timeout",
    "env",
    "command",
    "exec",
    "time",
    "nice",
    "nohup",
    "sudo",
    "xvfb-run",
    "npx",
    "bunx",
    "pnpx",
    "cross-env",
    "cross-env-shell",
    "dotenv",
    "c8",
    "nyc",
    "busybox",
    "stdbuf",
    "setsid",
    "winpty",
];

/// Programs that look at the files they are given and run none of them.
pub(super) const CHECKERS: &[&str] = &[
    "ruff",
    "flake8",
    "mypy",
    "pyright",
    "basedpyright",
    "pylint",
    "black",
    "isort",
    "bandit",
    "py_compile",
    "compileall",
    "pyflakes",
    "pycodestyle",
    "eslint",
    "tsc",
    "vue-tsc",
    "tsgo",
    "prettier",
    "biome",
    "oxlint",
    "stylelint",
    "standard",
    "xo",
];

/// Programs of every day that run none of the files they are given.
pub(super) const PLAIN: &[&str] = &[
    "ls", "cat", "test", "[", "echo", "git", "rm", "mkdir", "cp", "mv", "grep", "pip", "pip3",
];

/// Programs that run the files they are given as tests.
pub(super) const TEST_RUNNERS: &[&str] = &[
    "pytest",
    "py.test",
    "unittest",
    "nose2",
    "nosetests",
    "trial",
    "jest",
    "vitest",
    "mocha",
    "_mocha",
    "ava",
    "tap",
    "uvu",
    "jasmine",
    "karma",
    "nox",
    "tape",
    "tox",
    "playwright",
    "bats",
];

/// Whether a program runs tests, or checks files as a compiler or a linter does.
#[must_use]
pub fn is_test_program(name: &str) -> bool {
    TEST_RUNNERS.contains(&name) || CHECKERS.contains(&name)
}
