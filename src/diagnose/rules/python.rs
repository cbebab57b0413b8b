use super::super::finding::Rule;
use super::rules;

// A traceback's last line, bare or as pytest shows it: after `E`, in the summary, after a place.
macro_rules! py {
    ($rest:literal) => {
        concat!(
            r"^(?:E\s+|[\s>#|+│]*|(?:FAILED|ERROR) .{1,300}? - |[^\s:]+:\d+: )(?:\w+\.)*",
            $rest
        )
    };
}

pub(super) const RULES: &[Rule] = rules! {
    ImportError "undefined_name" 70 | "NameError: " | py!(r"NameError: (?:global |free variable )?(?:name )?'(?<name>[^']+)' is not defined"),
        "E   NameError: name 'CliRunner' is not defined", "a name that nothing binds";
    ImportError "circular_import" 73 | "partially initialized module" | r"partially initialized module '(?<module>[^']+)'",
        "ImportError: cannot import name 'a' from partially initialized module 'm' (most likely due to a circular import)", "two modules import each other";
    ImportError "missing_module" 71 | "No module named" | py!(r"(?:ModuleNotFoundError|ImportError): No module named '?(?<module>[\w.\-]+)'?"),
        "ModuleNotFoundError: No module named 'app.repositry'", "the interpreter found no such module";
    ImportError "missing_package" 70 | "No module named" | r"python[\d.]*(?:\.exe)?: (?:Error while finding module specification for '[^']*' \(ModuleNotFoundError: )?No module named '?(?<module>[\w.\-]+)",
        "/usr/bin/python3: No module named pytest", "the module to be run is not installed";
    ImportError "missing_export" 71 | "cannot import name" | py!(r"ImportError: cannot import name '?(?<export>[^'\s]+)'?"),
        "ImportError: cannot import name 'Usr' from 'app.models' (/a/app/models.py)", "the module exists, the name in it does not";
    ImportError "missing_export" 62 | "has no attribute" | py!(r"AttributeError: module '[^']+' has no attribute '(?<export>[^']+)'"),
        "AttributeError: module 'app.util' has no attribute 'slugfy'", "the same through the module object";
    ImportError "" 58 | "ImportError: " | py!(r"ImportError: "),
        "ImportError: DLL load failed while importing _x", "an import that failed for another reason";
    SyntaxError "" 76 | "SyntaxError: " | py!(r"SyntaxError: "),
        "SyntaxError: '(' was never closed", "the file does not parse";
    SyntaxError "" 76 | "IndentationError: " | py!(r"IndentationError: "),
        "IndentationError: unexpected indent", "the file does not parse";
    SyntaxError "" 76 | "TabError: " | py!(r"TabError: "),
        "TabError: inconsistent use of tabs and spaces in indentation", "the file does not parse";
    FileNotFound "" 55 | "FileNotFoundError: " | py!(r"FileNotFoundError: (?:\[(?:Errno|WinError) \d+\] [^:]*: (?:b?'(?<path>[^']+)')?)?"),
        "FileNotFoundError: [Errno 2] No such file or directory: 'tests/data/golden.json'", "a data file, unless a process was being started";
    PermissionDenied "" 60 | "PermissionError: " | py!(r"PermissionError: "),
        "PermissionError: [Errno 13] Permission denied: '/etc/x'", "the system refused";
    ConnectionRefused "" 67 | "ConnectionRefusedError" | py!(r"ConnectionRefusedError\b"),
        "ConnectionRefusedError: [Errno 111] Connection refused", "nothing listens there";
    ConnectionRefused "" 67 | "onnection refused" | py!(r"[\w.]*(?:Error|Exception|Timeout)\b.*[Cc]onnection refused"),
        "requests.exceptions.ConnectionError: HTTPConnectionPool(host='x', port=1): Max retries exceeded (Caused by NewConnectionError('[Errno 111] Connection refused'))", "nothing listens there, said by a library";
    ConnectionRefused "" 67 | "All connection attempts failed" | py!(r"ConnectError: All connection attempts failed"),
        "httpx.ConnectError: All connection attempts failed", "how httpx says that nothing listens";
    NetworkError "" 68 | "gaierror: " | py!(r"gaierror: "),
        "socket.gaierror: [Errno -2] Name or service not known", "the name does not resolve";
    NetworkError "" 68 | "Error" | py!(r"\w*Error\b.*(?:NameResolutionError|Name or service not known|nodename nor servname|Temporary failure in name resolution|Failed to resolve '|getaddrinfo failed)"),
        "urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>", "the name does not resolve";
    NetworkError "" 59 | "Error" | py!(r"(?:ConnectionResetError|ConnectionAbortedError|BrokenPipeError|SSLError|SSLCertVerificationError|RemoteDisconnected|RemoteProtocolError|ConnectionError|ConnectError|ProxyError|ClientConnectorError|NewConnectionError|IncompleteRead)\b"),
        "ConnectionResetError: [Errno 104] Connection reset by peer", "the connection broke";
    Timeout "network" 66 | "Time" | py!(r"(?:ReadTimeout|ConnectTimeout|WriteTimeout|PoolTimeout|ReadTimeoutError|ConnectTimeoutError|ServerTimeoutError|Timeout|TimeoutError|CancelledTimeout|timeout)(?:: |$)"),
        "requests.exceptions.ReadTimeout: HTTPConnectionPool(host='x', port=1): Read timed out. (read timeout=0.3)", "a wait that ended";
    Timeout "command" 66 | "TimeoutExpired: " | py!(r"TimeoutExpired: "),
        "subprocess.TimeoutExpired: Command '['sleep', '9']' timed out after 1 seconds", "a child process ran too long";
    AuthFailed "" 66 | "40" | py!(r"\w*(?:Error|Exception)\b.{0,80}?(?:HTTP Error 40[13]\b|\b40[13] Client Error|\bstatus(?:[ _]code)?[:= ]+40[13]\b|Error code: 40[13]\b|\b401 Unauthorized|\b403 Forbidden)|(?:HTTPError: HTTP Error 40[13]\b)"),
        "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: http://x", "the status as a status, never a bare number";
    AuthFailed "" 66 | "Err" | py!(r"(?:AuthenticationError|AuthError|PermissionDeniedError|InvalidCredentials\w*|NoCredentialsError|UnauthorizedError|InvalidApiKeyError)\b"),
        "openai.AuthenticationError: Error code: 401", "a client library's word for refused credentials";
    OutOfMemory "" 69 | "MemoryError" | py!(r"(?:_Array)?MemoryError\b"),
        "MemoryError", "the allocation failed";
    OutOfMemory "" 69 | "OutOfMemoryError" | py!(r"OutOfMemoryError\b"),
        "torch.cuda.OutOfMemoryError: CUDA out of memory.", "the allocation failed";
    PydanticError "" 67 | "validation error" | py!(r"(?:ValidationError: )?\d+ validation errors? for "),
        "pydantic_core._pydantic_core.ValidationError: 2 validation errors for User", "pydantic's heading";
    PydanticError "" 67 | "Pydantic" | py!(r"Pydantic\w*(?:Error|Exception)\b"),
        "pydantic.errors.PydanticUserError: A non-annotated attribute was detected", "pydantic's own exceptions";
    DbError "" 64 | "sqlalchemy." | r"^(?:E\s+|[\s>|+]*|(?:FAILED|ERROR) .{1,300}? - )sqlalchemy\.(?:orm\.)?exc\.\w+",
        "sqlalchemy.exc.OperationalError: (sqlite3.OperationalError) no such table: users", "raised by the database layer";
    DbError "" 64 | "Error" | r"^(?:E\s+|[\s>|+]*|(?:FAILED|ERROR) .{1,300}? - )(?:sqlite3|psycopg2?|asyncpg|pymysql|MySQLdb|mysql|aiosqlite|django\.db|pymongo|alembic|peewee|tortoise|redis)\.[\w.]*(?:Error|Exception|Violation|DoesNotExist)\b",
        "sqlite3.OperationalError: no such table: orders", "raised by the database driver";
    MissingEnvVar "" 67 | "nvironment" | py!(r"\w*(?:Error|Exception|Configured|UndefinedValue)\b.*?(?:[Ee]nvironment variable|env(?:ironment)? var|[Ee]nvironment)\W+(?:[a-z ]+ )?[`'\x22]?[A-Z][A-Z0-9]*_?[A-Z0-9_]+\b.*(?:not set|missing|required|must be set|not found|undefined|unset|not defined)"),
        "RuntimeError: environment variable DATABASE_URL is not set", "a variable's shape and words about it";
    MissingEnvVar "" 67 | "UndefinedValueError: " | py!(r"UndefinedValueError: [A-Z][A-Z0-9_]+ not found"),
        "decouple.UndefinedValueError: SECRET_KEY not found. Declare it as envvar or define a default value.", "decouple's and starlette's word";
    DiskFull "" 92 | "No space left on device" | r"No space left on device",
        "OSError: [Errno 28] No space left on device", "the disk is full";
    PortInUse "" 69 | "ddress already in use" | r"(?i)address already in use",
        "OSError: [Errno 98] Address already in use", "another process holds the port";
    Crash "" 93 | "Fatal Python error: " | r"Fatal Python error: (?:Segmentation fault|Aborted|Bus error|Illegal instruction|Floating|Floating-point|_?[A-Z])",
        "Fatal Python error: Segmentation fault", "the interpreter died";
    TestFailure "" 30 | "AssertionError" | py!(r"AssertionError(?:$|[^\w ]| [^\[])"),
        "E   AssertionError: 3 != 4", "an expectation did not hold";
    TestFailure "" 30 | "E " | r"^E\s+assert ",
        "E       assert 2 == 3", "pytest's rewritten assertion";
    TestFailure "" 30 | "Failed: " | py!(r"Failed: (?:DID NOT RAISE|[A-Z])"),
        "E       Failed: DID NOT RAISE <class 'ValueError'>", "the test said so itself";
    TestFailure "" 31 | "Warning" | r"^E\s+(?:\w+\.)*\w*Warning\b",
        "E       DeprecationWarning: use y instead", "a warning that the test settings raise";
    RuntimeError "" 41 | "Error" | r"^(?:E\s+|[\s>|+]*|(?:FAILED|ERROR) .{1,300}? - )(?:[a-z_]\w*\.)*[A-Z]\w*Error(?:: |$)",
        "KeyError: 'missing'", "an exception that no other row knows";
    RuntimeError "" 41 | "Exception" | r"^(?:E\s+|[\s>|+]*|(?:FAILED|ERROR) .{1,300}? - )(?:[a-z_]\w*\.)*\w*Exception(?:: |$)",
        "Exception: boom", "an exception that no other row knows";
    RuntimeError "" 41 | "Group: " | py!(r"(?:Base)?ExceptionGroup: "),
        "ExceptionGroup: several (2 sub-exceptions)", "an exception that no other row knows";
};
