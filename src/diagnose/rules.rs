use std::sync::LazyLock;

use regex::Regex;

use crate::model::FailureKind;

/// A line that tells a kind.
pub(super) struct Rule {
    /// Matched against one cleaned line.
    pub(super) pattern: &'static str,
    pub(super) kind: FailureKind,
    /// A finer word; empty when there is none.
    pub(super) subkind: &'static str,
    /// What the first group captures.
    pub(super) names: Names,
    /// Sentence for people; `$1` is the first group.
    pub(super) explanation: &'static str,
    /// Whether nothing but a person's action helps.
    pub(super) person: bool,
    /// A line that matches.
    #[cfg_attr(not(test), expect(dead_code, reason = "read by the table test"))]
    pub(super) example: &'static str,
}

/// What a rule's group names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    Nothing,
    Undefined,
    Module,
    Export,
    Test,
}

use FailureKind as K;

/// First match wins: causes stand before the symptoms that they bring about.
pub(super) const RULES: &[Rule] = &[
    Rule {
        pattern: r"(?:^|\s)(?:sh|bash|/bin/sh)?:? ?(?:line )?\d*:? ?([\w.-]+): (?:command )?not found$",
        kind: K::CommandNotFound,
        subkind: "",
        names: Names::Nothing,
        explanation: "the command `$1` is not installed here",
        person: true,
        example: "sh: 1: vitest: not found",
    },
    Rule {
        pattern: r"undefined name\(s\): (.+)$",
        kind: K::ImportError,
        subkind: "undefined_name",
        names: Names::Undefined,
        explanation: "names are used that nothing defines or imports: $1",
        person: false,
        example: "undefined name(s): typer/testing.py:CliRunner, pkg/cli.py:chief_of_staff",
    },
    Rule {
        pattern: r"ModuleNotFoundError: No module named '([\w.]+)'",
        kind: K::ImportError,
        subkind: "missing_module",
        names: Names::Module,
        explanation: "the module `$1` was not found",
        person: false,
        example: "E   ModuleNotFoundError: No module named 'app.db'",
    },
    Rule {
        pattern: r"cannot import name '(\w+)' from partially initialized module",
        kind: K::ImportError,
        subkind: "circular_import",
        names: Names::Export,
        explanation: "modules import each other in a circle; `$1` is not defined yet",
        person: false,
        example: "ImportError: cannot import name 'a' from partially initialized module 'b' (most likely due to a circular import)",
    },
    Rule {
        pattern: r"ImportError: cannot import name '(\w+)' from",
        kind: K::ImportError,
        subkind: "missing_export",
        names: Names::Export,
        explanation: "the module does not define `$1`",
        person: false,
        example: "ImportError: cannot import name 'load' from 'app.db' (/src/app/db.py)",
    },
    Rule {
        pattern: r"error TS(?:2307|2792|7016): .*?'([^']+)'",
        kind: K::ImportError,
        subkind: "missing_module",
        names: Names::Module,
        explanation: "the module `$1` was not found",
        person: false,
        example: "src/a.ts(1,1): error TS2307: Cannot find module './gone' or its corresponding type declarations.",
    },
    Rule {
        pattern: r"error TS(?:2305|2614|2724): .*exported member (?:named )?'(\w+)'",
        kind: K::ImportError,
        subkind: "missing_export",
        names: Names::Export,
        explanation: "the module does not export `$1`",
        person: false,
        example: "src/a.ts(1,1): error TS2305: Module '\"./b\"' has no exported member 'load'.",
    },
    Rule {
        pattern: r"error TS(?:2304|2552|2503): Cannot find (?:name|namespace) '(\w+)'",
        kind: K::ImportError,
        subkind: "undefined_name",
        names: Names::Undefined,
        explanation: "the name `$1` is used and nothing defines or imports it",
        person: false,
        example: "src/a.ts(7,10): error TS2304: Cannot find name 'formatMoney'.",
    },
    Rule {
        pattern: r"(?:Cannot find (?:module|package)|Failed to resolve import|Could not resolve|Module not found: Error: Can't resolve) ['\x22]([^'\x22]+)['\x22]",
        kind: K::ImportError,
        subkind: "missing_module",
        names: Names::Module,
        explanation: "the module `$1` was not found",
        person: false,
        example: "Error: Cannot find module './gone'",
    },
    Rule {
        pattern: r"does not provide an export named '(\w+)'",
        kind: K::ImportError,
        subkind: "missing_export",
        names: Names::Export,
        explanation: "the module does not export `$1`",
        person: false,
        example: "SyntaxError: The requested module './b.js' does not provide an export named 'load'",
    },
    Rule {
        pattern: r"NameError: name '(\w+)' is not defined|F821 Undefined name `(\w+)`|ReferenceError: (\w+) is not defined",
        kind: K::ImportError,
        subkind: "undefined_name",
        names: Names::Undefined,
        explanation: "the name `$1` is used and nothing defines or imports it",
        person: false,
        example: "E   NameError: name 'json' is not defined",
    },
    Rule {
        pattern: r"^(?:E\s+)?(?:SyntaxError|IndentationError|TabError): |error TS1\d{3}: ",
        kind: K::SyntaxError,
        subkind: "",
        names: Names::Nothing,
        explanation: "a file cannot be parsed",
        person: false,
        example: "SyntaxError: invalid syntax",
    },
    Rule {
        pattern: r"error TS\d+: ",
        kind: K::TsError,
        subkind: "",
        names: Names::Nothing,
        explanation: "the TypeScript compiler reports an error",
        person: false,
        example: "src/a.ts(1,7): error TS2322: Type 'number' is not assignable to type 'string'.",
    },
    Rule {
        pattern: r"\bZodError\b",
        kind: K::ZodError,
        subkind: "",
        names: Names::Nothing,
        explanation: "a value does not match its zod schema",
        person: false,
        example: "ZodError: [",
    },
    Rule {
        pattern: r"pydantic(?:_core)?\S*ValidationError|^(?:E\s+)?\S*ValidationError: \d+ validation errors? for ",
        kind: K::PydanticError,
        subkind: "",
        names: Names::Nothing,
        explanation: "a value does not match its pydantic model",
        person: false,
        example: "pydantic_core._pydantic_core.ValidationError: 1 validation error for User",
    },
    Rule {
        pattern: r"\bDrizzle(?:Query)?Error\b",
        kind: K::DrizzleError,
        subkind: "",
        names: Names::Nothing,
        explanation: "drizzle refuses a query or schema",
        person: false,
        example: "DrizzleQueryError: Failed query",
    },
    Rule {
        pattern: r": error: .*\[[a-z-]+\]$",
        kind: K::StaticTypeError,
        subkind: "",
        names: Names::Nothing,
        explanation: "the type checker reports an error",
        person: false,
        example: "app.py:3: error: Incompatible return value type (got \"int\", expected \"str\")  [return-value]",
    },
    Rule {
        pattern: r"ECONNREFUSED|Connection refused",
        kind: K::ConnectionRefused,
        subkind: "",
        names: Names::Nothing,
        explanation: "nothing listens where a connection was tried",
        person: true,
        example: "Error: connect ECONNREFUSED 127.0.0.1:5432",
    },
    Rule {
        pattern: r"^FAILED (\S+)|^\s*(?:FAIL|×|✕|✖|not ok \d+ -)\s+(\S.*)$|^--- FAIL: (\S+)",
        kind: K::TestFailure,
        subkind: "",
        names: Names::Test,
        explanation: "a test fails: $1",
        person: false,
        example: "FAILED tests/test_app.py::test_f - assert 1 == 2",
    },
    Rule {
        pattern: r"\bAssertionError\b|^E\s+assert ",
        kind: K::TestFailure,
        subkind: "",
        names: Names::Nothing,
        explanation: "an assertion fails",
        person: false,
        example: "E       assert 1 == 2",
    },
    Rule {
        pattern: r"^(?:E\s+)?(?:[\w.]+\.)?([A-Z]\w*(?:Error|Exception))(?:: |$)|^Uncaught (\w+Error)",
        kind: K::RuntimeError,
        subkind: "",
        names: Names::Nothing,
        explanation: "the program ends with `$1`",
        person: false,
        example: "TypeError: x.map is not a function",
    },
];

/// The table, compiled once.
pub(super) fn compiled() -> &'static [(Regex, &'static Rule)] {
    static COMPILED: LazyLock<Vec<(Regex, &'static Rule)>> = LazyLock::new(|| {
        let compile = |rule: &'static Rule| Some((Regex::new(rule.pattern).ok()?, rule));
        RULES.iter().filter_map(compile).collect()
    });
    &COMPILED
}

#[cfg(test)]
mod tests {
    use super::{RULES, compiled};

    #[test]
    fn every_row_matches_its_own_example_first() {
        assert_eq!(compiled().len(), RULES.len(), "a pattern does not compile");
        for rule in RULES {
            let first = compiled()
                .iter()
                .find(|(pattern, _)| pattern.is_match(rule.example))
                .map(|(_, first)| first.pattern);
            assert_eq!(first, Some(rule.pattern), "{}", rule.example);
        }
    }
}
