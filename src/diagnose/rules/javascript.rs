use super::super::finding::Rule;
use super::rules;

// An error's heading: bare, `Uncaught`, as a cause, in a TAP comment, from `npm error`, with code.
macro_rules! js {
    ($rest:literal) => {
        concat!(
            r"^[\s>#|│✖×→E]*(?:npm (?:error|ERR!) +)?(?:(?:Uncaught|Exception during run:|Exception:|error:|thrown:|Caused by:|Serialized Error:|\[cause\]:|Unhandled \w+:|\(node:\d+\)) *)*(?:'|\x22)?",
            $rest
        )
    };
}

pub(super) const NODE: &[Rule] = rules! {
    ImportError "circular_import" 71 | "before initialization" | js!(r"ReferenceError: Cannot access '(?<name>[^']+)' before initialization"),
        "ReferenceError: Cannot access 'A' before initialization", "a module is used before it ran";
    ImportError "module_system" 73 | "is not defined in ES module scope" | js!(r"ReferenceError: (?<name>\S+) is not defined in ES module scope"),
        "ReferenceError: require is not defined in ES module scope, you can use import instead", "CommonJS words in an ES module";
    ImportError "undefined_name" 70 | "ReferenceError: " | js!(r"ReferenceError: (?<name>\S+) is not defined"),
        "ReferenceError: slugify is not defined", "a name that nothing binds";
    ImportError "missing_module" 72 | "Cannot find module" | js!(r"(?:\w*Error)?(?: \[[A-Z_]+\])?:? ?Cannot find module '(?<module>[^']+)'(?: imported from (?<path>\S+))?"),
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/a/src/sub.js' imported from /a/test/a.test.js", "node's resolver";
    ImportError "missing_package" 72 | "Cannot find package" | js!(r"(?:\w*Error)?(?: \[[A-Z_]+\])?:? ?Cannot find package '(?<module>[^']+)'(?: imported from (?<path>\S+))?"),
        "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'dayjs' imported from /a/src/a.ts", "node's resolver, bare specifier";
    ImportError "missing_module" 72 | "ERR_PACKAGE_PATH_NOT_EXPORTED" | r"\[ERR_PACKAGE_PATH_NOT_EXPORTED\]: Package subpath '(?<module>[^']+)' is not defined",
        "Error [ERR_PACKAGE_PATH_NOT_EXPORTED]: Package subpath './lib/x' is not defined by \"exports\" in /a/package.json", "the package hides this path";
    ImportError "missing_module" 72 | "ERR_UNSUPPORTED_DIR_IMPORT" | r"\[ERR_UNSUPPORTED_DIR_IMPORT\]: Directory import '(?<module>[^']+)'",
        "Error [ERR_UNSUPPORTED_DIR_IMPORT]: Directory import '/a/src/lib' is not supported resolving ES modules", "an ES import must name the file";
    ImportError "missing_export" 82 | "does not provide an export named" | r"SyntaxError: The requested module '[^']+' does not provide an export named '(?<export>[^']+)'",
        "SyntaxError: The requested module './date.js' does not provide an export named 'formatDate'", "the module exists, the name in it does not";
    ImportError "missing_export" 82 | "Named export" | r"SyntaxError: Named export '(?<export>[^']+)' not found",
        "SyntaxError: Named export 'x' not found. The requested module 'y' is a CommonJS module", "a CommonJS module without that name";
    ImportError "module_system" 74 | "ERR_REQUIRE_ESM" | r"\[ERR_REQUIRE_ESM\]",
        "Error [ERR_REQUIRE_ESM]: require() of ES Module /a/x.mjs not supported.", "an ES module was required";
    ImportError "module_system" 74 | "ERR_REQUIRE_ASYNC_MODULE" | r"\[?ERR_REQUIRE_ASYNC_MODULE\]?",
        "Error [ERR_REQUIRE_ASYNC_MODULE]: require() cannot be used on an ESM graph with top-level await.", "an ES module was required";
    ImportError "module_system" 74 | "ERR_UNKNOWN_FILE_EXTENSION" | "ERR_UNKNOWN_FILE_EXTENSION\\]: Unknown file extension \"[^\"]*\" for (?<path>\\S+)",
        "TypeError [ERR_UNKNOWN_FILE_EXTENSION]: Unknown file extension \".ts\" for /a/src/thing.ts", "node does not load this kind of file";
    RuntimeError "" 78 | "JSON" | js!(r"SyntaxError: .*(?:in JSON at position|is not valid JSON|JSON input|after JSON|\bin JSON\b)"),
        "SyntaxError: Expected double-quoted property name in JSON at position 8", "data that is not JSON, not the program";
    SyntaxError "" 77 | "SyntaxError: " | js!(r"SyntaxError: "),
        "SyntaxError: Unexpected identifier 'c'", "the file does not parse";
    SyntaxError "" 77 | "SyntaxError [" | js!(r"SyntaxError \["),
        "SyntaxError [ERR_INVALID_TYPESCRIPT_SYNTAX]: x", "the file does not parse";
    RuntimeError "" 78 | "Invalid regular expression" | js!(r"SyntaxError: Invalid regular expression"),
        "SyntaxError: Invalid regular expression: /(/: Unterminated group", "a pattern built at run time";
    ConnectionRefused "" 68 | "ECONNREFUSED" | r"(?:connect ECONNREFUSED|code:? '?ECONNREFUSED|errno:? '?ECONNREFUSED)",
        "Error: connect ECONNREFUSED 127.0.0.1:5432", "nothing listens there";
    NetworkError "" 68 | "getaddrinfo" | r"getaddrinfo (?:ENOTFOUND|EAI_AGAIN|ENODATA|ENOENT)",
        "Error: getaddrinfo ENOTFOUND api.internal", "the name does not resolve";
    NetworkError "" 66 | "code" | r"(?:^|\s)code:? '?(?:ENOTFOUND|EAI_AGAIN|ECONNRESET|EHOSTUNREACH|ENETUNREACH|EPIPE|CERT_HAS_EXPIRED|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE|DEPTH_ZERO_SELF_SIGNED_CERT|UND_ERR_SOCKET)\b",
        "  code: 'ECONNRESET',", "the connection broke";
    NetworkError "" 65 | "Error: " | js!(r"Error: (?:read ECONNRESET|socket hang up|connect (?:EHOSTUNREACH|ENETUNREACH)|self[- ]signed certificate)"),
        "Error: read ECONNRESET", "the connection broke";
    NetworkError "" 48 | "fetch failed" | js!(r"TypeError: fetch failed"),
        "TypeError: fetch failed", "the cause follows, if anything says it";
    Timeout "network" 67 | "TIME" | r"(?:connect ETIMEDOUT|code:? '?(?:ETIMEDOUT|ESOCKETTIMEDOUT|UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT)|ETIMEDOUT\b)",
        "Error: connect ETIMEDOUT 10.0.0.1:443", "a wait that ended";
    Timeout "network" 66 | "Timeout" | js!(r"(?:\w*TimeoutError|AbortError|DOMException)(?: \[[\w]+\])?: .*(?:[Tt]ime|exceeded)"),
        "TimeoutError: Waiting failed: 30000ms exceeded", "a wait that ended";
    PortInUse "" 69 | "EADDRINUSE" | r"EADDRINUSE",
        "Error: listen EADDRINUSE: address already in use :::3000", "another process holds the port";
    CommandNotFound "" 70 | "ENOENT" | r"\bspawn(?:Sync)? \S+ ENOENT",
        "Error: spawn uvx ENOENT", "the program to start does not exist";
    PermissionDenied "" 66 | "EACCES" | r"\bEACCES\b",
        "Error: EACCES: permission denied, open '/etc/x'", "the system refused";
    PermissionDenied "" 66 | "EPERM" | r"\bEPERM: operation not permitted",
        "Error: EPERM: operation not permitted, unlink 'x'", "the system refused";
    FileNotFound "" 56 | "ENOENT" | r"ENOENT: no such file or directory, \w+ '(?<path>[^']+)'",
        "Error: ENOENT: no such file or directory, open 'data/x.json'", "a data file, not a command";
    DiskFull "" 92 | "ENOSPC" | r"\bENOSPC\b",
        "Error: ENOSPC: no space left on device, write", "the disk is full";
    OutOfMemory "" 94 | "heap out of memory" | r"JavaScript heap out of memory",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory", "node ran out of heap";
    OutOfMemory "" 69 | "Array buffer allocation failed" | r"RangeError: Array buffer allocation failed",
        "RangeError: Array buffer allocation failed", "the allocation failed";
    AuthFailed "" 66 | "40" | js!(r"\w*(?:Error|Exception)\b.{0,80}?(?:\bstatus(?: ?[Cc]ode)?:? 40[13]\b|\b401 Unauthorized|\b403 Forbidden|HTTP (?:Error )?40[13]\b|\b40[13] status)"),
        "AxiosError: Request failed with status code 401", "the status as a status, never a bare number";
    AuthFailed "" 60 | "status" | r"^\s*status(?:Code)?: 40[13],?$",
        "  status: 401,", "the status property of a printed error";
    AuthFailed "" 66 | "nauthorized" | js!(r"\w*(?:Error|Exception)\b[^:]*: .*\b[Uu]nauthorized\b"),
        "UnauthorizedError: Unauthorized", "refused credentials in words";
    AuthFailed "" 66 | "API key" | r"(?i)(?:invalid|incorrect|missing or invalid|expired) API key",
        "Error: Invalid API key provided", "refused credentials in words";
    MissingEnvVar "" 67 | "nvironment variable" | r"(?i:missing|required|undefined|unset|no|set the|need(?:s|ed)?)\b.{0,40}environment variables?:?\s+[`'\x22(]?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\b",
        "Error: Missing required environment variable: DATABASE_URL", "a variable's shape and words about it";
    MissingEnvVar "" 67 | "nvironment variable" | r"[Ee]nvironment variable:? [`'\x22(]?[A-Z][A-Z0-9_]*[`'\x22)]?(?: \w+)?(?: is| was| must be)?(?: \w+)? (?:not set|missing|required|not found|undefined|not defined|set|unset|empty|not provided)\b",
        "error: Environment variable not found? no: environment variable DATABASE_URL is not set", "a variable's shape and words about it";
    MissingEnvVar "" 67 | "Environment variable not found" | r"Environment variable not found: [A-Z]\w+",
        "error: Environment variable not found: DATABASE_URL.", "prisma's words";
    MissingEnvVar "" 66 | "_" | r"(?:^|[\s`'\x22(:.])[A-Z][A-Z0-9]*_[A-Z0-9_]+[`'\x22)]? (?:is|are|was|must be|has not been|env(?:ironment)?(?: var(?:iable)?)? is) (?:not set|set|missing|not defined|undefined|required|unset|not configured|not provided)\b",
        "Error: OPENAI_API_KEY is not set. Copy .env.example to .env and fill it in.", "an upper-case name that is not set";
    MissingEnvVar "" 66 | "_" | js!(r"\w*Error: (?:[Mm]issing|[Uu]nset|[Nn]o) (?:required |mandatory )?(?:env(?:ironment)?(?: var(?:iable)?s?)?:? )?[`'\x22]?[A-Z][A-Z0-9]*_[A-Z0-9_]+\b"),
        "Error: Missing env var STRIPE_SECRET_KEY", "an upper-case name that is missing";
    TestFailure "" 30 | "AssertionError" | js!(r"AssertionError(?: \[ERR_ASSERTION\])?(?:: |$)"),
        "AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:", "an expectation did not hold";
    RuntimeError "" 40 | "Error" | js!(r"(?:[A-Z]\w*)?Error(?: \[[\w]+\])?: "),
        "TypeError: u.start is not a function", "an error that no other row knows";
    RuntimeError "" 38 | "Unhandled" | r"(?:UnhandledPromiseRejection|Unhandled (?:Rejection|Errors?|promise rejection))",
        "UnhandledPromiseRejection: This error originated either by throwing inside of an async function", "an error that no other row knows";
};

pub(super) const BUNDLERS: &[Rule] = rules! {
    ImportError "missing_export" 72 | "No matching export in" | "No matching export in \"(?<path>[^\"]+)\" for import \"(?<export>[^\"]+)\"",
        "✘ [ERROR] No matching export in \"src/w.ts\" for import \"w\"", "esbuild's linker";
    ImportError "missing_export" 72 | "is not exported by" | "\"(?<export>[^\"]+)\" is not exported by \"(?<path>[^\"]+)\"",
        "\"x\" is not exported by \"src/w.js\", imported by \"src/m.js\".", "rollup's linker";
    ImportError "missing_export" 72 | "MISSING_EXPORT" | "\\[MISSING_EXPORT\\](?: Error)?:? ?\"(?<export>[^\"]+)\"",
        "[MISSING_EXPORT] \"x\" is not exported by \"src/w.js\".", "rolldown's linker";
    ImportError "missing_export" 72 | "was not found in '" | r"export '(?<export>[^']+)' (?:\(imported as '[^']+'\) )?was not found in '",
        "export 'x' (imported as 'x') was not found in './w' (possible exports: y)", "webpack's linker";
    ImportError "missing_module" 73 | "Could not resolve" | r"Could not resolve [\x22'](?<module>[^\x22']+)[\x22'](?: (?:from|in) [\x22']?(?<path>[^\x22'\s]+))?",
        "✘ [ERROR] Could not resolve \"./widgets/button\"", "the bundler's resolver";
    ImportError "missing_module" 73 | "Module not found: " | r"Module not found: (?:Error: )?Can't resolve '(?<module>[^']+)'(?: in '(?<path>[^']+)')?",
        "Module not found: Error: Can't resolve './x' in '/a/src'", "webpack's resolver";
    ImportError "missing_module" 73 | "failed to resolve import" | "failed to resolve import \"(?<module>[^\"]+)\"(?: from \"(?<path>[^\"]+)\")?",
        "[vite]: Rollup failed to resolve import \"./x\" from \"/a/src/main.ts\".", "rollup's resolver";
    ImportError "undefined_name" 68 | "is not defined" | r"^\[?\w*\]?\s*'(?<name>\w+)' is not defined",
        "'foo' is not defined", "a checker without a rule name";
    SyntaxError "" 77 | "PARSE_ERROR" | r"\[PARSE_ERROR\]",
        "[PARSE_ERROR] Expected `,` or `]` but found `}`", "the bundler's parser";
    SyntaxError "" 77 | "Expected " | "(?:ERROR\\]?:?) (?:Expected \"?.+\"? but found |Unexpected )",
        "✘ [ERROR] Expected \"]\" but found \";\"", "esbuild's parser";
    SyntaxError "" 77 | "Unexpected " | r"(?:ERROR\]|ERROR:) (?:Unexpected|Unterminated|Syntax error)",
        "/a/src/main.ts:2:9: ERROR: Unexpected \"}\"", "esbuild's parser";
    SyntaxError "" 77 | "Unterminated" | r"(?:ERROR\]|ERROR:) Unterminated",
        "✘ [ERROR] Unterminated string literal", "esbuild's parser";
    SyntaxError "" 76 | "Parse error" | r"(?:Parse error @|RollupError: (?:\S+ )?\(?.*Parse (?:error|failure))",
        "Parse error @:3:1", "the bundler's parser";
    SyntaxError "" 76 | "Expression expected" | r"^(?:RollupError: )?.*Expression expected",
        "RollupError: Expression expected", "swc's parser";
    RuntimeError "" 18 | "Build failed with" | r"Build failed with \d+ errors?:?",
        "Build failed with 1 error:", "the count alone";
};

pub(super) const SCHEMAS: &[Rule] = rules! {
    ZodError "" 66 | "ZodError" | js!(r"(?:\$?Zod(?:Real)?Error)(?:: |$)"),
        "ZodError: [", "zod's own heading";
    ZodError "" 66 | "Invalid environment variables" | r"Invalid environment variables:? [\[{]",
        "❌ Invalid environment variables: {", "an environment checked by a schema";
    ZodError "" 45 | "✖ " | r"^\s*✖ (?:Invalid (?:input|option|email|string|url|type)|Too (?:big|small)|Unrecognized key|Required)",
        "✖ Invalid input: expected string, received undefined", "zod's prettified issues";
    ZodError "" 44 | "\"code\": \"" | "^\\s*\"code\": \"(?:invalid_type|unrecognized_keys|invalid_union|invalid_literal|invalid_enum_value|invalid_format|invalid_value|invalid_string|too_small|too_big|invalid_date)\"",
        "    \"code\": \"invalid_type\",", "an issue of zod in JSON";
    ZodError "" 44 | "code: 'invalid_" | r"^\s*code: 'invalid_(?:type|union|union_discriminator|literal|enum_value|string|date|arguments|return_type|format|value|key|element|intersection_types)'",
        "    code: 'invalid_union_discriminator',", "an issue of zod as node prints objects";
    ZodError "" 44 | "code: '" | r"^\s*code: '(?:unrecognized_keys|too_small|too_big|not_multiple_of|not_finite)'",
        "    code: 'too_small',", "an issue of zod as node prints objects";
    DrizzleError "" 68 | "Drizzle" | r"(?:Drizzle(?:Query|Transaction)?Error|DrizzleError)\b",
        "DrizzleQueryError: Failed query: select 1", "drizzle's own heading";
    DbError "" 62 | "SqliteError: " | js!(r"SqliteError: "),
        "SqliteError: no such table: users", "the driver's heading; drizzle frames below make it drizzle's";
    DbError "" 62 | "SQLITE_" | r"(?:Error: |code: ')SQLITE_[A-Z]+",
        "Error: SQLITE_ERROR: no such table: users", "the driver's code";
    DbError "" 62 | "relation \"" | "relation \"[^\"]+\" does not exist",
        "error: relation \"users\" does not exist", "postgres names a missing table";
    DbError "" 62 | "violates " | r"violates (?:not-null|unique|foreign key|check) constraint",
        "error: null value in column \"a\" violates not-null constraint", "postgres refuses a row";
    DbError "" 62 | "duplicate key value" | r"duplicate key value violates",
        "error: duplicate key value violates unique constraint \"u\"", "postgres refuses a row";
    DbError "" 62 | "ER_" | r"code: 'ER_[A-Z_]+'",
        "  code: 'ER_NO_SUCH_TABLE',", "mysql's code";
    DbError "" 62 | "PrismaClient" | r"PrismaClient\w+Error",
        "PrismaClientKnownRequestError: Invalid invocation", "prisma's own heading";
    DbError "" 62 | "column \"" | "column \"[^\"]+\"(?: of relation \"[^\"]+\")? does not exist",
        "error: column \"a\" does not exist", "postgres names a missing column";
};
