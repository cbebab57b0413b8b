use super::super::finding::Rule;
use super::rules;

pub(super) const SHELL: &[Rule] = rules! {
    CommandNotFound "" 88 | "not found" | r"^(?:.*: )?(?:line \d+: )?(?:\d+: )?[^\s:]+: (?:command )?not found$",
        "bash: line 1: pnpmx: command not found", "the shell knows no such program";
    CommandNotFound "" 88 | "command not found: " | r"^(?:zsh|.*sh): command not found: \S+",
        "zsh: command not found: uvx", "the shell knows no such program";
    CommandNotFound "" 88 | "is not recognized" | r"is not recognized as (?:an internal or external command|the name of a cmdlet|a name of a cmdlet)",
        "'uvx' is not recognized as an internal or external command,", "the shell knows no such program";
    CommandNotFound "" 88 | "bad interpreter" | r"bad interpreter: ",
        "bash: ./x.sh: /usr/bin/nopython: bad interpreter: No such file or directory", "the script's interpreter does not exist";
    CommandNotFound "" 88 | "required file not found" | r": cannot execute: required file not found",
        "bash: ./x.sh: cannot execute: required file not found", "the script's interpreter does not exist";
    CommandNotFound "" 88 | "No such file or directory" | r"^(?:/usr/bin/)?(?:env|exec|xargs|sudo|nohup|timeout|nice|time): .*[‘'`\x22]?[^\s:]+[’'\x22]?: No such file or directory",
        "env: ‘nodejs’: No such file or directory", "the program to start does not exist";
    CommandNotFound "" 88 | "failed to run command" | r"failed to (?:run|execute) command [‘'`][^’']+[’']: No such file or directory",
        "timeout: failed to run command ‘uvx’: No such file or directory", "the program to start does not exist";
    CommandNotFound "" 88 | "executable file not found in $PATH" | r"executable file not found in \$PATH",
        "exec: \"uvx\": executable file not found in $PATH", "the program to start does not exist";
    CommandNotFound "" 80 | "make: " | r"^make(?:\[\d+\])?: [^:\s*]+: No such file or directory",
        "make: pytest: No such file or directory", "make found no such program";
    FileNotFound "" 76 | "No such file or directory" | r"^(?:\S+: )?(?:line \d+: )?(?:cat|ls|cp|mv|rm|cd|tail|head|grep|sed|awk|source|sort|wc|chmod|chown|stat|touch|tar|rsync|find|python[\d.]*|node|bash|sh|\.|.*sh)?:? ?.*?(?<path>[\w./@+-]+)[’']?: No such file or directory$",
        "cat: configs/prod.yaml: No such file or directory", "a file that a tool was told to read";
    FileNotFound "" 77 | "can't open file" | r"can't open file '(?<path>[^']+)': \[Errno 2\]",
        "python: can't open file '/a/run.py': [Errno 2] No such file or directory", "the script to run does not exist";
    MissingEnvVar "" 84 | "unbound variable" | r": [A-Za-z_]\w*: unbound variable",
        "d.sh: line 2: DEPLOY_TOKEN: unbound variable", "a script under `set -u`";
    MissingEnvVar "" 84 | ": parameter " | r": [A-Za-z_]\w*: parameter (?:null or )?not set",
        "d.sh: line 2: DEPLOY_TOKEN: parameter null or not set", "a script's own check";
    MissingEnvVar "" 83 | "set" | r"^\S+: (?:line \d+|\d+): [A-Z][A-Z0-9_]+: .*(?:must be set|not set|is required|unset|missing|set )",
        "d.sh: line 2: DEPLOY_TOKEN: must be set", "a script's own check";
    PermissionDenied "" 78 | "ermission denied" | r"(?:^|: |’: |': )[Pp]ermission denied\.?$",
        "bash: line 1: ./deploy.sh: Permission denied", "the system refused";
    PermissionDenied "" 76 | "peration not permitted" | r": Operation not permitted$",
        "chown: changing ownership of 'x': Operation not permitted", "the system refused";
    SyntaxError "" 78 | "syntax error" | r"^\S+: (?:line \d+: |\d+: |eval: )?(?:[Ss]yntax error)\b",
        "x.sh: line 3: syntax error near unexpected token `fi'", "the script does not parse";
    Timeout "command" 88 | "timed out after" | r"(?i)(?:command|process|step|job|action|operation)\b.{0,80}\btimed out after",
        "error: command timed out after 2s (exit code 124)", "the command's limit";
    Timeout "command" 88 | "has exceeded the maximum execution time" | r"has exceeded the maximum execution time of",
        "The job running on runner X has exceeded the maximum execution time of 360 minutes.", "the job's limit";
    Timeout "command" 86 | "did not respond within" | r"did not respond within",
        "server did not respond within 30s", "a probe's limit";
    Timeout "command" 39 | "124" | r"(?i)\b(?:exit(?:ed)?|completed|failed)\b.{0,20}\b(?:code|status):? 124\b",
        "Process exited with code 124", "the exit code of timeout(1), when nothing else is said";
    Timeout "command" 80 | "sending signal TERM" | r"timeout: sending signal (?:TERM|KILL) to command",
        "timeout: sending signal TERM to command ‘sleep’", "the command's limit";
    ConfigError "missing_target" 82 | "No rule to make target" | r"No rule to make target [‘'`]?[^'’`]+",
        "make: *** No rule to make target 'biuld'.  Stop.", "the makefile has no such target";
    ConfigError "" 82 | "missing separator" | r"^\S+:\d+: \*\*\* missing separator",
        "Makefile:2: *** missing separator.  Stop.", "the makefile does not parse";
    ConfigError "" 82 | "No targets specified and no makefile found" | r"No targets specified and no makefile found",
        "make: *** No targets specified and no makefile found.  Stop.", "there is no makefile here";
};

pub(super) const SYSTEM: &[Rule] = rules! {
    Timeout "network" 87 | "curl: (28)" | r"curl: \(28\)",
        "curl: (28) Operation timed out after 1001 milliseconds", "the server did not answer";
    ConnectionRefused "" 87 | "curl: (7)" | r"curl: \(7\)",
        "curl: (7) Failed to connect to localhost port 1 after 0 ms: Couldn't connect to server", "nothing listens there";
    AuthFailed "" 87 | "curl: (22)" | r"curl: \(22\) The requested URL returned error: 40[13]",
        "curl: (22) The requested URL returned error: 401", "the server refused the credentials";
    NetworkError "" 86 | "curl: (" | r"curl: \((?:5|6|22|35|52|56|60|92)\)",
        "curl: (6) Could not resolve host: x", "curl could not speak to the server";
    ConnectionRefused "" 87 | "Cannot connect to the Docker daemon" | r"Cannot connect to the Docker daemon",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?", "the daemon is not running";
    ConnectionRefused "" 87 | "docker API" | r"failed to connect to the docker API",
        "failed to connect to the docker API at unix:///var/run/docker.sock", "the daemon is not running";
    PermissionDenied "" 88 | "docker" | r"permission denied while trying to connect to the [Dd]ocker",
        "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock", "the user may not use the daemon";
    PortInUse "" 87 | "port is already allocated" | r"port is already allocated",
        "Bind for 0.0.0.0:5432 failed: port is already allocated", "another container holds the port";
    AuthFailed "" 86 | "ull access denied" | r"(?:pull access denied for|unauthorized: authentication required|denied: requested access to the resource is denied)",
        "Error response from daemon: pull access denied for x", "the registry refused the credentials";
    FileNotFound "" 80 | "failed to read dockerfile" | r"failed to read dockerfile: open (?<path>\S+): no such file",
        "ERROR: failed to read dockerfile: open Dockerfile: no such file or directory", "there is no such file";
    ConnectionRefused "" 64 | "onnection refused" | r"\b[Cc]onnection refused\b",
        "psql: error: connection to server at \"localhost\" failed: Connection refused", "nothing listens there, in any tool's words";
    NetworkError "" 60 | "name resolution" | r"Temporary failure in name resolution",
        "ping: x: Temporary failure in name resolution", "the name does not resolve";
    Crash "" 93 | "Segmentation fault" | r"\bSegmentation fault\b",
        "Segmentation fault (core dumped)", "the process died";
    Crash "" 92 | "core dumped" | r"\b(?:Aborted|Bus error|Illegal instruction|Trace/breakpoint trap) \(core dumped\)",
        "Aborted (core dumped)", "the process died";
    Crash "" 90 | "panicked at" | r"^thread '[^']*' (?:\(\d+\) )?panicked at ",
        "thread 'main' panicked at src/main.rs:2:5:", "a native tool died";
    OutOfMemory "" 93 | "Out of memory" | r"(?:Out of memory: Killed process|oom-kill|OOMKilled)",
        "Out of memory: Killed process 4242 (node)", "the kernel took the process";
    OutOfMemory "" 92 | "OOMKilled" | r"OOMKilled",
        "State: Terminated, Reason: OOMKilled", "the kernel took the process";
    OutOfMemory "" 92 | "Cannot allocate memory" | r"Cannot allocate memory",
        "fork: Cannot allocate memory", "the allocation failed";
    DiskFull "" 92 | "Disk quota exceeded" | r"Disk quota exceeded",
        "write error: Disk quota exceeded", "the disk is full";
    DiskFull "" 92 | "database or disk is full" | r"database or disk is full",
        "sqlite3.OperationalError: database or disk is full", "the disk is full";
};

pub(super) const PROTOCOL: &[Rule] = rules! {
    TransportMismatch "" 85 | "StreamableHTTPError" | r"StreamableHTTPError: .*(?:Method Not Allowed|SSE|Not Acceptable|405|406)",
        "StreamableHTTPError: Streamable HTTP error: Error POSTing to endpoint: Method Not Allowed: this endpoint speaks SSE", "the server speaks another transport";
    TransportMismatch "" 85 | "SSE error" | r"SSE error: (?:Non-200 status code \((?:404|405|406)\)|Invalid content type)",
        "SseError: SSE error: Invalid content type, expected \"text/event-stream\"", "the server speaks another transport";
    TransportMismatch "" 84 | "must accept" | r"(?:Client must accept both application/json and text/event-stream|Not Acceptable: Client must accept)",
        "{\"error\":{\"message\":\"Not Acceptable: Client must accept text/event-stream\"}}", "the server speaks another transport";
    TransportMismatch "" 83 | "JSON-RPC" | r"(?i)(?:failed to parse|invalid|unexpected|not valid|malformed).{0,40}JSON-?RPC(?: message)?",
        "Failed to parse JSONRPC message from server? invalid JSON-RPC message", "what answers is not the protocol";
    TransportMismatch "" 83 | "JSONRPC" | r"Failed to parse JSONRPC message from server",
        "Failed to parse JSONRPC message from server", "what answers is not the protocol";
    TransportMismatch "" 83 | "transport" | r"(?i)(?:unsupported|wrong|unknown|mismatched|invalid) transport\b|transport (?:mismatch|type .* (?:is )?not supported)",
        "Error: unsupported transport: stdio server configured with a url", "said in so many words";
};
