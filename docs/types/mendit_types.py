"""Written by scripts/schema_types.py from docs/schemas; changes here are lost. For Python 3.11 and newer."""

from typing import Any, Literal, NotRequired, TypedDict, Union

# A place in the tree after the patch.
class AfterProblem(TypedDict):
    # Which problem.
    code: "Code"
    # Its line after the patch, counted from 1.
    line: int
    # What is wrong.
    message: str
    # The file.
    path: str

# What came of one agent.
class AgentRow(TypedDict):
    # Its name.
    agent: str
    # Fixtures of which a run was called fixed and the hidden tests failed.
    hiddenFailed: int
    # Fixtures of which something forbidden was found in what a run wrote.
    leaks: int
    # What its figures say, and what they do not.
    measures: str
    # What was repaired.
    repairs: "Repairs"
    # What its packets showed.
    sight: "Sight"
    # Fixtures that came out as they should.
    totals: "Tally"
    # Repairs without a model where the fixture calls that unsafe.
    wrongHeals: int

# An agent that could not do its work, for a reason of its own.
class AgentTrouble(TypedDict):
    # How its process ended, such as `exit code 1`.
    end: str
    # What it lacks.
    kind: "TroubleKind"
    # The last lines that it wrote, secrets masked.
    lastLines: list[str]
    # Seconds after which its service takes it again, by its own word; `null` when it names none.
    retryAfterSeconds: Union[float, None]

# Another kind that the evidence allows.
class Alternative(TypedDict):
    # 0 to 1.
    confidence: float
    # The kind.
    kind: "FailureKind"

# `result.json` of an attempt.
class AttemptResult(TypedDict):
    # Seconds the agent had.
    agentTimeoutSeconds: float
    # Why the agent could not do its work; `null` when it did.
    agentTrouble: Union["AgentTrouble", None]
    # Counted from 1.
    attempt: int
    # Attempts so far, this one included.
    attempts: int
    # The report's word for it.
    category: "Category"
    # Whether its change is nothing but imports that were certain before they were tried.
    certain: bool
    # What the agent says it has done.
    completedSteps: list[str]
    # Of the files that were sent, those that the agent says it used.
    contextUsed: list[str]
    # Always `result`.
    document: Literal['result']
    # Seconds.
    durationSeconds: float
    # The first code of the patch verdict, when the patch was not applied.
    errorCode: Union[str, None]
    # Files that the change touches.
    filesModified: list[str]
    # Whether later attempts stand on this change.
    kept: bool
    # The rung of the ladder.
    level: "Level"
    # One sentence: why it ended so.
    message: str
    # What the command's output says after the change.
    observed: Union["Observed", None]
    # Who made the change.
    origin: "Origin"
    # Bytes of the packet.
    packetBytes: int
    # SHA-256 of the canonical patch in hex; `null` without one.
    patchDigest: Union[str, None]
    # Whether the agent did anything before it ended: wrote output or changed files.
    progress: bool
    # What stands behind commands that pass; `null` when they do not.
    proof: Union["Proof", None]
    # SHA-256 in hex of what the agent said; `null` when it said nothing.
    replyDigest: Union[str, None]
    # Paths that the agent asked for.
    requestedFiles: list[str]
    # Version of this document's shape.
    schemaVersion: Literal[1]
    # As for a run.
    status: "RunStatus"
    # How it ended.
    stopReason: "StopReason"
    # How the command ended after the change; `null` when it was not run.
    testResult: Union["TestResult", None]
    # Whether it ran out of them, whatever came of its edits.
    timedOutAgent: bool
    # What the agent says it cost.
    usage: Union["ResultUsage", None]

# `bench --agent all --format json`: the built-in agents beside each other.
class BenchAgents(TypedDict):
    # A row an agent, in the order they ran.
    agents: list["AgentRow"]
    # Always `benches`.
    document: str
    # The highest rung that was allowed.
    maxLevel: "Level"
    # Which part of the fixtures this is; `null` is all.
    partition: Union["Partition", None]
    # Always [`super::SCHEMA_VERSION`].
    schemaVersion: int

# `bench --format json`: how often the loop repairs what fixtures broke.
class BenchDocument(TypedDict):
    # Who was asked: `builtin`, `oracle`, `replay` or a command.
    agent: str
    # By the kind of the failure.
    byKind: list["TallyRow"]
    # By language.
    byLanguage: list["TallyRow"]
    # By the level that the fixture says it needs.
    byLevel: list["TallyRow"]
    # By the public repository that they come from; empty for made ones.
    byRepository: list["TallyRow"]
    # Against an earlier document.
    comparison: Union["Comparison", None]
    # Always `bench`.
    document: str
    # One row a fixture, by name.
    fixtures: list["FixtureOutcome"]
    # Fixtures of which a run was called fixed and the hidden tests failed.
    hiddenFailed: int
    # How many were fixed by each rung.
    ladder: list["Rung"]
    # Fixtures of which something forbidden was found in what a run wrote.
    leaks: int
    # The highest rung that was allowed.
    maxLevel: "Level"
    # What the figures say with that agent, and what they do not.
    measures: str
    # Which part of the fixtures this is; `null` is all.
    partition: Union["Partition", None]
    # What was repaired, with and without what is easy.
    repairs: "Repairs"
    # Always [`super::SCHEMA_VERSION`].
    schemaVersion: int
    # What the packets showed of what a repair needs.
    sight: "Sight"
    # What packets showed up to each rung.
    sightByLevel: list["LevelSight"]
    # Over all of them.
    totals: "Tally"
    # Repairs without a model where the fixture calls that unsafe.
    wrongHeals: int

# What a reply cost, as the agent says.
class BenchDocumentUsage(TypedDict):
    # Dollars; `null` where nobody told them.
    costUsd: Union[float, None]
    # Tokens read.
    inputTokens: int
    # Tokens written.
    outputTokens: int

# `bench compare`: two benches over the same cases, case by case.
class BenchPairs(TypedDict):
    # Repaired by both.
    both: int
    # Cases that both ran.
    cases: int
    # Always `bench-pairs`.
    document: str
    # The first.
    first: "PairedSide"
    # Repaired by neither.
    neither: int
    # Repaired by the first alone.
    onlyFirst: list[str]
    # Repaired by the second alone.
    onlySecond: list[str]
    # The two-sided exact test for paired shares: how likely a difference as large is where there is none.
    p: float
    # Always [`super::SCHEMA_VERSION`].
    schemaVersion: int
    # The second.
    second: "PairedSide"
    # Cases that one of them did not run; they count for nothing.
    unpaired: list[str]

# A git blob id.
BlobId = str

# Something that stood in the way.
class Blocker(TypedDict):
    # In how many runs.
    runs: int
    # What.
    what: str

# Hard limits of one packet. Targets, manifests and mentioned lines do not use up `max_files`.
class Caps(TypedDict):
    # Bytes of one file's content.
    maxFileBytes: int
    # Files beyond targets and manifests.
    maxFiles: int
    # Estimated tokens of all content; `null` when there is no such limit.
    maxTokens: Union[int, None]
    # Bytes of content beyond the targets (level 1), or of all content (level 2 and up).
    maxTotalBytes: int

# The five words of a failure report (R44). Derived from kind and stop reason, never parsed.
Category = Literal['timeout', 'missing_context', 'tool_error', 'invalid_task', 'partial']

# What a name that is missing wants.
class CertainImport(TypedDict):
    # The name that is missing.
    name: str
    # The statement that binds it, `right for wrong` for a spelling, or where a module stands now.
    statement: str
    # Whether `mendit fix` adds it, or tries it under the tests.
    tried: bool

# The change under test.
class ChangeUnderTest(TypedDict):
    # The base as the caller named it.
    base: str
    # The unified diff, redacted.
    diff: str
    # Files that differ from the base, sorted.
    files: list["RepoPath"]

# What is there and what is missing for a repair in this place.
class Checkup(TypedDict):
    # Always `checkup`.
    document: Literal['checkup']
    # A row for each thing that was looked at.
    rows: list["CheckupRow"]
    # The version of this document.
    schemaVersion: Literal[1]

# One thing that was looked at.
class CheckupRow(TypedDict):
    # What mends it, for a person to type.
    command: Union[str, None]
    # The same in words.
    message: str
    # What was looked at.
    name: str
    # How it stands.
    state: "CheckupState"

# How a thing stands.
CheckupState = Union[Literal['good'], Literal['weak'], Literal['missing']]

# `report.json`: why a run failed, in the words of a failure report (R47).
class ChildFailure(TypedDict):
    # What stands in the way; `null` when nothing particular does.
    blockedOn: Union[str, None]
    # One of five.
    category: "Category"
    # What was done before it failed, in order.
    completedSteps: list[str]
    # Always `report`.
    document: str
    # Seconds.
    duration: float
    # Files that were changed.
    filesModified: list[str]
    # The issue that the task belongs to; `null` without one.
    issue: Union[str, None]
    # The last thing that worked; `null` when nothing did.
    lastSuccessfulTool: Union[str, None]
    # One sentence.
    message: str
    # Whether trying again makes sense.
    retryable: bool
    # Always [`super::SCHEMA_VERSION`].
    schemaVersion: int
    # The run's name.
    sessionId: str
    # What to do, most useful first.
    suggestedActions: list[str]
    # How to try again; `null` when it makes no sense.
    suggestedRetry: Union[str, None]
    # The task's own name in the tracker it came from; `null` without one.
    taskId: Union[str, None]
    # How often each thing was done.
    toolUsage: dict[str, int]

# Whose a failure is.
CiCause = Union[Literal['regression'], Literal['broken_on_base'], Literal['flaky'], Literal['infrastructure'], Literal['unattributed']]

# One failure of a CI run.
class CiFailure(TypedDict):
    # Whose it is.
    cause: "CiCause"
    # The jobs that show it.
    jobs: list[str]
    # What it comes to.
    summary: "RunSummary"

# What failed in a CI run.
class CiReport(TypedDict):
    # Attempts at a repair, of all failures together.
    attempts: int
    # Always `ci-report`.
    document: Literal['ci-report']
    # Each failure once, with the jobs that show it.
    failures: list["CiFailure"]
    # Jobs of this run whose failure no repair that was tried has shown to be mended.
    left: list[str]
    # Jobs that passed.
    passed: list[str]
    # Whether the test command passes in this worktree as it is: what the logs tell of does not fail
    # here.
    passesHere: bool
    # A patch for what could be mended.
    patch: Union[str, None]
    # The version of this document.
    schemaVersion: Literal[1]
    # The same, line by line of the files as they are.
    suggestions: list["CiSuggestion"]
    # What the agent says they took; `null` where none was asked or it told nothing.
    usage: Union["CiReportUsage", None]
    # Whether the test command passes with it; `None` when it was not run.
    verified: Union[bool, None]

# What a reply cost, as the agent says.
class CiReportUsage(TypedDict):
    # Dollars; `null` where nobody told them.
    costUsd: Union[float, None]
    # Tokens read.
    inputTokens: int
    # Tokens written.
    outputTokens: int

# What to put in place of some lines.
class CiSuggestion(TypedDict):
    # 1-based last line.
    line: int
    # The file.
    path: str
    # The lines that shall stand there instead.
    replacement: list[str]
    # 1-based first line.
    startLine: int

# One file of a closure.
class ClosureEntry(TypedDict):
    # Imports between it and the nearest target; 0 for a target.
    hops: int
    # The file.
    path: "RepoPath"
    # The files between, both ends excluded.
    via: list["RepoPath"]

# A stable code; `mendit explain CODE` says what it means.
Code = str

# One run of a command.
class CommandAttempt(TypedDict):
    # Wall-clock seconds; 0 of a run that an agent's hook told of.
    durationSeconds: float
    # How it ended, in words.
    end: str
    # Its exit code.
    exit: Union[int, None]
    # Processes that it left behind, which were ended.
    leaked: int
    # Bytes that it wrote, those not kept included.
    outputBytes: int
    # The signal that ended it.
    signal: Union[int, None]
    # Whether the time limit ended it.
    timedOut: bool

# `run.json`: how a command that was run ended, and what its failure comes to.
class CommandRecord(TypedDict):
    # Every run of it, in order: more than one when it was tried again.
    attempts: list["CommandAttempt"]
    # The command, with secrets masked.
    command: str
    # What the log of the last run that failed says.
    diagnosis: Union["Diagnosis", None]
    # Always `run`.
    document: Literal['run']
    # When the last run of it ended.
    endedAt: Union[str, None]
    # Walls of the sandbox that could not be had, and why.
    notConfined: list["NotConfined"]
    # The name of the run that is kept of it.
    runId: Union[str, None]
    # `enforced`, `partial` or `none`: how far it was kept from writing elsewhere.
    sandbox: str
    # The version of this document.
    schemaVersion: Literal[1]
    # When the first run of it began, in UTC, such as `2026-01-31T12:00:00.000Z`.
    startedAt: Union[str, None]
    # How it ended.
    status: "CommandStatus"
    # The same in a few lines.
    summary: Union["RunSummary", None]
    # The last run of it.
    testResult: Union["CommandAttempt", None]
    # The folder of the documents; `None` when it passed.
    writtenTo: Union[str, None]

# One run of the commands.
class CommandRun(TypedDict):
    # Seconds.
    seconds: float
    # Whether it was of all the commands, and not of the tests that failed alone.
    whole: bool
    # What it was for.
    why: str

# How a command ended, all its runs together.
CommandStatus = Union[Literal['passed'], Literal['flaky'], Literal['failed'], Literal['interrupted']]

# What differs from an earlier document.
class Comparison(TypedDict):
    # Not there then.
    added: list[str]
    # Passes now and did not then.
    gained: list[str]
    # Passed then, and was not run now.
    missing: list[str]
    # Passed then and not now.
    regressed: list[str]

# `context.json`: what was chosen for a failure, and why.
class ContextDocument(TypedDict):
    # The limits in force.
    caps: "Caps"
    # The change that made it fail, where trials on these very files showed one.
    cause: NotRequired[Union["KnownCause", None]]
    # The change under test, when a base was given.
    change: Union["ChangeUnderTest", None]
    # What the log says; `null` without a log.
    diagnosis: Union["Diagnosis", None]
    # Always `context`.
    document: Literal['context']
    # Why this rung: the rule and its evidence in one sentence.
    escalationReason: str
    # The files with their content, in the order of `files_included`.
    files: list["PacketFile"]
    # Paths in packet order: targets, then by rank, manifests last.
    filesIncluded: list["RepoPath"]
    # Files that were asked for or named and refused.
    filesRejected: list["RejectedFile"]
    # Paths an agent asked for, as asked.
    filesRequested: list[str]
    # Import hints for undefined names.
    hints: list[str]
    # What history was used.
    history: "History"
    # SHA-256 of everything the packet was made from, in hex.
    inputSha256: str
    # The rung of the ladder.
    level: "Level"
    # Files worth asking for next, best first.
    next: list["RepoPath"]
    # The same, each with the reason.
    nextWhy: list["NextFile"]
    # Candidates that were left out, the best first: 50 at most.
    omitted: list["Omission"]
    # How many were left out in all, by code.
    omittedCounts: dict[str, int]
    # SHA-256 of this document with this field empty, in hex.
    packetSha256: str
    # How places were given out.
    profile: "Profile"
    # What the repository holds.
    repoIndex: "RepoIndex"
    # Version of this document's shape.
    schemaVersion: Literal[1]
    # Bytes of content of all files.
    totalBytes: int
    # Estimated tokens of content of all files.
    totalTokens: int
    # Files that an earlier packet held in the same form; their content is not repeated.
    unchanged: list["UnchangedFile"]
    # Imports of included files that lead to no file.
    unresolvedImports: list["UnresolvedImport"]

# Experiments on the formerly failing tests, beside a green run.
class CounterProof(TypedDict):
    # The tests without what tells code that it is tested.
    disguise: "Disguise"
    # The values that were exchanged, one at a time.
    expectations: list["TriedExpectation"]
    # What could not be tried and why, a sentence each.
    notApplicable: list[str]
    # Runs of these tests that it took.
    runs: int
    # What they show.
    verdict: "CounterVerdict"

# What a counter-proof shows.
CounterVerdict = Union[Literal['holds'], Literal['refuted'], Literal['not_applicable'], Literal['off']]

# What a log says went wrong.
class Diagnosis(TypedDict):
    # Other kinds the evidence allows, best first.
    alternatives: list["Alternative"]
    # The report's word for it.
    category: "Category"
    # 0 to 1 in steps of 0.05.
    confidence: float
    # The lines that say so, in log order.
    evidence: list["Evidence"]
    # One sentence for a person.
    explanation: str
    # Tests that failed, in the runner's own spelling, in log order.
    failingTests: list[str]
    # The failures of the log, the first cause first; what only follows from it is marked.
    failures: list["Failure"]
    # Files the log names, most telling first.
    files: list["MentionedFile"]
    # The primary kind.
    kind: "FailureKind"
    # What of the log had no say, when there is such a thing.
    leftOut: Union["LeftOut", None]
    # Names that a module does not export, in log order.
    missingExports: list[str]
    # Modules that were not found, in log order.
    missingModules: list[str]
    # Whether nothing but a person's action helps.
    requiresUserAction: bool
    # The rule that decided, for `mendit explain`; none when no single rule did.
    rule: Union[str, None]
    # A finer word, if the evidence gives one.
    subkind: Union["Subkind", None]
    # What to do about it, in one sentence.
    suggestedFix: str
    # The same tests with their runner and, when the log says it, their place.
    tests: list["FailedTest"]
    # The tool whose output it is, when recognised.
    tool: Union[str, None]
    # Names the log calls undefined, in log order.
    undefinedNames: list[str]

# A diagnosis as `mendit diagnose` prints it.
class DiagnosisDocument(TypedDict):
    # Other kinds the evidence allows, best first.
    alternatives: list["Alternative"]
    # The report's word for it.
    category: "Category"
    # 0 to 1 in steps of 0.05.
    confidence: float
    # Always `diagnosis`.
    document: Literal['diagnosis']
    # The lines that say so, in log order.
    evidence: list["Evidence"]
    # One sentence for a person.
    explanation: str
    # Tests that failed, in the runner's own spelling, in log order.
    failingTests: list[str]
    # The failures of the log, the first cause first; what only follows from it is marked.
    failures: list["Failure"]
    # Files the log names, most telling first.
    files: list["MentionedFile"]
    # The primary kind.
    kind: "FailureKind"
    # What of the log had no say, when there is such a thing.
    leftOut: Union["LeftOut", None]
    # Names that a module does not export, in log order.
    missingExports: list[str]
    # Modules that were not found, in log order.
    missingModules: list[str]
    # Whether nothing but a person's action helps.
    requiresUserAction: bool
    # The rule that decided, for `mendit explain`; none when no single rule did.
    rule: Union[str, None]
    # Version of this document's shape.
    schemaVersion: Literal[1]
    # A finer word, if the evidence gives one.
    subkind: Union["Subkind", None]
    # What to do about it, in one sentence.
    suggestedFix: str
    # The same tests with their runner and, when the log says it, their place.
    tests: list["FailedTest"]
    # The tool whose output it is, when recognised.
    tool: Union[str, None]
    # Names the log calls undefined, in log order.
    undefinedNames: list[str]

# How the tests ended without what tells code that it is tested.
Disguise = Union[Literal['passed'], Literal['partly'], Literal['failed'], Literal['not_applicable']]

# A candidate that was tried and dropped.
class DroppedCandidate(TypedDict):
    # The commit.
    commit: str
    # The reason, one of the keys of `dropped`.
    reason: str
    # What was seen, in a few words.
    said: str

# A line of the log that carries the diagnosis.
class Evidence(TypedDict):
    # 1-based line of the log as it was given.
    line: int
    # The line, without escapes and CI prefixes.
    text: str

# How a test ended that expects something else.
ExpectationEnd = Union[Literal['failed'], Literal['passed'], Literal['not_reached'], Literal['not_run']]

# A test that failed.
class FailedTest(TypedDict):
    # 1-based line in that file.
    crashLine: Union[int, None]
    # Where in the repository the exception was raised, when that is not the test's own line.
    crashPath: Union[str, None]
    # The runner's own spelling.
    id: str
    # 1-based line in that file.
    line: Union[int, None]
    # 1-based line of the log that says why it failed.
    logLine: Union[int, None]
    # What it died of, in one line, from the log or a report.
    message: Union[str, None]
    # Its file: the repository's when it was found there, else as the log has it.
    path: Union[str, None]
    # The runner that reported it.
    runner: str

# One failure of several in a log.
class Failure(TypedDict):
    # How many lines say the same.
    count: int
    # Whether it only follows from an earlier one.
    follows: bool
    # Its kind.
    kind: "FailureKind"
    # 1-based line of the log.
    line: int
    # The file of the repository that is named there, of what fails beside the first cause.
    path: Union[str, None]
    # The 1-based line in it.
    pathLine: Union[int, None]
    # The rule that says so.
    rule: Union[str, None]
    # A finer word, if the evidence gives one.
    subkind: Union["Subkind", None]
    # The tool that reported it.
    tool: Union[str, None]

# What the evidence in a log says: the closed list of the contract.
FailureKind = Union[Literal['import_error', 'ts_error', 'static_type_error', 'syntax_error', 'runtime_error', 'zod_error', 'pydantic_error', 'drizzle_error', 'db_error', 'test_failure', 'snapshot_mismatch', 'test_setup_error', 'lint_error', 'config_error', 'command_not_found', 'connection_refused', 'auth_failed', 'missing_env_var', 'transport_mismatch', 'permission_denied', 'timeout', 'network_error', 'port_in_use', 'disk_full', 'out_of_memory', 'crash', 'file_not_found', 'dependency_error', 'patch_error', 'unknown'], Literal['none']]

# `failure-packet.json`: what an agent is given.
class FailurePacket(TypedDict):
    # What is left to spend.
    budget: "PacketBudget"
    # Bytes of content of all files.
    contextBytes: int
    # The rung of the ladder.
    contextLevel: "Level"
    # Always `failure-packet`.
    document: Literal['failure-packet']
    # What failed.
    failure: "FailureSummary"
    # The files of the context document.
    fileSnapshots: list["PacketFile"]
    # Changes of this run that helped; the files and the log are those with them.
    kept: list["KeptChange"]
    # The log.
    logs: "LogExcerpt"
    # Such paths beyond those listed.
    moreProtectedPaths: NotRequired[Union[int, None]]
    # How the attempt before this one ended.
    previous: Union["PreviousAttempt", None]
    # Globs a patch must not touch.
    protectedPaths: list[str]
    # Import hints, when names were undefined.
    recoveryContext: Union["RecoveryContext", None]
    # The repository index of the context document.
    repoIndex: "RepoIndex"
    # Paths an agent asked for.
    requestedFiles: list[str]
    # Version of this document's shape.
    schemaVersion: Literal[1]
    # Files the failure is about.
    targets: list["RepoPath"]
    # What is wanted beyond passing commands.
    task: Union[str, None]
    # Commands that show the failure.
    testCommands: list[str]

# The failure in short.
class FailureSummary(TypedDict):
    # The lines of the log that say so.
    evidence: list["Evidence"]
    # The diagnosed kind.
    kind: "FailureKind"
    # One sentence.
    message: str
    # A finer word.
    subkind: Union["Subkind", None]

# What a run changes in one file.
class FileChange(TypedDict):
    # Lines that come.
    added: int
    # The file.
    path: str
    # Lines that go.
    removed: int
    # Whether it is new and no other file has its name, as an import of it would.
    unnamed: bool

# How much of a file is in the packet.
FileMode = Union[Literal['full'], Literal['skeleton'], Literal['window']]

# What the judge says about one file of the patch.
class FileVerdict(TypedDict):
    # One entry for each hunk, in the order of the patch.
    hunks: list["HunkVerdict"]
    # git's mode after the patch in octal, such as `100644`; `null` when unchanged or deleted.
    mode: Union[str, None]
    # Where it came from, for renames and copies.
    oldPath: Union[str, None]
    # What happens to it.
    operation: "Operation"
    # The file after the patch, or the one deleted.
    path: str

# The first line of a hunk that is not in the file as the hunk has it.
class FirstDifference(TypedDict):
    # What the file has; `null` past its end.
    actual: Union[str, None]
    # What the patch has, lossily decoded.
    expected: str
    # Line of the file, counted from 1.
    fileLine: int
    # Line of the patch, counted from 1.
    patchLine: int

# How one fixture went.
class FixtureOutcome(TypedDict):
    # Times the agent was called.
    agentCalls: int
    # Attempts, heals included.
    attempts: int
    # Seconds in which its test was run, of all seconds.
    commandSeconds: float
    # Whether the first packet held every needed file, whole or in part.
    firstHeld: bool
    # Whether a repair exists that a run can make.
    fixable: bool
    # Whether a change without a model repaired it.
    healed: bool
    # The lowest rung whose packet held every needed file, whole or in part; `null` when none did.
    heldLevel: Union["Level", None]
    # What its hidden tests said of the repaired files; `null` when it has none or nothing was
    # fixed.
    hidden: Union["HiddenTests", None]
    # Whether it has hidden tests.
    hiddenTests: bool
    # The fixture's folder.
    id: str
    # The kind that it names.
    kind: "FailureKind"
    # Its language.
    language: str
    # Where something forbidden was found: files of the run's folder.
    leaks: list[str]
    # The highest rung that was used.
    level: "Level"
    # The level that it says its repair needs.
    neededLevel: Union["Level", None]
    # Bytes of all its packets.
    packetBytes: int
    # Estimated tokens of the files of all its packets.
    packetTokens: int
    # A digest over level and files of each packet, in order.
    packets: list[str]
    # Whether it was repaired: the run is fixed, and no hidden test says otherwise.
    repaired: bool
    # The public repository that it comes from; `null` for one that was made.
    repository: Union[str, None]
    # Whether it came out as it should.
    result: "FixtureResult"
    # Seconds.
    seconds: float
    # The lowest rung whose packet held them and showed every line that the repair changes; `null`
    # when none did.
    shownLevel: Union["Level", None]
    # How the run stood; `null` when there was none.
    status: Union["RunStatus", None]
    # How it ended.
    stopReason: Union["StopReason", None]
    # What is broken.
    title: str
    # Whether it is easy: the failure names the one file, and the one place in it, to change.
    toy: bool
    # What the agent says it cost.
    usage: "BenchDocumentUsage"
    # What is not as it should be, a sentence each; empty when it passed.
    why: list[str]

# Whether a fixture came out as it should.
FixtureResult = Union[Literal['passed'], Literal['failed'], Literal['skipped'], Literal['error']]

# What agents were spared of logs.
class Gain(TypedDict):
    # Always `gain`.
    document: Literal['gain']
    # A row for each worktree.
    repositories: list["GainRow"]
    # The version of this document.
    schemaVersion: Literal[1]
    # Of all worktrees together.
    total: "GainRow"

# The same of one worktree.
class GainRow(TypedDict):
    # Tokens of their logs, estimated.
    logTokens: int
    # The worktree; empty for all of them.
    root: str
    # Runs that were told in brief.
    runs: int
    # Tokens of what was told instead.
    toldTokens: int

# One thing that must answer, and whether it does.
class HealedProbe(TypedDict):
    # Whether its configuration had to be changed.
    changed: bool
    # What stands in the way at the end; `null` when it answers.
    diagnosis: Union["Diagnosis", None]
    # Whether it answers.
    fixed: bool
    # One sentence, such as `Connected. 8 tools available.`
    message: str
    # `test`, or the server's name.
    name: str
    # Seconds it was given.
    timeoutSeconds: float
    # The tools that a server offers, as it lists them.
    tools: list[str]
    # What is started or called at the end.
    transport: "ProbeTransport"
    # What a person must do; `null` when there is nothing.
    userActionNeeded: Union[str, None]

# One fix and what came of it.
class HealingAttempt(TypedDict):
    # Counted from 1 for each probe.
    attemptNumber: int
    # What was wrong before it.
    diagnosis: "Diagnosis"
    # What was changed; `null` when only a person can.
    fixApplied: Union[str, None]
    # Which probe.
    probe: str
    # How the probe answered after it, or what a person must do.
    result: str

# What `mendit heal` found and did (R36).
class HealingResult(TypedDict):
    # Every fix that was tried, in order.
    attempts: list["HealingAttempt"]
    # Always `healing`.
    document: Literal['healing']
    # The configuration as it is after the fixes, with secrets masked: `mcpServers` when there are
    # servers, `test` when there is a command.
    finalConfig: dict[str, Any]
    # Whether everything that was probed answers.
    fixed: bool
    # Each thing that must answer, in the order it was probed.
    probes: list["HealedProbe"]
    # Version of this document's shape.
    schemaVersion: Literal[1]
    # What a person must do; `null` when there is nothing.
    userActionNeeded: Union[str, None]

# What hidden tests say of what a run calls fixed.
HiddenTests = Union[Literal['passed'], Literal['failed']]

# What `mendit hint` prints.
class HintDocument(TypedDict):
    # Always `hint`.
    document: Literal['hint']
    # A unified diff that adds the certain imports; `null` when none was asked for or none is
    # certain.
    patch: Union[str, None]
    # The text for a prompt.
    recoveryHint: str
    # What is mended by hand, each with the line to type for it, where there is one.
    remedies: list["Remedy"]
    # Version of this document's shape.
    schemaVersion: Literal[1]
    # Proposed imports in the order of the names asked for, best first for each.
    suggestions: list["Suggestion"]
    # What `mendit fix` tries, in its order, each in a sentence; imports are among them.
    tried: list[str]

# What a suggestion rests on.
HintSource = Union[Literal['repo'], Literal['definition'], Literal['stdlib'], Literal['manifest'], Literal['similar']]

# What git history the packet rests on.
class History(TypedDict):
    # Commits that were read.
    commitsUsed: int
    # Whether the clone is shallow.
    shallow: bool

# What the judge says about one hunk.
class HunkVerdict(TypedDict):
    # The line of the file where it goes, counted from 1.
    appliedAt: Union[int, None]
    # All lines where it would fit, when there are several.
    candidates: list[int]
    # Why it does not apply.
    code: Union["Code", None]
    # Where it stops matching.
    firstDifference: Union["FirstDifference", None]
    # Counted from 1 within the file.
    index: int
    # The line the hunk names, counted from 1; `null` when it names none.
    line: Union[int, None]
    # The same in words.
    message: str
    # The block of the file that is most like it.
    nearest: Union["Nearest", None]
    # The answer.
    verdict: "Verdict"

# One import and one file it means.
class ImportEdge(TypedDict):
    # The regular file, when `path` is a symlink to it. Closures hold this one.
    behindLink: NotRequired[Union["RepoPath", None]]
    # With `--symbols`: the file that defines the row's names, behind re-exports.
    definedIn: NotRequired[Union["RepoPath", None]]
    # The package or standard-library module outside the repository.
    external: NotRequired[Union[str, None]]
    # The syntactic form.
    kind: "ImportKind"
    # 1-based line.
    line: int
    # For a pattern (`import.meta.glob('./*.ts')`) or a bundler's query without an extension
    # (`./x?worker`): the files it stands for now.
    matches: NotRequired[list["RepoPath"]]
    # The names this row takes; `*` for everything.
    names: list[str]
    # Not at the top level.
    nested: NotRequired[bool]
    # The file of the repository; null when outside it, unresolved, or a pattern.
    path: Union["RepoPath", None]
    # As written.
    specifier: str
    # Erased at run time.
    typeOnly: NotRequired[bool]

# The form of an import.
ImportKind = Union[Literal['import'], Literal['from'], Literal['export_from'], Literal['dynamic'], Literal['require'], Literal['import_equals'], Literal['reference'], Literal['mock'], Literal['glob'], Literal['url'], Literal['importlib'], Literal['dotted_string']]

# What `mendit imports` prints: edges of some files, and a closure when targets were given.
class ImportsDocument(TypedDict):
    # Files reached from the targets (with `--reverse`: that reach them), sorted by hops, then
    # path. Empty for a whole-repository graph.
    closure: list["ClosureEntry"]
    # One cycle for each knot of files that import each other when they are loaded, as a path that
    # starts at its smallest file.
    cycles: list[list["RepoPath"]]
    # Always `imports`.
    document: Literal['imports']
    # Source files with their imports, sorted by path; with `--reverse` the importers with those
    # imports that lead to what is asked for. Of components (`.vue`, `.svelte`, `.astro`, `.mdx`)
    # the script part is read: what their templates use is missing.
    files: list["ImportsFile"]
    # Files that were not read, or not read whole, sorted by path.
    problems: list["ImportsProblem"]
    # Version of this document's shape.
    schemaVersion: Literal[1]
    # Imports that are neither a file of the repository nor outside it, sorted.
    unresolved: list["UnresolvedImport"]

# One importing file.
class ImportsFile(TypedDict):
    # Its imports in source order; one row for each file an import means.
    imports: list["ImportEdge"]
    # The file.
    path: "RepoPath"

# Something that could not be read.
class ImportsProblem(TypedDict):
    # 1-based line; 0 for the file as a whole.
    line: int
    # What is wrong, in words.
    message: str
    # The file.
    path: "RepoPath"

# A change that later attempts stand on.
class KeptChange(TypedDict):
    # The attempt that made it, counted from 1.
    attempt: int
    # Files that it touches.
    files: list[str]
    # What it did, in one sentence.
    message: str
    # Who made it.
    origin: "Origin"

# The change that made a command fail, as trials on these very files showed it.
class KnownCause(TypedDict):
    # The smallest set of changes without which the failing tests pass.
    changes: list["WhyChange"]
    # The answer of `mendit why` in one line.
    message: str

# What of a log had no say, and what of the answer is not shown.
class LeftOut(TypedDict):
    # Bytes of a huge log without a word that anything knows, and ends of overlong lines.
    bytes: int
    # Lines among them.
    lines: int
    # Lines that hold such a word and were more than there is room for.
    telling: int
    # Failing tests beyond those that are listed.
    tests: int

# A rung of the context ladder.
Level = int

# How many packets held what a repair needs up to one rung.
class LevelSight(TypedDict):
    # Every needed file was in a packet of this rung or a lower one.
    heldSoFar: int
    # The rung.
    level: "Level"
    # Fixtures that can be repaired and whose agent was given a packet.
    of: int
    # And every line that the reference changes was shown.
    shownSoFar: int

# A log within its limits.
class LogExcerpt(TypedDict):
    # Bytes of the whole log as given.
    bytes: int
    # Bytes left out of the middle.
    omittedBytes: int
    # Secrets that were masked in `text`.
    redactions: int
    # The text: escapes removed, secrets masked, what stands in it again told once, the middle left
    # out when it is too long.
    text: str

# One thing that was mended.
class Mend(TypedDict):
    # Which mend.
    code: "Code"
    # What was done.
    message: str
    # Line of the patch, counted from 1.
    patchLine: int
    # How much is left to trust.
    safety: "Safety"

# A file that the log names.
class MentionedFile(TypedDict):
    # 1-based column.
    column: Union[int, None]
    # Whether the path was found in the repository.
    inRepository: bool
    # 1-based line in that file.
    line: Union[int, None]
    # The repository's file when `in_repository`, else the path as the log has it.
    path: str

# `bench mine --format json`: what was looked at, kept and dropped.
class MineDocument(TypedDict):
    # The tried candidates that were dropped, newest first.
    candidates: list["DroppedCandidate"]
    # Commits of the main line that were looked at.
    commits: int
    # Always `bench-mine`.
    document: str
    # Why the others were dropped: how many, by reason.
    dropped: dict[str, int]
    # What is wrong with the history that could be looked at; empty when all of it is there.
    incomplete: list[str]
    # Fixes in the set.
    kept: int
    # Whether there is more to look at: `--limit` was reached.
    more: bool
    # Owner and name.
    repository: str
    # Always [`super::SCHEMA_VERSION`].
    schemaVersion: int
    # Seconds of this run.
    seconds: float
    # Commits that change tests and product and were tried, now or earlier.
    tried: int

# The block of a file that is most like a hunk.
class Nearest(TypedDict):
    # Its first line, counted from 1.
    line: int
    # Share of the hunk's old lines that stand there, 0 to 1, in hundredths.
    similarity: float

# A file that a fix changes.
class NeededFile(TypedDict):
    # Lines of the parent that change, first and last, from 1; where lines only come, the line
    # before. Empty for a file that the fix makes or removes.
    lines: list[list[int]]
    # The file.
    path: "RepoPath"

# A file worth asking for.
class NextFile(TypedDict):
    # Where it is.
    path: "RepoPath"
    # What speaks for it, in one sentence.
    why: str

# A wall that cannot be had.
class NotConfined(TypedDict):
    # Which.
    wall: "Wall"
    # What the system says.
    why: str

# What one failing run of the tests says, as far as the loop looks at it.
class Observed(TypedDict):
    # What each failing test failed with; without tests, the lines that say what failed.
    errors: list["TestError"]
    # Tests that failed, sorted.
    failingTests: list[str]
    # What failed.
    kind: "FailureKind"
    # One sentence.
    message: str
    # Whether the commands passed.
    passed: bool
    # Whether only a person can help.
    requiresUserAction: bool
    # The same for two runs that fail in the same way: hex digest of kind, tests and names.
    signature: str
    # A finer word.
    subkind: Union["Subkind", None]
    # How the command ended.
    testResult: "TestResult"
    # Names that the log calls undefined.
    undefinedNames: list[str]

# A candidate that is not in the packet.
class Omission(TypedDict):
    # Its size; `null` when that is not known.
    bytes: Union[int, None]
    # The stable reason.
    code: "Code"
    # Where it is, lossily decoded when the name is not UTF-8.
    path: str
    # Its place among the candidates; `null` when it was never one.
    rank: Union[int, None]
    # The reason in one sentence.
    reason: str
    # What would include it; empty when nothing would.
    remedy: str

# What a patch does to a file.
Operation = Union[Literal['modify'], Literal['create'], Literal['delete'], Literal['rename'], Literal['copy']]

# Where the change of an attempt came from.
Origin = Union[Literal['heal'], Literal['agent']]

# Two runs of the same commands: the lines that differ and those that say what failed, each with
# its neighbours.
class Outputs(TypedDict):
    # With it.
    after: str
    # Without the change.
    before: str
    # Whether they wrote the same; both texts are empty then.
    same: bool

# What is left to spend; `null` without a limit.
class PacketBudget(TypedDict):
    # Attempts.
    attemptsLeft: Union[int, None]
    # Seconds.
    secondsLeft: Union[int, None]

# One file of a packet.
class PacketFile(TypedDict):
    # The git blob id of the whole file.
    blobId: "BlobId"
    # Bytes of `content`.
    bytes: int
    # The text, decoded, with secrets masked.
    content: str
    # `utf-8`, `utf-8-bom`, `utf-16le`, `utf-16be`, or `latin-1`.
    encoding: str
    # Imports between it and the nearest target; `null` when no chain is known.
    hops: Union[int, None]
    # How much of it is here.
    mode: "FileMode"
    # Where it is.
    path: "RepoPath"
    # 1-based inclusive line ranges that `content` covers; empty when it is all.
    ranges: list[list[int]]
    # 1-based place among the ranked files; `null` for targets and manifests.
    rank: Union[int, None]
    # Where secrets were masked; these lines cannot be patched.
    redactions: list["Redaction"]
    # Why it is here, in one word.
    role: "Role"
    # The ranking's score; `null` when it was not ranked.
    score: Union[int, None]
    # The signals behind the score, by name.
    scores: dict[str, int]
    # SHA-256 of the whole file's bytes, in hex.
    sha256: str
    # Why less than all of it is here; left out of the document when nothing was cut.
    shortened: NotRequired[Union["Shortening", None]]
    # Estimated tokens of `content`.
    tokens: int
    # The chain of files from a target to this file, both ends left out.
    via: list["RepoPath"]
    # Characters a person would not see.
    warnings: list["TextWarning"]
    # Why it is here, in one sentence.
    why: str

# How large a packet is.
class PacketSize(TypedDict):
    # Their bytes.
    bytes: int
    # Files in it.
    files: int
    # The rung of the ladder.
    level: "Level"
    # Estimated tokens of the whole prompt: files, log and what is said of both.
    promptTokens: int
    # Their tokens, estimated.
    tokens: int

# One side of a paired comparison, over the cases that both ran.
class PairedSide(TypedDict):
    # The agent.
    agent: str
    # Calls of the agent.
    agentCalls: int
    # Estimated tokens of the files of all packets.
    packetTokens: int
    # Repaired.
    repaired: "Tally"
    # Seconds of all cases.
    seconds: float

# A part of a split run.
class PartResult(TypedDict):
    # Parts that came first because it uses what they change, by number.
    dependsOn: list[str]
    # `2` for the second part, `2.1` for the first of its own parts.
    number: str
    # How it ended; `null` when it was not begun, or cut off.
    status: Union["RunStatus", None]
    # One line.
    title: str

# A part of the fixtures.
class Partition(TypedDict):
    # Of how many.
    count: int
    # Which one, from 1.
    index: int

# The format a patch came in.
PatchFormat = Union[Literal['git'], Literal['unified'], Literal['search_replace'], Literal['apply_patch'], Literal['edits'], Literal['whole_file']]

# One thing that is wrong with a patch, or worth knowing about it.
class PatchProblem(TypedDict):
    # Which problem.
    code: "Code"
    # What to do about it.
    hint: Union[str, None]
    # What is wrong.
    message: str
    # Line of the patch, counted from 1; 0 for the patch as a whole.
    patchLine: int
    # The file concerned, when one is known; lossily decoded.
    path: Union[str, None]
    # Whether it stops the patch.
    severity: "Severity"

# What the judge says about one patch (`patch-verdict`, and `preflight.json` in a run).
class PatchVerdict(TypedDict):
    # The same change as a git patch with true line numbers and blob ids; `null` unless it applies.
    canonicalPatch: Union[str, None]
    # Always `patch-verdict`.
    document: Literal['patch-verdict']
    # The code of the first problem that is an error.
    errorCode: Union["Code", None]
    # A short text that tells the author of the patch what to send instead; empty when it applies.
    feedback: str
    # One entry for each file the patch names, in the order of the patch.
    files: list["FileVerdict"]
    # What the input was; `null` when it is no patch.
    format: Union["PatchFormat", None]
    # What had to be mended, in the order of the patch.
    mends: list["Mend"]
    # Places that parse in the tree and no longer parse after the patch.
    newSyntaxErrors: list["AfterProblem"]
    # Imports that the patch adds and that lead nowhere.
    newUnresolvedImports: list["AfterProblem"]
    # What is wrong or worth knowing, in the order of the patch.
    problems: list["PatchProblem"]
    # Version of this document's shape.
    schemaVersion: Literal[1]
    # The tree object after the patch, when one was computed.
    treeId: Union[str, None]
    # The answer.
    verdict: "Verdict"

# The attempt before.
class PreviousAttempt(TypedDict):
    # What failed with the patch in place.
    failure: Union[str, None]
    # Whether its change helped and stays.
    kept: bool
    # Why it ended so, in one sentence.
    message: Union[str, None]
    # What the commands wrote with its change, beside what they wrote without.
    outputs: Union["Outputs", None]
    # The patch it sent, when it is not large.
    patch: Union[str, None]
    # SHA-256 of its patch.
    patchDigest: Union[str, None]
    # Its patch verdict.
    preflight: Any
    # How it ended.
    stopReason: "StopReason"

# How a probe is reached.
ProbeTransport = Union[Literal['command'], Literal['stdio'], Literal['http']]

# How the places of a level are given out.
Profile = Union[Literal['ranked'], Literal['spec']]

# What stands behind the word `fixed`: what the runner of the tests itself says of the green run,
# beside what it said before the change.
class Proof(TypedDict):
    # Its own counts with the change; `null` when it gave none.
    after: Union["TestCounts", None]
    # Other runners and commands of the same run.
    also: list["RunnerProof"]
    # Its own counts before the change; `null` when it gave none.
    before: Union["TestCounts", None]
    # What was tried to show that the tests would fail were the change wrong; `null` where nothing was
    # proved that it could be tried on.
    counterProof: Union["CounterProof", None]
    # Runs with the change that passed; two when those without it did not end alike.
    greenRuns: int
    # What is missing, a sentence each.
    missing: list[str]
    # Values of failing tests that the change itself holds, given and expected, with their places: it may
    # answer these tests alone.
    ownValues: list[str]
    # Whether it is enough: nothing is missing.
    proven: bool
    # Runs without the change that failed.
    redRuns: int
    # Files that the command itself names and the change touches: the exit code is theirs to give.
    restsOn: list[str]
    # The runner; `null` when the command is none that is known.
    runner: Union["TestRunner", None]
    # Where its word was read.
    source: "ProofSource"
    # Each test that failed before, and how it ended.
    tests: list["ProvenTest"]

# Where the word of a runner was read.
ProofSource = Union[Literal['report'], Literal['text'], Literal['exit-code']]

# A test that failed before a change.
class ProvenTest(TypedDict):
    # How it ended with the change.
    ended: "TestEnd"
    # In the runner's own spelling.
    id: str

# So many of so many.
class Rate(TypedDict):
    # Runs that ended fixed.
    fixed: int
    # Runs.
    runs: int

# What the tests of some fixes are run in.
class RealEnvironment(TypedDict):
    # The commit whose files the set-up is run on.
    commit: str
    # Its name in the set.
    name: str
    # Programs without which it cannot be had.
    needs: list[str]
    # Lines for a shell, run once in the checkout; `{env}` is a folder of the environment's own.
    setup: list[str]
    # A line for a shell; `{tests}` are the test files.
    test: str
    # Seconds that a run of tests may take.
    timeoutSeconds: float
    # Variables of all its commands, `NAME=VALUE`.
    variables: list[str]

# One fix that was proven both ways.
class RealFix(TypedDict):
    # The commit that fixes; its tests are taken from there.
    commit: str
    # The environment's name.
    environment: str
    # Tests that failed, by number; 0 where the output names none.
    failing: int
    # Test files that import what the fix changes and are run with `tests` on the repaired files;
    # no run sees them asked for.
    hidden: list["RepoPath"]
    # Tests that passed with the fix when `tests` and `hidden` were run.
    hiddenPassed: int
    # Its name, such as `click-c3535905c`.
    id: str
    # What the failure was taken for.
    kind: "FailureKind"
    # Files that the fix changes, and the lines of the parent that it changes.
    needed: list["NeededFile"]
    # The commit that is to be fixed.
    parent: str
    # Files of tests and their data, as the fix has them, laid over the parent.
    taken: list["RepoPath"]
    # Test files that are run and seen.
    tests: list["RepoPath"]
    # Seconds since 1970 of the fix.
    time: int

# Fixes of one repository's history, by reference: what `bench mine` writes and `bench real` runs.
# Nothing of the repository's content stands in it.
class RealFixes(TypedDict):
    # Always `real-fixes`.
    document: str
    # What their tests are run in.
    environments: list["RealEnvironment"]
    # The fixes, newest first.
    fixes: list["RealFix"]
    # Whose fixes they are.
    repository: "RealRepository"
    # Always [`super::SCHEMA_VERSION`].
    schemaVersion: int

# A public repository.
class RealRepository(TypedDict):
    # The language that totals are given by.
    language: str
    # Its licence, as SPDX writes it.
    licence: str
    # Owner and name, such as `pallets/click`.
    name: str
    # Where it can be cloned from.
    url: str

# Import hints in the shape of R6.
class RecoveryContext(TypedDict):
    # The failure kind.
    errorType: "FailureKind"
    # The text for a prompt.
    recoveryHint: str
    # Name to import statement.
    suggestedImports: dict[str, str]
    # Names the log calls undefined.
    undefinedNames: list[str]

# A masked secret.
class Redaction(TypedDict):
    # 1-based line.
    line: int
    # The rule that found it.
    rule: str

# A place that the sandbox refused to be written.
class Refused(TypedDict):
    # Whether the agent was refused it, rather than the commands.
    agent: bool
    # The file or folder.
    path: str

# A file that was asked for and is not given.
class RejectedFile(TypedDict):
    # The stable reason.
    code: "Code"
    # The path as it was asked for.
    path: str
    # The reason in one sentence.
    reason: str

# A problem of the environment and the command that mends it.
class Remedy(TypedDict):
    # The line to type, for a person to decide on; nothing runs it.
    command: Union[str, None]
    # What is wrong.
    problem: str

# `repair-packet`: what an agent replies. Every field but `status` may be missing.
class RepairPacket(TypedDict):
    # What the agent says it has done.
    completedSteps: NotRequired[list[str]]
    # What the agent says it looked at.
    contextUsed: NotRequired[Any]
    # Replacements of text that stands once in a file.
    edits: NotRequired[list["ReplyEdit"]]
    # Whole files.
    files: NotRequired[list["ReplyFile"]]
    # Words for a person.
    notes: NotRequired[Union[str, None]]
    # A patch in any accepted format.
    patch: NotRequired[Union[str, None]]
    # Paths that the agent wants to see.
    requestedFiles: NotRequired[list[str]]
    # What the reply is.
    status: NotRequired["ReplyStatus"]
    # What the reply cost.
    usage: NotRequired[Union["RepairPacketUsage", None]]

# What a reply cost, as the agent says.
class RepairPacketUsage(TypedDict):
    # Dollars; `null` where nobody told them.
    costUsd: NotRequired[Union[float, None]]
    # Tokens read.
    inputTokens: NotRequired[int]
    # Tokens written.
    outputTokens: NotRequired[int]

# Shares of what was repaired. A run that is fixed and fails its hidden tests repaired nothing. Of
# all fixtures that can be repaired.
class Repairs(TypedDict):
    # Of all.
    all: "Tally"
    # Of the toys.
    toys: "Tally"
    # Of those with hidden tests.
    withHiddenTests: "Tally"
    # Of those that are no toys.
    withoutToys: "Tally"

# Text that stands once in a file, and what replaces it.
class ReplyEdit(TypedDict):
    # What shall stand there.
    new: str
    # What stands there; empty for a new file.
    old: str
    # The file.
    path: str

# A file as it shall be.
class ReplyFile(TypedDict):
    # All of its text.
    content: str
    # The file.
    path: str

# What a reply is.
ReplyStatus = Union[Literal['patch'], Literal['request_files'], Literal['invalid_task'], Literal['give_up']]

# What the repository holds, within a size limit.
class RepoIndex(TypedDict):
    # Files where programs or packages start.
    entrypoints: list["RepoPath"]
    # Files, sorted by path; those nearest to the targets when truncated.
    files: list["RepoIndexFile"]
    # Such files beyond those listed.
    moreEntrypoints: NotRequired[Union[int, None]]
    # Files in the repository.
    total: int
    # Whether files were left out.
    truncated: bool

# One row of the repository index.
class RepoIndexFile(TypedDict):
    # Its git blob id; `null` for what cannot be read, or may not be.
    blobId: Union["BlobId", None]
    # Its size in bytes.
    bytes: int
    # Where it is.
    path: "RepoPath"

# A path inside the repository: relative to its root, with `/` between its parts.
RepoPath = str

# `result.json` of a run, or of one of its attempts.
Result = Union["RunResult", "AttemptResult"]

# What a reply cost, as the agent says.
class ResultUsage(TypedDict):
    # Dollars; `null` where nobody told them.
    costUsd: Union[float, None]
    # Tokens read.
    inputTokens: int
    # Tokens written.
    outputTokens: int

# Why a file is in the packet.
Role = Union[Literal['target'], Literal['requested'], Literal['mentioned'], Literal['closure'], Literal['ranked'], Literal['manifest'], Literal['bundle']]

# One failure of a command.
class RunFailure(TypedDict):
    # Further tests that died of the same in the same place and are not listed; told with the last
    # one that is.
    alike: int
    # What it died of, in one line.
    error: str
    # The 1-based line in it.
    line: Union[int, None]
    # The file of the repository, when it is known.
    path: Union[str, None]
    # The test, in the runner's own spelling; empty when no test is named.
    test: str
    # The 1-based line in it that led there.
    testLine: Union[int, None]
    # The test's own file, where the error was raised in another place.
    testPath: Union[str, None]

# `result.json` of a run, also printed by `repair --format json`.
class RunResult(TypedDict):
    # Times the agent was called.
    agentCalls: int
    # Why the agent could not do its work, when that ended the run.
    agentTrouble: Union["AgentTrouble", None]
    # Whether the patch was put into the worktree.
    applied: bool
    # Attempts, heals included.
    attempts: int
    # The report's word for it; `null` when nothing failed.
    category: Union["Category", None]
    # The change that made the commands fail, in one line; `null` where no trial showed one.
    cause: Union[str, None]
    # Whether the patch is nothing but imports that were certain before they were tried, each seen
    # to help.
    certain: bool
    # Parts that a split run was made of, in the order they ran.
    children: list[str]
    # How often the tests that failed were run alone.
    chosenRuns: int
    # Each of these runs, and what it was for.
    commandRuns: list["CommandRun"]
    # Always `result`.
    document: Literal['result']
    # Seconds.
    durationSeconds: float
    # When it ended.
    endedAt: Union[str, None]
    # What failed at the start; `null` when nothing did.
    failure: Union["Observed", None]
    # The same with what of each changes.
    fileChanges: list["FileChange"]
    # Files that the final patch touches.
    filesModified: list[str]
    # The issue that the task belongs to; `null` without one.
    issue: Union[str, None]
    # The highest rung that was used.
    level: "Level"
    # One sentence: why it ended so.
    message: str
    # The same with where each stands, how deep it lies and how it ended.
    parts: list["PartResult"]
    # SHA-256 of `final.patch` in hex; `null` without one.
    patchDigest: Union[str, None]
    # What stands behind `fixed`, or what was missing; `null` when no change made the commands pass.
    proof: Union["Proof", None]
    # Imports for the names that stay undefined; `null` when there are no such names.
    recoveryHint: Union[str, None]
    # What fails with the changes that were kept; `null` when nothing was kept or nothing fails.
    remaining: Union["Observed", None]
    # The run's name: the last part of its folder.
    runId: str
    # Version of this document's shape.
    schemaVersion: Literal[1]
    # When it began, in UTC, such as `2026-01-31T12:00:00.000Z`; that of the first try of a run that was
    # resumed.
    startedAt: Union[str, None]
    # How it stands.
    status: "RunStatus"
    # How it ended.
    stopReason: "StopReason"
    # What a person should do next.
    suggestedActions: list[str]
    # The task's own name in the tracker it came from; `null` without one.
    taskId: Union[str, None]
    # The last run of the commands.
    testResult: Union["TestResult", None]
    # What the failing tests entered; `null` where that was not seen.
    trace: Union["TestTrace", None]
    # What the agent says it all cost.
    usage: Union["ResultUsage", None]
    # How often all commands were run from their beginning.
    wholeRuns: int
    # Where the commands and the agent ran.
    workplace: "WorkplaceUsed"

# How a run or one of its attempts stands at its end.
RunStatus = Union[Literal['fixed'], Literal['unproven'], Literal['blocked'], Literal['failed'], Literal['split'], Literal['user_action_required'], Literal['invalid_task']]

# What a person or an agent wants to know of a command that failed, in a few lines.
class RunSummary(TypedDict):
    # The change that made it fail; `null` where no trial showed one.
    cause: Union["KnownCause", None]
    # Imports that are certain: `mendit fix` adds them and tries the command.
    certain: list["CertainImport"]
    # The same in one sentence.
    explanation: str
    # The tests that failed, each with its error; without tests, the lines that say what failed.
    failures: list["RunFailure"]
    # What failed.
    kind: "FailureKind"
    # What `mendit fix` tries beside imports, each in a sentence: a spelling that a compiler
    # suggests, a bracket that is missing. At most three.
    mends: list[str]
    # Failures beyond those listed, without those that are like one of them.
    more: int
    # How many more there are.
    moreSuspects: int
    # What a packet for an agent comes to.
    packet: Union["PacketSize", None]
    # For names without a certain import the likeliest one each, at most three.
    perhaps: list["CertainImport"]
    # What mends the environment, when that is what fails.
    remedies: list["Remedy"]
    # Whether nothing but a person's action helps.
    requiresUserAction: bool
    # A finer word.
    subkind: Union["Subkind", None]
    # Changes that are not committed, as `path:line`, the likeliest first, at most five: those that the
    # failing tests reach, else all; none of them was tried. `mendit why` does that.
    suspects: list[str]
    # All that it tries, in its order, each in a sentence.
    tried: list[str]

# A rung of the ladder and what it was worth.
class Rung(TypedDict):
    # Fixtures fixed with this rung as the highest used.
    fixed: int
    # Fixtures fixed with this rung or a lower one.
    fixedSoFar: int
    # The rung.
    level: "Level"
    # Bytes of packets of those fixed at this rung, on average.
    meanPacketBytes: int
    # Fixtures that can be fixed and were run.
    of: int

# What one runner says of its tests before and after a change.
class RunnerProof(TypedDict):
    # Its own counts with the change; `null` when it gave none.
    after: Union["TestCounts", None]
    # Its own counts before the change; `null` when it gave none.
    before: Union["TestCounts", None]
    # The runner; `null` when the command is none that is known.
    runner: Union["TestRunner", None]
    # Where its word was read.
    source: "ProofSource"
    # Each test that failed before, and how it ended.
    tests: list["ProvenTest"]

# How far a mend can be trusted.
Safety = Union[Literal['safe'], Literal['lossy'], Literal['opt_in']]

# Whether a problem stops the patch.
Severity = Union[Literal['error'], Literal['warning']]

# What made a file less than whole.
class Shortening(TypedDict):
    # Of a file that was asked for: what to ask for next to see the most of the rest, in the spelling
    # of `requestedFiles`.
    ask: NotRequired[list[str]]
    # Bytes of the whole text.
    bytes: int
    # The stable reason.
    code: "Code"
    # The reason in one sentence.
    reason: str
    # What would give all of it.
    remedy: str

# How many packets held what a repair needs, over the fixtures whose agent was given one.
class Sight(TypedDict):
    # The first packet held every needed file, whole or in part.
    first: int
    # Every needed file was in a packet, whole or in part.
    held: int
    # Fixtures that can be repaired and whose agent was given a packet.
    of: int
    # A packet held them and showed every line that the reference changes.
    shown: int

# What many runs say together (R51).
class Stats(TypedDict):
    # Why the alarm rings; `null` when it does not, or none was set.
    alarm: Union[str, None]
    # What most often stood in the way, most often first; at most ten.
    blockers: list["Blocker"]
    # By category, of runs that were not fixed.
    categories: dict[str, int]
    # The same as shares of the failures, 0 to 1.
    categoryRates: dict[str, float]
    # Always `stats`.
    document: str
    # Share of failures that were not fixed, 0 to 1.
    failureRate: float
    # Runs that had something to repair.
    failures: int
    # Of those, runs that ended fixed.
    fixed: int
    # Import errors, and how many of them were fixed (R15).
    importRecovery: "Rate"
    # By kind of failure.
    kinds: dict[str, "Rate"]
    # What agents imported for names that were undefined, most often first: rows for the setting
    # `hint.known` (R16).
    learned: list["Blocker"]
    # Others that stood in the way less often.
    moreBlockers: NotRequired[Union[int, None]]
    # Rows beyond the ten listed.
    moreLearned: NotRequired[Union[int, None]]
    # Runs that were read.
    runs: int
    # Always [`super::SCHEMA_VERSION`].
    schemaVersion: int
    # Folders that are no finished run.
    skipped: list[str]
    # By how the run ended.
    stopReasons: dict[str, int]

# How one attempt at a repair ended.
StopReason = Literal['fixed', 'nothing_to_repair', 'patch_invalid', 'apply_failed', 'tests_failed', 'tests_changed', 'unproven', 'workplace_unused', 'worktree_changed', 'regressed', 'policy_rejected', 'no_patch', 'requested_files', 'agent_error', 'agent_timeout', 'command_timeout', 'budget_exhausted', 'no_progress', 'flaky', 'user_action_required', 'invalid_task', 'interrupted']

# A finer word inside a kind; for `import_error` one of the eight first.
Subkind = str

# One import that may have been meant.
class Suggestion(TypedDict):
    # Other files that import the same under its old name or place and that the patch mends as
    # well, sorted.
    alsoIn: NotRequired[list["RepoPath"]]
    # The evidence agrees and leaves no other candidate.
    certain: bool
    # How sure, in percent.
    confidence: int
    # The statement that binds it, on one line; empty where the file has the name that was meant at
    # hand already, under another spelling.
    importStatement: str
    # The name inside the module: `*` for the module itself, `default` for its default export.
    imported: str
    # The module as the statement names it.
    module: str
    # The undefined name.
    name: str
    # The file of the repository that the module is; `null` when it lies outside.
    path: Union["RepoPath", None]
    # The specifier of an import that this one takes the place of: of a module that is not
    # there, or that does not export the name.
    replaces: Union[str, None]
    # The strongest evidence.
    source: "HintSource"
    # Erased at run time.
    typeOnly: bool

# A share and how sure it is.
class Tally(TypedDict):
    # Upper end.
    high: float
    # Lower end of the 95 % interval of Wilson.
    low: float
    # Fixtures that passed.
    passed: int
    # Passed of run; 0 when none was run.
    rate: float
    # Fixtures that were run.
    run: int
    # Fixtures that were skipped.
    skipped: int

# A tally with the name of its group.
class TallyRow(TypedDict):
    # Upper end.
    high: float
    # Lower end of the 95 % interval of Wilson.
    low: float
    # The group.
    name: str
    # Fixtures that passed.
    passed: int
    # Passed of run; 0 when none was run.
    rate: float
    # Fixtures that were run.
    run: int
    # Fixtures that were skipped.
    skipped: int

# Tests of a run, as its runner counts them. For a checker of types or style `failed` are its
# errors and `passed` the files it says it checked.
class TestCounts(TypedDict):
    # Tests that the command chose to leave out.
    deselected: int
    # Files, suites or set-ups that could not be run at all.
    errors: int
    # Tests that failed.
    failed: int
    # Tests that passed.
    passed: int
    # Tests that were skipped, are only planned, or failed as expected.
    skipped: int

# How a test ended.
TestEnd = Union[Literal['passed'], Literal['failed'], Literal['skipped'], Literal['expected_failure'], Literal['counted'], Literal['not_seen']]

# What a test failed with.
class TestError(TypedDict):
    # The line that says why; empty when the output does not say.
    error: str
    # The 1-based line in it.
    line: Union[int, None]
    # The file in which the test stopped.
    path: Union[str, None]
    # The test, in the runner's own spelling; empty when the line belongs to none.
    test: str

# How one run of the test command ended.
class TestResult(TypedDict):
    # Seconds from start to end.
    durationSeconds: float
    # The exit code, when it ended by itself.
    exit: Union[int, None]
    # Processes that outlived it and were killed.
    leaked: int
    # The same in words, such as `exit code 1` or `killed by signal 11`.
    message: str
    # The signal that ended it.
    signal: Union[int, None]
    # Whether a time limit ended it.
    timedOut: bool

# A program that runs tests, or checks types or style.
TestRunner = Union[Literal['pytest'], Literal['unittest'], Literal['nose'], Literal['jest'], Literal['vitest'], Literal['mocha'], Literal['node:test'], Literal['tap'], Literal['ava'], Literal['jasmine'], Literal['playwright'], Literal['tsc'], Literal['eslint'], Literal['ruff'], Literal['mypy'], Literal['pyright'], Literal['cargo test'], Literal['go test']]

# What the failing tests ran, in definitions.
class TestTrace(TypedDict):
    # Definitions that failing tests entered, those first that are most of them alone; at most 50.
    definitions: list["TracedDefinition"]
    # Tests that failed under the trace.
    failing: int
    # How many more there are.
    more: int
    # Tests of the same files that passed.
    passing: int

# A line with characters that mislead a reader.
class TextWarning(TypedDict):
    # `bidi`, `zero_width`, `tag` or `control`.
    kind: str
    # 1-based line.
    line: int

# A definition that failing tests entered.
class TracedDefinition(TypedDict):
    # Failing tests that entered it.
    failing: int
    # Its first line.
    line: int
    # Its name.
    name: str
    # Passing tests that entered it.
    passing: int
    # Its file.
    path: str
    # How much it is of the failing tests alone, 0 to 1 (Ochiai).
    score: float

# A value that a test expects, exchanged for another.
class TriedExpectation(TypedDict):
    # How the test ended with another.
    ended: "ExpectationEnd"
    # 1-based line of the assertion.
    line: int
    # The file of the test.
    path: str
    # The value as it is written.
    was: str

# What an agent lacks.
TroubleKind = Union[Literal['login'], Literal['credit'], Literal['rate_limit'], Literal['too_long'], Literal['crash']]

# A file as an earlier packet held it.
class UnchangedFile(TypedDict):
    # How much of it that packet held.
    mode: "FileMode"
    # Where it is.
    path: "RepoPath"
    # The line ranges it held; empty when it was all.
    ranges: list[list[int]]
    # SHA-256 of the whole file's bytes, in hex.
    sha256: str

# An import that leads to no file.
class UnresolvedImport(TypedDict):
    # 1-based line.
    line: int
    # The importing file.
    path: "RepoPath"
    # What it asks for.
    specifier: str
    # The paths that were looked for, in order.
    tried: list[str]

# The answer for a patch or for one hunk; the later in this list, the more it outranks others.
Verdict = Union[Literal['applies'], Literal['applies_mended'], Literal['already_applied'], Literal['reversed'], Literal['ambiguous'], Literal['stale'], Literal['context_not_found'], Literal['malformed'], Literal['refused'], Literal['unsafe']]

# What a sandbox holds back.
Wall = Union[Literal['files'], Literal['closed'], Literal['pipes'], Literal['metadata'], Literal['devices'], Literal['privileges'], Literal['processes'], Literal['shared_memory'], Literal['process_count']]

# What the changes were compared with.
class WhyBase(TypedDict):
    # The commit, in hex.
    commit: str
    # Why it was this one, in a few words.
    what: str

# One change that may be the cause, or is.
class WhyChange(TypedDict):
    # The commit that brought it; `None` when it is not committed.
    commit: Union[str, None]
    # The lines as a diff, secrets masked, at most 20.
    diff: str
    # Its 1-based line now; `None` for a whole file.
    line: Union[int, None]
    # The file as it is named now, or was before it went.
    path: str
    # What speaks for it, or what it is.
    why: str

# What made a command fail: `mendit why --format json`.
class WhyDocument(TypedDict):
    # What lies outside the changes and may be it, with what to type; told where no change is named.
    around: list["Remedy"]
    # What the changes were compared with; `None` when there was nothing to compare with.
    base: Union["WhyBase", None]
    # The smallest set of changes without which the tests pass, as trials showed it.
    cause: list["WhyChange"]
    # The command that fails, secrets masked.
    command: str
    # `why`.
    document: str
    # Seconds that all of it took.
    durationSeconds: float
    # The same in one line.
    message: str
    # How many more there are.
    moreSuspects: int
    # Why there is no cause; `None` when there is one.
    reason: Union["WhyReason", None]
    # Runs of the failing tests.
    runs: int
    # Raised when a field changes its meaning or goes.
    schemaVersion: int
    # Changes that may be it, likeliest first, at most 20.
    suspects: list["WhyChange"]
    # The failing tests that were asked, in the runner's spelling; empty where the output names none.
    tests: list[str]
    # What was tried, in order.
    trials: list["WhyTrial"]
    # A patch that takes the cause back, where the trials ran on the files as they are now; `None` otherwise,
    # and where a secret stands in it.
    undo: Union[str, None]
    # What the trials showed.
    verdict: "WhyVerdict"
    # Runs of the whole command.
    wholeRuns: int

# What the failing tests did in one state.
WhyOutcome = Union[Literal['passes'], Literal['fails'], Literal['other']]

# Why no cause is named.
WhyReason = Union[Literal['flaky'], Literal['passes'], Literal['no_base'], Literal['no_change'], Literal['budget'], Literal['does_not_build'], Literal['fails_without'], Literal['interrupted'], Literal['command_not_found'], Literal['not_executable']]

# One state that was tried.
class WhyTrial(TypedDict):
    # The commit whose files were laid in; `None` for the worktree's own.
    commit: Union[str, None]
    # How many changes that were.
    count: int
    # What came of it.
    outcome: "WhyOutcome"
    # Changes that were taken back: `path:line`, at most 20.
    without: list[str]

# What the trials showed of a cause.
WhyVerdict = Union[Literal['caused'], Literal['not_by_this_change'], Literal['unknown'], Literal['not_run']]

# Where the commands and the agent of a run stood.
class WorkplaceUsed(TypedDict):
    # `overlay`, `copy` or `in-place`.
    kind: str
    # Walls of the sandbox that could not be had, and why.
    notConfined: list["NotConfined"]
    # What the sandbox refused to be written; `--allow-write PATH` opens a place to the commands,
    # `--agent-write PATH` to the agent.
    refused: list["Refused"]
    # How far what ran there was confined: `enforced`, `partial` or `none`.
    sandbox: str
    # Why that one, in a few words.
    why: str
