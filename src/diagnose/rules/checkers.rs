use super::super::finding::Rule;
use super::rules;

pub(super) const MYPY: &[Rule] = rules! {
    ImportError "undefined_name" 70 | "error: Name \"" | "error: Name [\"'](?<name>[^\"']+)[\"'] is not defined",
        "app.py:2:5: error: Name \"Path\" is not defined  [name-defined]", "a name that nothing binds";
    ImportError "missing_export" 70 | "error: Module" | "error: Module [\"'][^\"']+[\"'] (?:has no attribute|does not explicitly export attribute) [\"'](?<export>[^\"']+)[\"']",
        "app.py:1:1: error: Module \"os\" has no attribute \"pathh\"; maybe \"path\"?  [attr-defined]", "the module exists, the name in it does not";
    ImportError "missing_module" 70 | "implementation or library stub for module named" | "error: Cannot find implementation or library stub for module named [\"'](?<module>[^\"']+)[\"']",
        "a.py:1: error: Cannot find implementation or library stub for module named \"x\"  [import-not-found]", "mypy's resolver";
    ImportError "missing_types" 62 | "stubs not installed for" | "error: Library stubs not installed for [\"'](?<module>[^\"']+)[\"']",
        "a.py:1: error: Library stubs not installed for \"yaml\"  [import-untyped]", "the package has no types here";
    ImportError "missing_types" 62 | "missing library stubs or py.typed" | "Skipping analyzing [\"'](?<module>[^\"']+)[\"']: module is installed, but missing library stubs",
        "a.py:1: error: Skipping analyzing \"x\": module is installed, but missing library stubs or py.typed marker", "the package has no types";
    SyntaxError "" 78 | "[syntax]" | r"error: .*\[syntax\]",
        "app.py:1:8: error: invalid syntax  [syntax]", "the file does not parse";
    StaticTypeError "" 51 | ": error: " | r"^\s*(?<path>[^\s:]+\.pyi?):\d+(?::\d+)?(?::\d+:\d+)?: error: ",
        "app.py:6:12: error: \"A\" has no attribute \"count\"  [attr-defined]", "a finding of mypy";
};

pub(super) const PYRIGHT: &[Rule] = rules! {
    ImportError "missing_export" 70 | "is unknown import symbol" | "- error: \"(?<export>[^\"]+)\" is unknown import symbol",
        "  /a/app.py:1:15 - error: \"beta\" is unknown import symbol (reportAttributeAccessIssue)", "the module exists, the name in it does not";
    ImportError "missing_module" 70 | "could not be resolved" | "- (?:error|warning): Import \"(?<module>[^\"]+)\" could not be resolved(?: \\(|$)",
        "  /a/app.py:1:6 - error: Import \"x.y\" could not be resolved (reportMissingImports)", "pyright's resolver";
    ImportError "missing_types" 60 | "could not be resolved from source" | "- error: Import \"(?<module>[^\"]+)\" could not be resolved from source",
        "  /a/app.py:1:6 - error: Import \"yaml\" could not be resolved from source", "stubs without the package";
    ImportError "undefined_name" 70 | "is not defined (report" | "- error: \"(?<name>[^\"]+)\" is not defined",
        "  /a/app.py:2:5 - error: \"Path\" is not defined (reportUndefinedVariable)", "a name that nothing binds";
    StaticTypeError "" 51 | " - error: " | r"^\s*(?<path>.+\.pyi?):\d+:\d+ - error: ",
        "  /a/app.py:3:5 - error: Cannot access attribute \"x\" for class \"A\"", "a finding of pyright";
};

pub(super) const RUFF: &[Rule] = rules! {
    ImportError "undefined_name" 70 | "ndefined name " | r"\bF821 (?:\[\*\] )?[Uu]ndefined name [`'](?<name>[^`']+)[`']",
        "pkg/m.py:2:12: F821 Undefined name `json`", "a name that nothing binds";
    ImportError "undefined_name" 70 | "undefined name '" | r"^\S+\.py:\d+:\d+:? undefined name '(?<name>[^']+)'",
        "a.py:1:5: undefined name 'os'", "pyflakes says the same";
    ImportError "undefined_name" 70 | "E0602" | r"E0602: Undefined variable '(?<name>[^']+)'",
        "a.py:2:4: E0602: Undefined variable 'os' (undefined-variable)", "pylint says the same";
    ImportError "missing_export" 70 | "E0611" | r"E0611: No name '(?<export>[^']+)' in module",
        "a.py:1:0: E0611: No name 'x' in module 'y' (no-name-in-module)", "pylint's resolver";
    ImportError "missing_module" 70 | "E0401" | r"E0401: Unable to import '(?<module>[^']+)'",
        "a.py:1:0: E0401: Unable to import 'x.y' (import-error)", "pylint's resolver";
    SyntaxError "" 77 | "invalid-syntax" | r"(?:^|: )invalid-syntax: ",
        "a.py:1:5: invalid-syntax: Expected an expression", "ruff's parser";
    SyntaxError "" 77 | "SyntaxError: " | r"\.py:\d+:\d+: (?:E999 )?SyntaxError: ",
        "a.py:1:5: SyntaxError: Expected an expression", "ruff's parser, older words";
    SyntaxError "" 77 | "E999 " | r"\bE999 ",
        "a.py:1:5: E999 SyntaxError: invalid syntax", "flake8 could not parse";
    SyntaxError "" 77 | "ailed to parse" | r"(?:error: )?Failed to parse \S+\.py",
        "error: Failed to parse src/a.py:3:1: Expected an expression", "the formatter's parser";
    LintError "" 26 | ".py:" | r"\.pyi?:\d+:\d+: [A-Z]{1,4}\d{2,4}:? ",
        "pkg/m.py:4:1: F811 Redefinition of unused `a`", "a finding with a rule code";
    LintError "" 26 | "0" | r"^[A-Z]{1,4}\d{2,4} (?:\[\*\] )?[A-Z`]",
        "E401 [*] Multiple imports on one line", "ruff's full form";
    LintError "" 26 | "1" | r"^[A-Z]{1,4}\d{2,4} (?:\[\*\] )?[A-Z`]",
        "F811 Redefinition of unused `a` from line 1", "ruff's full form";
    LintError "" 26 | "ould reformat" | r"^[Ww]ould reformat:? (?<path>\S+)",
        "Would reformat: pkg/m.py", "the formatter would change it";
    LintError "" 26 | " would be reformatted" | r"(?:^unformatted: File|^\d+ files?) would be reformatted",
        "1 file would be reformatted", "the formatter would change it";
    LintError "" 26 | "Imports are incorrectly sorted" | r"Imports are incorrectly sorted",
        "ERROR: /a/b.py Imports are incorrectly sorted and/or formatted.", "isort would change it";
    LintError "" 21 | "Code style issues" | r"Code style issues (?:found )?in ",
        "[warn] Code style issues found in 2 files. Run Prettier with --write to fix.", "prettier would change it";
};

pub(super) const ESLINT: &[Rule] = rules! {
    ImportError "undefined_name" 70 | "no-undef" | r"'(?<name>[^']+)' is not defined.*\bno-undef\b",
        "  3:5  error  'debounce' is not defined  no-undef", "a name that nothing binds";
    ImportError "undefined_name" 70 | "react/jsx-no-undef" | r"'(?<name>[^']+)' is not defined.*react/jsx-no-undef",
        "  3:5  error  'Foo' is not defined  react/jsx-no-undef", "a component that nothing binds";
    ImportError "missing_module" 71 | "Unable to resolve path to module" | r"Unable to resolve path to module '(?<module>[^']+)'",
        "  1:15  error  Unable to resolve path to module './b-missing.js'  import/no-unresolved", "the import plugin's resolver";
    ImportError "missing_module" 71 | "n/no-missing-import" | "\"(?<module>[^\"]+)\" is not found.*n(?:ode)?/no-missing-(?:import|require)",
        "  1:15  error  \"./b.js\" is not found  n/no-missing-import", "the node plugin's resolver";
    ImportError "missing_export" 70 | " not found in '" | r"\b(?<export>\w+) not found in '[^']+'.*import(?:-x)?/named",
        "  1:10  error  x not found in './b'  import/named", "the import plugin's linker";
    SyntaxError "" 78 | "Parsing error" | r"Parsing error: ",
        "  3:1  error  Parsing error: Unexpected token }", "eslint could not parse";
    ConfigError "" 84 | "ESLint couldn't find" | r"ESLint couldn't find (?:an eslint\.config|a configuration|the (?:plugin|config))",
        "ESLint couldn't find an eslint.config.(js|mjs|cjs) file.", "no configuration";
    ConfigError "" 84 | "nvalid" | r"(?:ConfigError|ESLint configuration in .* is invalid|Configuration for rule .* is invalid)",
        "Error: ESLint configuration in .eslintrc.json is invalid:", "a wrong configuration";
    ConfigError "" 84 | "Could not find" | "(?:Error|TypeError): .*Could not find \"[^\"]+\" in plugin \"",
        "TypeError: Key \"rules\": Key \"x/y\": Could not find \"y\" in plugin \"x\".", "a rule that the plugin lacks";
    ConfigError "" 82 | "Definition for rule" | r"Definition for rule '[^']+' not found",
        "  1:1  error  Definition for rule 'a/b' not found  a/b", "a rule that no plugin brings";
    LintError "" 26 | " error " | r"^\s+\d+:\d+\s+error\s+.+\s{2,}[@\w/-]+$",
        "  1:1  error  Unexpected var, use let or const instead  no-var", "a finding in the default form";
    LintError "" 26 | "Error" | r"^\S+:\d+:\d+: .+ \[(?:Error|Warning)/[@\w/-]+\]$",
        "/a/src/a.js:1:1: Unexpected var. [Error/no-var]", "a finding in the unix form";
    LintError "" 26 | ", Error - " | r"^.+: line \d+, col \d+, Error - ",
        "/a/src/a.js: line 1, col 1, Error - Unexpected var. (no-var)", "a finding in the compact form";
    LintError "" 25 | "\"ruleId\": \"" | "\"ruleId\": \"",
        "                \"ruleId\": \"no-var\",", "a finding in JSON";
    LintError "" 24 | "\"ruleId\":\"" | "\"ruleId\":\"[^\"]+\",\"severity\":2",
        "[{\"filePath\":\"/a\",\"messages\":[{\"ruleId\":\"no-var\",\"severity\":2}]}]", "a finding in JSON";
    LintError "" 22 | " problem" | r"^✖ \d+ problems? \(",
        "✖ 1 problem (1 error, 0 warnings)", "the count alone";
    LintError "" 24 | "too many warnings" | r"ESLint found too many warnings",
        "ESLint found too many warnings (maximum: 0).", "warnings count as errors here";
    LintError "" 26 | " lint/" | r"^\S+:\d+:\d+ lint/[\w/]+",
        "src/a.ts:1:1 lint/style/useConst FIXABLE", "a finding of biome";
};
