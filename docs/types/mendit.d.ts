// Written by scripts/schema_types.py from docs/schemas; changes here are lost.

/** A place in the tree after the patch. */
export interface AfterProblem {
  /** Which problem. */
  code: Code;
  /** Its line after the patch, counted from 1. */
  line: number;
  /** What is wrong. */
  message: string;
  /** The file. */
  path: string;
}

/** What came of one agent. */
export interface AgentRow {
  /** Its name. */
  agent: string;
  /** Fixtures of which a run was called fixed and the hidden tests failed. */
  hiddenFailed: number;
  /** Fixtures of which something forbidden was found in what a run wrote. */
  leaks: number;
  /** What its figures say, and what they do not. */
  measures: string;
  /** What was repaired. */
  repairs: Repairs;
  /** What its packets showed. */
  sight: Sight;
  /** Fixtures that came out as they should. */
  totals: Tally;
  /** Repairs without a model where the fixture calls that unsafe. */
  wrongHeals: number;
}

/** An agent that could not do its work, for a reason of its own. */
export interface AgentTrouble {
  /** How its process ended, such as `exit code 1`. */
  end: string;
  /** What it lacks. */
  kind: TroubleKind;
  /** The last lines that it wrote, secrets masked. */
  lastLines: Array<string>;
  /** Seconds after which its service takes it again, by its own word; `null` when it names none. */
  retryAfterSeconds: number | null;
}

/** Another kind that the evidence allows. */
export interface Alternative {
  /** 0 to 1. */
  confidence: number;
  /** The kind. */
  kind: FailureKind;
}

/** `result.json` of an attempt. */
export interface AttemptResult {
  /** Seconds the agent had. */
  agentTimeoutSeconds: number;
  /** Why the agent could not do its work; `null` when it did. */
  agentTrouble: AgentTrouble | null;
  /** Counted from 1. */
  attempt: number;
  /** Attempts so far, this one included. */
  attempts: number;
  /** The report's word for it. */
  category: Category;
  /** Whether its change is nothing but imports that were certain before they were tried. */
  certain: boolean;
  /** What the agent says it has done. */
  completedSteps: Array<string>;
  /** Of the files that were sent, those that the agent says it used. */
  contextUsed: Array<string>;
  /** Always `result`. */
  document: "result";
  /** Seconds. */
  durationSeconds: number;
  /** The first code of the patch verdict, when the patch was not applied. */
  errorCode: string | null;
  /** Files that the change touches. */
  filesModified: Array<string>;
  /** Whether later attempts stand on this change. */
  kept: boolean;
  /** The rung of the ladder. */
  level: Level;
  /** One sentence: why it ended so. */
  message: string;
  /** What the command's output says after the change. */
  observed: Observed | null;
  /** Who made the change. */
  origin: Origin;
  /** Bytes of the packet. */
  packetBytes: number;
  /** SHA-256 of the canonical patch in hex; `null` without one. */
  patchDigest: string | null;
  /** Whether the agent did anything before it ended: wrote output or changed files. */
  progress: boolean;
  /** What stands behind commands that pass; `null` when they do not. */
  proof: Proof | null;
  /** SHA-256 in hex of what the agent said; `null` when it said nothing. */
  replyDigest: string | null;
  /** Paths that the agent asked for. */
  requestedFiles: Array<string>;
  /** Version of this document's shape. */
  schemaVersion: 1;
  /** As for a run. */
  status: RunStatus;
  /** How it ended. */
  stopReason: StopReason;
  /** How the command ended after the change; `null` when it was not run. */
  testResult: TestResult | null;
  /** Whether it ran out of them, whatever came of its edits. */
  timedOutAgent: boolean;
  /** What the agent says it cost. */
  usage: ResultUsage | null;
}

/** `bench --agent all --format json`: the built-in agents beside each other. */
export interface BenchAgents {
  /** A row an agent, in the order they ran. */
  agents: Array<AgentRow>;
  /** Always `benches`. */
  document: string;
  /** The highest rung that was allowed. */
  maxLevel: Level;
  /** Which part of the fixtures this is; `null` is all. */
  partition: Partition | null;
  /** Always [`super::SCHEMA_VERSION`]. */
  schemaVersion: number;
}

/** `bench --format json`: how often the loop repairs what fixtures broke. */
export interface BenchDocument {
  /** Who was asked: `builtin`, `oracle`, `replay` or a command. */
  agent: string;
  /** By the kind of the failure. */
  byKind: Array<TallyRow>;
  /** By language. */
  byLanguage: Array<TallyRow>;
  /** By the level that the fixture says it needs. */
  byLevel: Array<TallyRow>;
  /** By the public repository that they come from; empty for made ones. */
  byRepository: Array<TallyRow>;
  /** Against an earlier document. */
  comparison: Comparison | null;
  /** Always `bench`. */
  document: string;
  /** One row a fixture, by name. */
  fixtures: Array<FixtureOutcome>;
  /** Fixtures of which a run was called fixed and the hidden tests failed. */
  hiddenFailed: number;
  /** How many were fixed by each rung. */
  ladder: Array<Rung>;
  /** Fixtures of which something forbidden was found in what a run wrote. */
  leaks: number;
  /** The highest rung that was allowed. */
  maxLevel: Level;
  /** What the figures say with that agent, and what they do not. */
  measures: string;
  /** Which part of the fixtures this is; `null` is all. */
  partition: Partition | null;
  /** What was repaired, with and without what is easy. */
  repairs: Repairs;
  /** Always [`super::SCHEMA_VERSION`]. */
  schemaVersion: number;
  /** What the packets showed of what a repair needs. */
  sight: Sight;
  /** What packets showed up to each rung. */
  sightByLevel: Array<LevelSight>;
  /** Over all of them. */
  totals: Tally;
  /** Repairs without a model where the fixture calls that unsafe. */
  wrongHeals: number;
}

/** What a reply cost, as the agent says. */
export interface BenchDocumentUsage {
  /** Dollars; `null` where nobody told them. */
  costUsd: number | null;
  /** Tokens read. */
  inputTokens: number;
  /** Tokens written. */
  outputTokens: number;
}

/** `bench compare`: two benches over the same cases, case by case. */
export interface BenchPairs {
  /** Repaired by both. */
  both: number;
  /** Cases that both ran. */
  cases: number;
  /** Always `bench-pairs`. */
  document: string;
  /** The first. */
  first: PairedSide;
  /** Repaired by neither. */
  neither: number;
  /** Repaired by the first alone. */
  onlyFirst: Array<string>;
  /** Repaired by the second alone. */
  onlySecond: Array<string>;
  /** The two-sided exact test for paired shares: how likely a difference as large is where there is none. */
  p: number;
  /** Always [`super::SCHEMA_VERSION`]. */
  schemaVersion: number;
  /** The second. */
  second: PairedSide;
  /** Cases that one of them did not run; they count for nothing. */
  unpaired: Array<string>;
}

/** A git blob id. */
export type BlobId = string;

/** Something that stood in the way. */
export interface Blocker {
  /** In how many runs. */
  runs: number;
  /** What. */
  what: string;
}

/** Hard limits of one packet. Targets, manifests and mentioned lines do not use up `max_files`. */
export interface Caps {
  /** Bytes of one file's content. */
  maxFileBytes: number;
  /** Files beyond targets and manifests. */
  maxFiles: number;
  /** Estimated tokens of all content; `null` when there is no such limit. */
  maxTokens: number | null;
  /** Bytes of content beyond the targets (level 1), or of all content (level 2 and up). */
  maxTotalBytes: number;
}

/** The five words of a failure report (R44). Derived from kind and stop reason, never parsed. */
export type Category = "timeout" | "missing_context" | "tool_error" | "invalid_task" | "partial";

/** What a name that is missing wants. */
export interface CertainImport {
  /** The name that is missing. */
  name: string;
  /** The statement that binds it, `right for wrong` for a spelling, or where a module stands now. */
  statement: string;
  /** Whether `mendit fix` adds it, or tries it under the tests. */
  tried: boolean;
}

/** The change under test. */
export interface ChangeUnderTest {
  /** The base as the caller named it. */
  base: string;
  /** The unified diff, redacted. */
  diff: string;
  /** Files that differ from the base, sorted. */
  files: Array<RepoPath>;
}

/** What is there and what is missing for a repair in this place. */
export interface Checkup {
  /** Always `checkup`. */
  document: "checkup";
  /** A row for each thing that was looked at. */
  rows: Array<CheckupRow>;
  /** The version of this document. */
  schemaVersion: 1;
}

/** One thing that was looked at. */
export interface CheckupRow {
  /** What mends it, for a person to type. */
  command: string | null;
  /** The same in words. */
  message: string;
  /** What was looked at. */
  name: string;
  /** How it stands. */
  state: CheckupState;
}

/** How a thing stands. */
export type CheckupState = "good" | "weak" | "missing";

/** `report.json`: why a run failed, in the words of a failure report (R47). */
export interface ChildFailure {
  /** What stands in the way; `null` when nothing particular does. */
  blockedOn: string | null;
  /** One of five. */
  category: Category;
  /** What was done before it failed, in order. */
  completedSteps: Array<string>;
  /** Always `report`. */
  document: string;
  /** Seconds. */
  duration: number;
  /** Files that were changed. */
  filesModified: Array<string>;
  /** The issue that the task belongs to; `null` without one. */
  issue: string | null;
  /** The last thing that worked; `null` when nothing did. */
  lastSuccessfulTool: string | null;
  /** One sentence. */
  message: string;
  /** Whether trying again makes sense. */
  retryable: boolean;
  /** Always [`super::SCHEMA_VERSION`]. */
  schemaVersion: number;
  /** The run's name. */
  sessionId: string;
  /** What to do, most useful first. */
  suggestedActions: Array<string>;
  /** How to try again; `null` when it makes no sense. */
  suggestedRetry: string | null;
  /** The task's own name in the tracker it came from; `null` without one. */
  taskId: string | null;
  /** How often each thing was done. */
  toolUsage: Record<string, number>;
}

/** Whose a failure is. */
export type CiCause = "regression" | "broken_on_base" | "flaky" | "infrastructure" | "unattributed";

/** One failure of a CI run. */
export interface CiFailure {
  /** Whose it is. */
  cause: CiCause;
  /** The jobs that show it. */
  jobs: Array<string>;
  /** What it comes to. */
  summary: RunSummary;
}

/** What failed in a CI run. */
export interface CiReport {
  /** Attempts at a repair, of all failures together. */
  attempts: number;
  /** Always `ci-report`. */
  document: "ci-report";
  /** Each failure once, with the jobs that show it. */
  failures: Array<CiFailure>;
  /** Jobs of this run whose failure no repair that was tried has shown to be mended. */
  left: Array<string>;
  /** Jobs that passed. */
  passed: Array<string>;
  /**
   * Whether the test command passes in this worktree as it is: what the logs tell of does not fail
   * here.
   */
  passesHere: boolean;
  /** A patch for what could be mended. */
  patch: string | null;
  /** The version of this document. */
  schemaVersion: 1;
  /** The same, line by line of the files as they are. */
  suggestions: Array<CiSuggestion>;
  /** What the agent says they took; `null` where none was asked or it told nothing. */
  usage: CiReportUsage | null;
  /** Whether the test command passes with it; `None` when it was not run. */
  verified: boolean | null;
}

/** What a reply cost, as the agent says. */
export interface CiReportUsage {
  /** Dollars; `null` where nobody told them. */
  costUsd: number | null;
  /** Tokens read. */
  inputTokens: number;
  /** Tokens written. */
  outputTokens: number;
}

/** What to put in place of some lines. */
export interface CiSuggestion {
  /** 1-based last line. */
  line: number;
  /** The file. */
  path: string;
  /** The lines that shall stand there instead. */
  replacement: Array<string>;
  /** 1-based first line. */
  startLine: number;
}

/** One file of a closure. */
export interface ClosureEntry {
  /** Imports between it and the nearest target; 0 for a target. */
  hops: number;
  /** The file. */
  path: RepoPath;
  /** The files between, both ends excluded. */
  via: Array<RepoPath>;
}

/** A stable code; `mendit explain CODE` says what it means. */
export type Code = string;

/** One run of a command. */
export interface CommandAttempt {
  /** Wall-clock seconds; 0 of a run that an agent's hook told of. */
  durationSeconds: number;
  /** How it ended, in words. */
  end: string;
  /** Its exit code. */
  exit: number | null;
  /** Processes that it left behind, which were ended. */
  leaked: number;
  /** Bytes that it wrote, those not kept included. */
  outputBytes: number;
  /** The signal that ended it. */
  signal: number | null;
  /** Whether the time limit ended it. */
  timedOut: boolean;
}

/** `run.json`: how a command that was run ended, and what its failure comes to. */
export interface CommandRecord {
  /** Every run of it, in order: more than one when it was tried again. */
  attempts: Array<CommandAttempt>;
  /** The command, with secrets masked. */
  command: string;
  /** What the log of the last run that failed says. */
  diagnosis: Diagnosis | null;
  /** Always `run`. */
  document: "run";
  /** When the last run of it ended. */
  endedAt: string | null;
  /** Walls of the sandbox that could not be had, and why. */
  notConfined: Array<NotConfined>;
  /** The name of the run that is kept of it. */
  runId: string | null;
  /** `enforced`, `partial` or `none`: how far it was kept from writing elsewhere. */
  sandbox: string;
  /** The version of this document. */
  schemaVersion: 1;
  /** When the first run of it began, in UTC, such as `2026-01-31T12:00:00.000Z`. */
  startedAt: string | null;
  /** How it ended. */
  status: CommandStatus;
  /** The same in a few lines. */
  summary: RunSummary | null;
  /** The last run of it. */
  testResult: CommandAttempt | null;
  /** The folder of the documents; `None` when it passed. */
  writtenTo: string | null;
}

/** One run of the commands. */
export interface CommandRun {
  /** Seconds. */
  seconds: number;
  /** Whether it was of all the commands, and not of the tests that failed alone. */
  whole: boolean;
  /** What it was for. */
  why: string;
}

/** How a command ended, all its runs together. */
export type CommandStatus = "passed" | "flaky" | "failed" | "interrupted";

/** What differs from an earlier document. */
export interface Comparison {
  /** Not there then. */
  added: Array<string>;
  /** Passes now and did not then. */
  gained: Array<string>;
  /** Passed then, and was not run now. */
  missing: Array<string>;
  /** Passed then and not now. */
  regressed: Array<string>;
}

/** `context.json`: what was chosen for a failure, and why. */
export interface ContextDocument {
  /** The limits in force. */
  caps: Caps;
  /** The change that made it fail, where trials on these very files showed one. */
  cause?: KnownCause | null;
  /** The change under test, when a base was given. */
  change: ChangeUnderTest | null;
  /** What the log says; `null` without a log. */
  diagnosis: Diagnosis | null;
  /** Always `context`. */
  document: "context";
  /** Why this rung: the rule and its evidence in one sentence. */
  escalationReason: string;
  /** The files with their content, in the order of `files_included`. */
  files: Array<PacketFile>;
  /** Paths in packet order: targets, then by rank, manifests last. */
  filesIncluded: Array<RepoPath>;
  /** Files that were asked for or named and refused. */
  filesRejected: Array<RejectedFile>;
  /** Paths an agent asked for, as asked. */
  filesRequested: Array<string>;
  /** Import hints for undefined names. */
  hints: Array<string>;
  /** What history was used. */
  history: History;
  /** SHA-256 of everything the packet was made from, in hex. */
  inputSha256: string;
  /** The rung of the ladder. */
  level: Level;
  /** Files worth asking for next, best first. */
  next: Array<RepoPath>;
  /** The same, each with the reason. */
  nextWhy: Array<NextFile>;
  /** Candidates that were left out, the best first: 50 at most. */
  omitted: Array<Omission>;
  /** How many were left out in all, by code. */
  omittedCounts: Record<string, number>;
  /** SHA-256 of this document with this field empty, in hex. */
  packetSha256: string;
  /** How places were given out. */
  profile: Profile;
  /** What the repository holds. */
  repoIndex: RepoIndex;
  /** Version of this document's shape. */
  schemaVersion: 1;
  /** Bytes of content of all files. */
  totalBytes: number;
  /** Estimated tokens of content of all files. */
  totalTokens: number;
  /** Files that an earlier packet held in the same form; their content is not repeated. */
  unchanged: Array<UnchangedFile>;
  /** Imports of included files that lead to no file. */
  unresolvedImports: Array<UnresolvedImport>;
}

/** Experiments on the formerly failing tests, beside a green run. */
export interface CounterProof {
  /** The tests without what tells code that it is tested. */
  disguise: Disguise;
  /** The values that were exchanged, one at a time. */
  expectations: Array<TriedExpectation>;
  /** What could not be tried and why, a sentence each. */
  notApplicable: Array<string>;
  /** Runs of these tests that it took. */
  runs: number;
  /** What they show. */
  verdict: CounterVerdict;
}

/** What a counter-proof shows. */
export type CounterVerdict = "holds" | "refuted" | "not_applicable" | "off";

/** What a log says went wrong. */
export interface Diagnosis {
  /** Other kinds the evidence allows, best first. */
  alternatives: Array<Alternative>;
  /** The report's word for it. */
  category: Category;
  /** 0 to 1 in steps of 0.05. */
  confidence: number;
  /** The lines that say so, in log order. */
  evidence: Array<Evidence>;
  /** One sentence for a person. */
  explanation: string;
  /** Tests that failed, in the runner's own spelling, in log order. */
  failingTests: Array<string>;
  /** The failures of the log, the first cause first; what only follows from it is marked. */
  failures: Array<Failure>;
  /** Files the log names, most telling first. */
  files: Array<MentionedFile>;
  /** The primary kind. */
  kind: FailureKind;
  /** What of the log had no say, when there is such a thing. */
  leftOut: LeftOut | null;
  /** Names that a module does not export, in log order. */
  missingExports: Array<string>;
  /** Modules that were not found, in log order. */
  missingModules: Array<string>;
  /** Whether nothing but a person's action helps. */
  requiresUserAction: boolean;
  /** The rule that decided, for `mendit explain`; none when no single rule did. */
  rule: string | null;
  /** A finer word, if the evidence gives one. */
  subkind: Subkind | null;
  /** What to do about it, in one sentence. */
  suggestedFix: string;
  /** The same tests with their runner and, when the log says it, their place. */
  tests: Array<FailedTest>;
  /** The tool whose output it is, when recognised. */
  tool: string | null;
  /** Names the log calls undefined, in log order. */
  undefinedNames: Array<string>;
}

/** A diagnosis as `mendit diagnose` prints it. */
export interface DiagnosisDocument {
  /** Other kinds the evidence allows, best first. */
  alternatives: Array<Alternative>;
  /** The report's word for it. */
  category: Category;
  /** 0 to 1 in steps of 0.05. */
  confidence: number;
  /** Always `diagnosis`. */
  document: "diagnosis";
  /** The lines that say so, in log order. */
  evidence: Array<Evidence>;
  /** One sentence for a person. */
  explanation: string;
  /** Tests that failed, in the runner's own spelling, in log order. */
  failingTests: Array<string>;
  /** The failures of the log, the first cause first; what only follows from it is marked. */
  failures: Array<Failure>;
  /** Files the log names, most telling first. */
  files: Array<MentionedFile>;
  /** The primary kind. */
  kind: FailureKind;
  /** What of the log had no say, when there is such a thing. */
  leftOut: LeftOut | null;
  /** Names that a module does not export, in log order. */
  missingExports: Array<string>;
  /** Modules that were not found, in log order. */
  missingModules: Array<string>;
  /** Whether nothing but a person's action helps. */
  requiresUserAction: boolean;
  /** The rule that decided, for `mendit explain`; none when no single rule did. */
  rule: string | null;
  /** Version of this document's shape. */
  schemaVersion: 1;
  /** A finer word, if the evidence gives one. */
  subkind: Subkind | null;
  /** What to do about it, in one sentence. */
  suggestedFix: string;
  /** The same tests with their runner and, when the log says it, their place. */
  tests: Array<FailedTest>;
  /** The tool whose output it is, when recognised. */
  tool: string | null;
  /** Names the log calls undefined, in log order. */
  undefinedNames: Array<string>;
}

/** How the tests ended without what tells code that it is tested. */
export type Disguise = "passed" | "partly" | "failed" | "not_applicable";

/** A candidate that was tried and dropped. */
export interface DroppedCandidate {
  /** The commit. */
  commit: string;
  /** The reason, one of the keys of `dropped`. */
  reason: string;
  /** What was seen, in a few words. */
  said: string;
}

/** A line of the log that carries the diagnosis. */
export interface Evidence {
  /** 1-based line of the log as it was given. */
  line: number;
  /** The line, without escapes and CI prefixes. */
  text: string;
}

/** How a test ended that expects something else. */
export type ExpectationEnd = "failed" | "passed" | "not_reached" | "not_run";

/** A test that failed. */
export interface FailedTest {
  /** 1-based line in that file. */
  crashLine: number | null;
  /** Where in the repository the exception was raised, when that is not the test's own line. */
  crashPath: string | null;
  /** The runner's own spelling. */
  id: string;
  /** 1-based line in that file. */
  line: number | null;
  /** 1-based line of the log that says why it failed. */
  logLine: number | null;
  /** What it died of, in one line, from the log or a report. */
  message: string | null;
  /** Its file: the repository's when it was found there, else as the log has it. */
  path: string | null;
  /** The runner that reported it. */
  runner: string;
}

/** One failure of several in a log. */
export interface Failure {
  /** How many lines say the same. */
  count: number;
  /** Whether it only follows from an earlier one. */
  follows: boolean;
  /** Its kind. */
  kind: FailureKind;
  /** 1-based line of the log. */
  line: number;
  /** The file of the repository that is named there, of what fails beside the first cause. */
  path: string | null;
  /** The 1-based line in it. */
  pathLine: number | null;
  /** The rule that says so. */
  rule: string | null;
  /** A finer word, if the evidence gives one. */
  subkind: Subkind | null;
  /** The tool that reported it. */
  tool: string | null;
}

/** What the evidence in a log says: the closed list of the contract. */
export type FailureKind = "import_error" | "ts_error" | "static_type_error" | "syntax_error" | "runtime_error" | "zod_error" | "pydantic_error" | "drizzle_error" | "db_error" | "test_failure" | "snapshot_mismatch" | "test_setup_error" | "lint_error" | "config_error" | "command_not_found" | "connection_refused" | "auth_failed" | "missing_env_var" | "transport_mismatch" | "permission_denied" | "timeout" | "network_error" | "port_in_use" | "disk_full" | "out_of_memory" | "crash" | "file_not_found" | "dependency_error" | "patch_error" | "unknown" | "none";

/** `failure-packet.json`: what an agent is given. */
export interface FailurePacket {
  /** What is left to spend. */
  budget: PacketBudget;
  /** Bytes of content of all files. */
  contextBytes: number;
  /** The rung of the ladder. */
  contextLevel: Level;
  /** Always `failure-packet`. */
  document: "failure-packet";
  /** What failed. */
  failure: FailureSummary;
  /** The files of the context document. */
  fileSnapshots: Array<PacketFile>;
  /** Changes of this run that helped; the files and the log are those with them. */
  kept: Array<KeptChange>;
  /** The log. */
  logs: LogExcerpt;
  /** Such paths beyond those listed. */
  moreProtectedPaths?: number | null;
  /** How the attempt before this one ended. */
  previous: PreviousAttempt | null;
  /** Globs a patch must not touch. */
  protectedPaths: Array<string>;
  /** Import hints, when names were undefined. */
  recoveryContext: RecoveryContext | null;
  /** The repository index of the context document. */
  repoIndex: RepoIndex;
  /** Paths an agent asked for. */
  requestedFiles: Array<string>;
  /** Version of this document's shape. */
  schemaVersion: 1;
  /** Files the failure is about. */
  targets: Array<RepoPath>;
  /** What is wanted beyond passing commands. */
  task: string | null;
  /** Commands that show the failure. */
  testCommands: Array<string>;
}

/** The failure in short. */
export interface FailureSummary {
  /** The lines of the log that say so. */
  evidence: Array<Evidence>;
  /** The diagnosed kind. */
  kind: FailureKind;
  /** One sentence. */
  message: string;
  /** A finer word. */
  subkind: Subkind | null;
}

/** What a run changes in one file. */
export interface FileChange {
  /** Lines that come. */
  added: number;
  /** The file. */
  path: string;
  /** Lines that go. */
  removed: number;
  /** Whether it is new and no other file has its name, as an import of it would. */
  unnamed: boolean;
}

/** How much of a file is in the packet. */
export type FileMode = "full" | "skeleton" | "window";

/** What the judge says about one file of the patch. */
export interface FileVerdict {
  /** One entry for each hunk, in the order of the patch. */
  hunks: Array<HunkVerdict>;
  /** git's mode after the patch in octal, such as `100644`; `null` when unchanged or deleted. */
  mode: string | null;
  /** Where it came from, for renames and copies. */
  oldPath: string | null;
  /** What happens to it. */
  operation: Operation;
  /** The file after the patch, or the one deleted. */
  path: string;
}

/** The first line of a hunk that is not in the file as the hunk has it. */
export interface FirstDifference {
  /** What the file has; `null` past its end. */
  actual: string | null;
  /** What the patch has, lossily decoded. */
  expected: string;
  /** Line of the file, counted from 1. */
  fileLine: number;
  /** Line of the patch, counted from 1. */
  patchLine: number;
}

/** How one fixture went. */
export interface FixtureOutcome {
  /** Times the agent was called. */
  agentCalls: number;
  /** Attempts, heals included. */
  attempts: number;
  /** Seconds in which its test was run, of all seconds. */
  commandSeconds: number;
  /** Whether the first packet held every needed file, whole or in part. */
  firstHeld: boolean;
  /** Whether a repair exists that a run can make. */
  fixable: boolean;
  /** Whether a change without a model repaired it. */
  healed: boolean;
  /** The lowest rung whose packet held every needed file, whole or in part; `null` when none did. */
  heldLevel: Level | null;
  /**
   * What its hidden tests said of the repaired files; `null` when it has none or nothing was
   * fixed.
   */
  hidden: HiddenTests | null;
  /** Whether it has hidden tests. */
  hiddenTests: boolean;
  /** The fixture's folder. */
  id: string;
  /** The kind that it names. */
  kind: FailureKind;
  /** Its language. */
  language: string;
  /** Where something forbidden was found: files of the run's folder. */
  leaks: Array<string>;
  /** The highest rung that was used. */
  level: Level;
  /** The level that it says its repair needs. */
  neededLevel: Level | null;
  /** Bytes of all its packets. */
  packetBytes: number;
  /** Estimated tokens of the files of all its packets. */
  packetTokens: number;
  /** A digest over level and files of each packet, in order. */
  packets: Array<string>;
  /** Whether it was repaired: the run is fixed, and no hidden test says otherwise. */
  repaired: boolean;
  /** The public repository that it comes from; `null` for one that was made. */
  repository: string | null;
  /** Whether it came out as it should. */
  result: FixtureResult;
  /** Seconds. */
  seconds: number;
  /**
   * The lowest rung whose packet held them and showed every line that the repair changes; `null`
   * when none did.
   */
  shownLevel: Level | null;
  /** How the run stood; `null` when there was none. */
  status: RunStatus | null;
  /** How it ended. */
  stopReason: StopReason | null;
  /** What is broken. */
  title: string;
  /** Whether it is easy: the failure names the one file, and the one place in it, to change. */
  toy: boolean;
  /** What the agent says it cost. */
  usage: BenchDocumentUsage;
  /** What is not as it should be, a sentence each; empty when it passed. */
  why: Array<string>;
}

/** Whether a fixture came out as it should. */
export type FixtureResult = "passed" | "failed" | "skipped" | "error";

/** What agents were spared of logs. */
export interface Gain {
  /** Always `gain`. */
  document: "gain";
  /** A row for each worktree. */
  repositories: Array<GainRow>;
  /** The version of this document. */
  schemaVersion: 1;
  /** Of all worktrees together. */
  total: GainRow;
}

/** The same of one worktree. */
export interface GainRow {
  /** Tokens of their logs, estimated. */
  logTokens: number;
  /** The worktree; empty for all of them. */
  root: string;
  /** Runs that were told in brief. */
  runs: number;
  /** Tokens of what was told instead. */
  toldTokens: number;
}

/** One thing that must answer, and whether it does. */
export interface HealedProbe {
  /** Whether its configuration had to be changed. */
  changed: boolean;
  /** What stands in the way at the end; `null` when it answers. */
  diagnosis: Diagnosis | null;
  /** Whether it answers. */
  fixed: boolean;
  /** One sentence, such as `Connected. 8 tools available.` */
  message: string;
  /** `test`, or the server's name. */
  name: string;
  /** Seconds it was given. */
  timeoutSeconds: number;
  /** The tools that a server offers, as it lists them. */
  tools: Array<string>;
  /** What is started or called at the end. */
  transport: ProbeTransport;
  /** What a person must do; `null` when there is nothing. */
  userActionNeeded: string | null;
}

/** One fix and what came of it. */
export interface HealingAttempt {
  /** Counted from 1 for each probe. */
  attemptNumber: number;
  /** What was wrong before it. */
  diagnosis: Diagnosis;
  /** What was changed; `null` when only a person can. */
  fixApplied: string | null;
  /** Which probe. */
  probe: string;
  /** How the probe answered after it, or what a person must do. */
  result: string;
}

/** What `mendit heal` found and did (R36). */
export interface HealingResult {
  /** Every fix that was tried, in order. */
  attempts: Array<HealingAttempt>;
  /** Always `healing`. */
  document: "healing";
  /**
   * The configuration as it is after the fixes, with secrets masked: `mcpServers` when there are
   * servers, `test` when there is a command.
   */
  finalConfig: Record<string, unknown>;
  /** Whether everything that was probed answers. */
  fixed: boolean;
  /** Each thing that must answer, in the order it was probed. */
  probes: Array<HealedProbe>;
  /** Version of this document's shape. */
  schemaVersion: 1;
  /** What a person must do; `null` when there is nothing. */
  userActionNeeded: string | null;
}

/** What hidden tests say of what a run calls fixed. */
export type HiddenTests = "passed" | "failed";

/** What `mendit hint` prints. */
export interface HintDocument {
  /** Always `hint`. */
  document: "hint";
  /**
   * A unified diff that adds the certain imports; `null` when none was asked for or none is
   * certain.
   */
  patch: string | null;
  /** The text for a prompt. */
  recoveryHint: string;
  /** What is mended by hand, each with the line to type for it, where there is one. */
  remedies: Array<Remedy>;
  /** Version of this document's shape. */
  schemaVersion: 1;
  /** Proposed imports in the order of the names asked for, best first for each. */
  suggestions: Array<Suggestion>;
  /** What `mendit fix` tries, in its order, each in a sentence; imports are among them. */
  tried: Array<string>;
}

/** What a suggestion rests on. */
export type HintSource = "repo" | "definition" | "stdlib" | "manifest" | "similar";

/** What git history the packet rests on. */
export interface History {
  /** Commits that were read. */
  commitsUsed: number;
  /** Whether the clone is shallow. */
  shallow: boolean;
}

/** What the judge says about one hunk. */
export interface HunkVerdict {
  /** The line of the file where it goes, counted from 1. */
  appliedAt: number | null;
  /** All lines where it would fit, when there are several. */
  candidates: Array<number>;
  /** Why it does not apply. */
  code: Code | null;
  /** Where it stops matching. */
  firstDifference: FirstDifference | null;
  /** Counted from 1 within the file. */
  index: number;
  /** The line the hunk names, counted from 1; `null` when it names none. */
  line: number | null;
  /** The same in words. */
  message: string;
  /** The block of the file that is most like it. */
  nearest: Nearest | null;
  /** The answer. */
  verdict: Verdict;
}

/** One import and one file it means. */
export interface ImportEdge {
  /** The regular file, when `path` is a symlink to it. Closures hold this one. */
  behindLink?: RepoPath | null;
  /** With `--symbols`: the file that defines the row's names, behind re-exports. */
  definedIn?: RepoPath | null;
  /** The package or standard-library module outside the repository. */
  external?: string | null;
  /** The syntactic form. */
  kind: ImportKind;
  /** 1-based line. */
  line: number;
  /**
   * For a pattern (`import.meta.glob('./*.ts')`) or a bundler's query without an extension
   * (`./x?worker`): the files it stands for now.
   */
  matches?: Array<RepoPath>;
  /** The names this row takes; `*` for everything. */
  names: Array<string>;
  /** Not at the top level. */
  nested?: boolean;
  /** The file of the repository; null when outside it, unresolved, or a pattern. */
  path: RepoPath | null;
  /** As written. */
  specifier: string;
  /** Erased at run time. */
  typeOnly?: boolean;
}

/** The form of an import. */
export type ImportKind = "import" | "from" | "export_from" | "dynamic" | "require" | "import_equals" | "reference" | "mock" | "glob" | "url" | "importlib" | "dotted_string";

/** What `mendit imports` prints: edges of some files, and a closure when targets were given. */
export interface ImportsDocument {
  /**
   * Files reached from the targets (with `--reverse`: that reach them), sorted by hops, then
   * path. Empty for a whole-repository graph.
   */
  closure: Array<ClosureEntry>;
  /**
   * One cycle for each knot of files that import each other when they are loaded, as a path that
   * starts at its smallest file.
   */
  cycles: Array<Array<RepoPath>>;
  /** Always `imports`. */
  document: "imports";
  /**
   * Source files with their imports, sorted by path; with `--reverse` the importers with those
   * imports that lead to what is asked for. Of components (`.vue`, `.svelte`, `.astro`, `.mdx`)
   * the script part is read: what their templates use is missing.
   */
  files: Array<ImportsFile>;
  /** Files that were not read, or not read whole, sorted by path. */
  problems: Array<ImportsProblem>;
  /** Version of this document's shape. */
  schemaVersion: 1;
  /** Imports that are neither a file of the repository nor outside it, sorted. */
  unresolved: Array<UnresolvedImport>;
}

/** One importing file. */
export interface ImportsFile {
  /** Its imports in source order; one row for each file an import means. */
  imports: Array<ImportEdge>;
  /** The file. */
  path: RepoPath;
}

/** Something that could not be read. */
export interface ImportsProblem {
  /** 1-based line; 0 for the file as a whole. */
  line: number;
  /** What is wrong, in words. */
  message: string;
  /** The file. */
  path: RepoPath;
}

/** A change that later attempts stand on. */
export interface KeptChange {
  /** The attempt that made it, counted from 1. */
  attempt: number;
  /** Files that it touches. */
  files: Array<string>;
  /** What it did, in one sentence. */
  message: string;
  /** Who made it. */
  origin: Origin;
}

/** The change that made a command fail, as trials on these very files showed it. */
export interface KnownCause {
  /** The smallest set of changes without which the failing tests pass. */
  changes: Array<WhyChange>;
  /** The answer of `mendit why` in one line. */
  message: string;
}

/** What of a log had no say, and what of the answer is not shown. */
export interface LeftOut {
  /** Bytes of a huge log without a word that anything knows, and ends of overlong lines. */
  bytes: number;
  /** Lines among them. */
  lines: number;
  /** Lines that hold such a word and were more than there is room for. */
  telling: number;
  /** Failing tests beyond those that are listed. */
  tests: number;
}

/** A rung of the context ladder. */
export type Level = number;

/** How many packets held what a repair needs up to one rung. */
export interface LevelSight {
  /** Every needed file was in a packet of this rung or a lower one. */
  heldSoFar: number;
  /** The rung. */
  level: Level;
  /** Fixtures that can be repaired and whose agent was given a packet. */
  of: number;
  /** And every line that the reference changes was shown. */
  shownSoFar: number;
}

/** A log within its limits. */
export interface LogExcerpt {
  /** Bytes of the whole log as given. */
  bytes: number;
  /** Bytes left out of the middle. */
  omittedBytes: number;
  /** Secrets that were masked in `text`. */
  redactions: number;
  /**
   * The text: escapes removed, secrets masked, what stands in it again told once, the middle left
   * out when it is too long.
   */
  text: string;
}

/** One thing that was mended. */
export interface Mend {
  /** Which mend. */
  code: Code;
  /** What was done. */
  message: string;
  /** Line of the patch, counted from 1. */
  patchLine: number;
  /** How much is left to trust. */
  safety: Safety;
}

/** A file that the log names. */
export interface MentionedFile {
  /** 1-based column. */
  column: number | null;
  /** Whether the path was found in the repository. */
  inRepository: boolean;
  /** 1-based line in that file. */
  line: number | null;
  /** The repository's file when `in_repository`, else the path as the log has it. */
  path: string;
}

/** `bench mine --format json`: what was looked at, kept and dropped. */
export interface MineDocument {
  /** The tried candidates that were dropped, newest first. */
  candidates: Array<DroppedCandidate>;
  /** Commits of the main line that were looked at. */
  commits: number;
  /** Always `bench-mine`. */
  document: string;
  /** Why the others were dropped: how many, by reason. */
  dropped: Record<string, number>;
  /** What is wrong with the history that could be looked at; empty when all of it is there. */
  incomplete: Array<string>;
  /** Fixes in the set. */
  kept: number;
  /** Whether there is more to look at: `--limit` was reached. */
  more: boolean;
  /** Owner and name. */
  repository: string;
  /** Always [`super::SCHEMA_VERSION`]. */
  schemaVersion: number;
  /** Seconds of this run. */
  seconds: number;
  /** Commits that change tests and product and were tried, now or earlier. */
  tried: number;
}

/** The block of a file that is most like a hunk. */
export interface Nearest {
  /** Its first line, counted from 1. */
  line: number;
  /** Share of the hunk's old lines that stand there, 0 to 1, in hundredths. */
  similarity: number;
}

/** A file that a fix changes. */
export interface NeededFile {
  /**
   * Lines of the parent that change, first and last, from 1; where lines only come, the line
   * before. Empty for a file that the fix makes or removes.
   */
  lines: Array<[number, number]>;
  /** The file. */
  path: RepoPath;
}

/** A file worth asking for. */
export interface NextFile {
  /** Where it is. */
  path: RepoPath;
  /** What speaks for it, in one sentence. */
  why: string;
}

/** A wall that cannot be had. */
export interface NotConfined {
  /** Which. */
  wall: Wall;
  /** What the system says. */
  why: string;
}

/** What one failing run of the tests says, as far as the loop looks at it. */
export interface Observed {
  /** What each failing test failed with; without tests, the lines that say what failed. */
  errors: Array<TestError>;
  /** Tests that failed, sorted. */
  failingTests: Array<string>;
  /** What failed. */
  kind: FailureKind;
  /** One sentence. */
  message: string;
  /** Whether the commands passed. */
  passed: boolean;
  /** Whether only a person can help. */
  requiresUserAction: boolean;
  /** The same for two runs that fail in the same way: hex digest of kind, tests and names. */
  signature: string;
  /** A finer word. */
  subkind: Subkind | null;
  /** How the command ended. */
  testResult: TestResult;
  /** Names that the log calls undefined. */
  undefinedNames: Array<string>;
}

/** A candidate that is not in the packet. */
export interface Omission {
  /** Its size; `null` when that is not known. */
  bytes: number | null;
  /** The stable reason. */
  code: Code;
  /** Where it is, lossily decoded when the name is not UTF-8. */
  path: string;
  /** Its place among the candidates; `null` when it was never one. */
  rank: number | null;
  /** The reason in one sentence. */
  reason: string;
  /** What would include it; empty when nothing would. */
  remedy: string;
}

/** What a patch does to a file. */
export type Operation = "modify" | "create" | "delete" | "rename" | "copy";

/** Where the change of an attempt came from. */
export type Origin = "heal" | "agent";

/**
 * Two runs of the same commands: the lines that differ and those that say what failed, each with
 * its neighbours.
 */
export interface Outputs {
  /** With it. */
  after: string;
  /** Without the change. */
  before: string;
  /** Whether they wrote the same; both texts are empty then. */
  same: boolean;
}

/** What is left to spend; `null` without a limit. */
export interface PacketBudget {
  /** Attempts. */
  attemptsLeft: number | null;
  /** Seconds. */
  secondsLeft: number | null;
}

/** One file of a packet. */
export interface PacketFile {
  /** The git blob id of the whole file. */
  blobId: BlobId;
  /** Bytes of `content`. */
  bytes: number;
  /** The text, decoded, with secrets masked. */
  content: string;
  /** `utf-8`, `utf-8-bom`, `utf-16le`, `utf-16be`, or `latin-1`. */
  encoding: string;
  /** Imports between it and the nearest target; `null` when no chain is known. */
  hops: number | null;
  /** How much of it is here. */
  mode: FileMode;
  /** Where it is. */
  path: RepoPath;
  /** 1-based inclusive line ranges that `content` covers; empty when it is all. */
  ranges: Array<[number, number]>;
  /** 1-based place among the ranked files; `null` for targets and manifests. */
  rank: number | null;
  /** Where secrets were masked; these lines cannot be patched. */
  redactions: Array<Redaction>;
  /** Why it is here, in one word. */
  role: Role;
  /** The ranking's score; `null` when it was not ranked. */
  score: number | null;
  /** The signals behind the score, by name. */
  scores: Record<string, number>;
  /** SHA-256 of the whole file's bytes, in hex. */
  sha256: string;
  /** Why less than all of it is here; left out of the document when nothing was cut. */
  shortened?: Shortening | null;
  /** Estimated tokens of `content`. */
  tokens: number;
  /** The chain of files from a target to this file, both ends left out. */
  via: Array<RepoPath>;
  /** Characters a person would not see. */
  warnings: Array<TextWarning>;
  /** Why it is here, in one sentence. */
  why: string;
}

/** How large a packet is. */
export interface PacketSize {
  /** Their bytes. */
  bytes: number;
  /** Files in it. */
  files: number;
  /** The rung of the ladder. */
  level: Level;
  /** Estimated tokens of the whole prompt: files, log and what is said of both. */
  promptTokens: number;
  /** Their tokens, estimated. */
  tokens: number;
}

/** One side of a paired comparison, over the cases that both ran. */
export interface PairedSide {
  /** The agent. */
  agent: string;
  /** Calls of the agent. */
  agentCalls: number;
  /** Estimated tokens of the files of all packets. */
  packetTokens: number;
  /** Repaired. */
  repaired: Tally;
  /** Seconds of all cases. */
  seconds: number;
}

/** A part of a split run. */
export interface PartResult {
  /** Parts that came first because it uses what they change, by number. */
  dependsOn: Array<string>;
  /** `2` for the second part, `2.1` for the first of its own parts. */
  number: string;
  /** How it ended; `null` when it was not begun, or cut off. */
  status: RunStatus | null;
  /** One line. */
  title: string;
}

/** A part of the fixtures. */
export interface Partition {
  /** Of how many. */
  count: number;
  /** Which one, from 1. */
  index: number;
}

/** The format a patch came in. */
export type PatchFormat = "git" | "unified" | "search_replace" | "apply_patch" | "edits" | "whole_file";

/** One thing that is wrong with a patch, or worth knowing about it. */
export interface PatchProblem {
  /** Which problem. */
  code: Code;
  /** What to do about it. */
  hint: string | null;
  /** What is wrong. */
  message: string;
  /** Line of the patch, counted from 1; 0 for the patch as a whole. */
  patchLine: number;
  /** The file concerned, when one is known; lossily decoded. */
  path: string | null;
  /** Whether it stops the patch. */
  severity: Severity;
}

/** What the judge says about one patch (`patch-verdict`, and `preflight.json` in a run). */
export interface PatchVerdict {
  /** The same change as a git patch with true line numbers and blob ids; `null` unless it applies. */
  canonicalPatch: string | null;
  /** Always `patch-verdict`. */
  document: "patch-verdict";
  /** The code of the first problem that is an error. */
  errorCode: Code | null;
  /** A short text that tells the author of the patch what to send instead; empty when it applies. */
  feedback: string;
  /** One entry for each file the patch names, in the order of the patch. */
  files: Array<FileVerdict>;
  /** What the input was; `null` when it is no patch. */
  format: PatchFormat | null;
  /** What had to be mended, in the order of the patch. */
  mends: Array<Mend>;
  /** Places that parse in the tree and no longer parse after the patch. */
  newSyntaxErrors: Array<AfterProblem>;
  /** Imports that the patch adds and that lead nowhere. */
  newUnresolvedImports: Array<AfterProblem>;
  /** What is wrong or worth knowing, in the order of the patch. */
  problems: Array<PatchProblem>;
  /** Version of this document's shape. */
  schemaVersion: 1;
  /** The tree object after the patch, when one was computed. */
  treeId: string | null;
  /** The answer. */
  verdict: Verdict;
}

/** The attempt before. */
export interface PreviousAttempt {
  /** What failed with the patch in place. */
  failure: string | null;
  /** Whether its change helped and stays. */
  kept: boolean;
  /** Why it ended so, in one sentence. */
  message: string | null;
  /** What the commands wrote with its change, beside what they wrote without. */
  outputs: Outputs | null;
  /** The patch it sent, when it is not large. */
  patch: string | null;
  /** SHA-256 of its patch. */
  patchDigest: string | null;
  /** Its patch verdict. */
  preflight: unknown;
  /** How it ended. */
  stopReason: StopReason;
}

/** How a probe is reached. */
export type ProbeTransport = "command" | "stdio" | "http";

/** How the places of a level are given out. */
export type Profile = "ranked" | "spec";

/**
 * What stands behind the word `fixed`: what the runner of the tests itself says of the green run,
 * beside what it said before the change.
 */
export interface Proof {
  /** Its own counts with the change; `null` when it gave none. */
  after: TestCounts | null;
  /** Other runners and commands of the same run. */
  also: Array<RunnerProof>;
  /** Its own counts before the change; `null` when it gave none. */
  before: TestCounts | null;
  /**
   * What was tried to show that the tests would fail were the change wrong; `null` where nothing was
   * proved that it could be tried on.
   */
  counterProof: CounterProof | null;
  /** Runs with the change that passed; two when those without it did not end alike. */
  greenRuns: number;
  /** What is missing, a sentence each. */
  missing: Array<string>;
  /**
   * Values of failing tests that the change itself holds, given and expected, with their places: it may
   * answer these tests alone.
   */
  ownValues: Array<string>;
  /** Whether it is enough: nothing is missing. */
  proven: boolean;
  /** Runs without the change that failed. */
  redRuns: number;
  /** Files that the command itself names and the change touches: the exit code is theirs to give. */
  restsOn: Array<string>;
  /** The runner; `null` when the command is none that is known. */
  runner: TestRunner | null;
  /** Where its word was read. */
  source: ProofSource;
  /** Each test that failed before, and how it ended. */
  tests: Array<ProvenTest>;
}

/** Where the word of a runner was read. */
export type ProofSource = "report" | "text" | "exit-code";

/** A test that failed before a change. */
export interface ProvenTest {
  /** How it ended with the change. */
  ended: TestEnd;
  /** In the runner's own spelling. */
  id: string;
}

/** So many of so many. */
export interface Rate {
  /** Runs that ended fixed. */
  fixed: number;
  /** Runs. */
  runs: number;
}

/** What the tests of some fixes are run in. */
export interface RealEnvironment {
  /** The commit whose files the set-up is run on. */
  commit: string;
  /** Its name in the set. */
  name: string;
  /** Programs without which it cannot be had. */
  needs: Array<string>;
  /** Lines for a shell, run once in the checkout; `{env}` is a folder of the environment's own. */
  setup: Array<string>;
  /** A line for a shell; `{tests}` are the test files. */
  test: string;
  /** Seconds that a run of tests may take. */
  timeoutSeconds: number;
  /** Variables of all its commands, `NAME=VALUE`. */
  variables: Array<string>;
}

/** One fix that was proven both ways. */
export interface RealFix {
  /** The commit that fixes; its tests are taken from there. */
  commit: string;
  /** The environment's name. */
  environment: string;
  /** Tests that failed, by number; 0 where the output names none. */
  failing: number;
  /**
   * Test files that import what the fix changes and are run with `tests` on the repaired files;
   * no run sees them asked for.
   */
  hidden: Array<RepoPath>;
  /** Tests that passed with the fix when `tests` and `hidden` were run. */
  hiddenPassed: number;
  /** Its name, such as `click-c3535905c`. */
  id: string;
  /** What the failure was taken for. */
  kind: FailureKind;
  /** Files that the fix changes, and the lines of the parent that it changes. */
  needed: Array<NeededFile>;
  /** The commit that is to be fixed. */
  parent: string;
  /** Files of tests and their data, as the fix has them, laid over the parent. */
  taken: Array<RepoPath>;
  /** Test files that are run and seen. */
  tests: Array<RepoPath>;
  /** Seconds since 1970 of the fix. */
  time: number;
}

/**
 * Fixes of one repository's history, by reference: what `bench mine` writes and `bench real` runs.
 * Nothing of the repository's content stands in it.
 */
export interface RealFixes {
  /** Always `real-fixes`. */
  document: string;
  /** What their tests are run in. */
  environments: Array<RealEnvironment>;
  /** The fixes, newest first. */
  fixes: Array<RealFix>;
  /** Whose fixes they are. */
  repository: RealRepository;
  /** Always [`super::SCHEMA_VERSION`]. */
  schemaVersion: number;
}

/** A public repository. */
export interface RealRepository {
  /** The language that totals are given by. */
  language: string;
  /** Its licence, as SPDX writes it. */
  licence: string;
  /** Owner and name, such as `pallets/click`. */
  name: string;
  /** Where it can be cloned from. */
  url: string;
}

/** Import hints in the shape of R6. */
export interface RecoveryContext {
  /** The failure kind. */
  errorType: FailureKind;
  /** The text for a prompt. */
  recoveryHint: string;
  /** Name to import statement. */
  suggestedImports: Record<string, string>;
  /** Names the log calls undefined. */
  undefinedNames: Array<string>;
}

/** A masked secret. */
export interface Redaction {
  /** 1-based line. */
  line: number;
  /** The rule that found it. */
  rule: string;
}

/** A place that the sandbox refused to be written. */
export interface Refused {
  /** Whether the agent was refused it, rather than the commands. */
  agent: boolean;
  /** The file or folder. */
  path: string;
}

/** A file that was asked for and is not given. */
export interface RejectedFile {
  /** The stable reason. */
  code: Code;
  /** The path as it was asked for. */
  path: string;
  /** The reason in one sentence. */
  reason: string;
}

/** A problem of the environment and the command that mends it. */
export interface Remedy {
  /** The line to type, for a person to decide on; nothing runs it. */
  command: string | null;
  /** What is wrong. */
  problem: string;
}

/** `repair-packet`: what an agent replies. Every field but `status` may be missing. */
export interface RepairPacket {
  /** What the agent says it has done. */
  completedSteps?: Array<string>;
  /** What the agent says it looked at. */
  contextUsed?: unknown;
  /** Replacements of text that stands once in a file. */
  edits?: Array<ReplyEdit>;
  /** Whole files. */
  files?: Array<ReplyFile>;
  /** Words for a person. */
  notes?: string | null;
  /** A patch in any accepted format. */
  patch?: string | null;
  /** Paths that the agent wants to see. */
  requestedFiles?: Array<string>;
  /** What the reply is. */
  status?: ReplyStatus;
  /** What the reply cost. */
  usage?: RepairPacketUsage | null;
}

/** What a reply cost, as the agent says. */
export interface RepairPacketUsage {
  /** Dollars; `null` where nobody told them. */
  costUsd?: number | null;
  /** Tokens read. */
  inputTokens?: number;
  /** Tokens written. */
  outputTokens?: number;
}

/**
 * Shares of what was repaired. A run that is fixed and fails its hidden tests repaired nothing. Of
 * all fixtures that can be repaired.
 */
export interface Repairs {
  /** Of all. */
  all: Tally;
  /** Of the toys. */
  toys: Tally;
  /** Of those with hidden tests. */
  withHiddenTests: Tally;
  /** Of those that are no toys. */
  withoutToys: Tally;
}

/** Text that stands once in a file, and what replaces it. */
export interface ReplyEdit {
  /** What shall stand there. */
  new: string;
  /** What stands there; empty for a new file. */
  old: string;
  /** The file. */
  path: string;
}

/** A file as it shall be. */
export interface ReplyFile {
  /** All of its text. */
  content: string;
  /** The file. */
  path: string;
}

/** What a reply is. */
export type ReplyStatus = "patch" | "request_files" | "invalid_task" | "give_up";

/** What the repository holds, within a size limit. */
export interface RepoIndex {
  /** Files where programs or packages start. */
  entrypoints: Array<RepoPath>;
  /** Files, sorted by path; those nearest to the targets when truncated. */
  files: Array<RepoIndexFile>;
  /** Such files beyond those listed. */
  moreEntrypoints?: number | null;
  /** Files in the repository. */
  total: number;
  /** Whether files were left out. */
  truncated: boolean;
}

/** One row of the repository index. */
export interface RepoIndexFile {
  /** Its git blob id; `null` for what cannot be read, or may not be. */
  blobId: BlobId | null;
  /** Its size in bytes. */
  bytes: number;
  /** Where it is. */
  path: RepoPath;
}

/** A path inside the repository: relative to its root, with `/` between its parts. */
export type RepoPath = string;

/** `result.json` of a run, or of one of its attempts. */
export type Result = RunResult | AttemptResult;

/** What a reply cost, as the agent says. */
export interface ResultUsage {
  /** Dollars; `null` where nobody told them. */
  costUsd: number | null;
  /** Tokens read. */
  inputTokens: number;
  /** Tokens written. */
  outputTokens: number;
}

/** Why a file is in the packet. */
export type Role = "target" | "requested" | "mentioned" | "closure" | "ranked" | "manifest" | "bundle";

/** One failure of a command. */
export interface RunFailure {
  /**
   * Further tests that died of the same in the same place and are not listed; told with the last
   * one that is.
   */
  alike: number;
  /** What it died of, in one line. */
  error: string;
  /** The 1-based line in it. */
  line: number | null;
  /** The file of the repository, when it is known. */
  path: string | null;
  /** The test, in the runner's own spelling; empty when no test is named. */
  test: string;
  /** The 1-based line in it that led there. */
  testLine: number | null;
  /** The test's own file, where the error was raised in another place. */
  testPath: string | null;
}

/** `result.json` of a run, also printed by `repair --format json`. */
export interface RunResult {
  /** Times the agent was called. */
  agentCalls: number;
  /** Why the agent could not do its work, when that ended the run. */
  agentTrouble: AgentTrouble | null;
  /** Whether the patch was put into the worktree. */
  applied: boolean;
  /** Attempts, heals included. */
  attempts: number;
  /** The report's word for it; `null` when nothing failed. */
  category: Category | null;
  /** The change that made the commands fail, in one line; `null` where no trial showed one. */
  cause: string | null;
  /**
   * Whether the patch is nothing but imports that were certain before they were tried, each seen
   * to help.
   */
  certain: boolean;
  /** Parts that a split run was made of, in the order they ran. */
  children: Array<string>;
  /** How often the tests that failed were run alone. */
  chosenRuns: number;
  /** Each of these runs, and what it was for. */
  commandRuns: Array<CommandRun>;
  /** Always `result`. */
  document: "result";
  /** Seconds. */
  durationSeconds: number;
  /** When it ended. */
  endedAt: string | null;
  /** What failed at the start; `null` when nothing did. */
  failure: Observed | null;
  /** The same with what of each changes. */
  fileChanges: Array<FileChange>;
  /** Files that the final patch touches. */
  filesModified: Array<string>;
  /** The issue that the task belongs to; `null` without one. */
  issue: string | null;
  /** The highest rung that was used. */
  level: Level;
  /** One sentence: why it ended so. */
  message: string;
  /** The same with where each stands, how deep it lies and how it ended. */
  parts: Array<PartResult>;
  /** SHA-256 of `final.patch` in hex; `null` without one. */
  patchDigest: string | null;
  /** What stands behind `fixed`, or what was missing; `null` when no change made the commands pass. */
  proof: Proof | null;
  /** Imports for the names that stay undefined; `null` when there are no such names. */
  recoveryHint: string | null;
  /** What fails with the changes that were kept; `null` when nothing was kept or nothing fails. */
  remaining: Observed | null;
  /** The run's name: the last part of its folder. */
  runId: string;
  /** Version of this document's shape. */
  schemaVersion: 1;
  /**
   * When it began, in UTC, such as `2026-01-31T12:00:00.000Z`; that of the first try of a run that was
   * resumed.
   */
  startedAt: string | null;
  /** How it stands. */
  status: RunStatus;
  /** How it ended. */
  stopReason: StopReason;
  /** What a person should do next. */
  suggestedActions: Array<string>;
  /** The task's own name in the tracker it came from; `null` without one. */
  taskId: string | null;
  /** The last run of the commands. */
  testResult: TestResult | null;
  /** What the failing tests entered; `null` where that was not seen. */
  trace: TestTrace | null;
  /** What the agent says it all cost. */
  usage: ResultUsage | null;
  /** How often all commands were run from their beginning. */
  wholeRuns: number;
  /** Where the commands and the agent ran. */
  workplace: WorkplaceUsed;
}

/** How a run or one of its attempts stands at its end. */
export type RunStatus = "fixed" | "unproven" | "blocked" | "failed" | "split" | "user_action_required" | "invalid_task";

/** What a person or an agent wants to know of a command that failed, in a few lines. */
export interface RunSummary {
  /** The change that made it fail; `null` where no trial showed one. */
  cause: KnownCause | null;
  /** Imports that are certain: `mendit fix` adds them and tries the command. */
  certain: Array<CertainImport>;
  /** The same in one sentence. */
  explanation: string;
  /** The tests that failed, each with its error; without tests, the lines that say what failed. */
  failures: Array<RunFailure>;
  /** What failed. */
  kind: FailureKind;
  /**
   * What `mendit fix` tries beside imports, each in a sentence: a spelling that a compiler
   * suggests, a bracket that is missing. At most three.
   */
  mends: Array<string>;
  /** Failures beyond those listed, without those that are like one of them. */
  more: number;
  /** How many more there are. */
  moreSuspects: number;
  /** What a packet for an agent comes to. */
  packet: PacketSize | null;
  /** For names without a certain import the likeliest one each, at most three. */
  perhaps: Array<CertainImport>;
  /** What mends the environment, when that is what fails. */
  remedies: Array<Remedy>;
  /** Whether nothing but a person's action helps. */
  requiresUserAction: boolean;
  /** A finer word. */
  subkind: Subkind | null;
  /**
   * Changes that are not committed, as `path:line`, the likeliest first, at most five: those that the
   * failing tests reach, else all; none of them was tried. `mendit why` does that.
   */
  suspects: Array<string>;
  /** All that it tries, in its order, each in a sentence. */
  tried: Array<string>;
}

/** A rung of the ladder and what it was worth. */
export interface Rung {
  /** Fixtures fixed with this rung as the highest used. */
  fixed: number;
  /** Fixtures fixed with this rung or a lower one. */
  fixedSoFar: number;
  /** The rung. */
  level: Level;
  /** Bytes of packets of those fixed at this rung, on average. */
  meanPacketBytes: number;
  /** Fixtures that can be fixed and were run. */
  of: number;
}

/** What one runner says of its tests before and after a change. */
export interface RunnerProof {
  /** Its own counts with the change; `null` when it gave none. */
  after: TestCounts | null;
  /** Its own counts before the change; `null` when it gave none. */
  before: TestCounts | null;
  /** The runner; `null` when the command is none that is known. */
  runner: TestRunner | null;
  /** Where its word was read. */
  source: ProofSource;
  /** Each test that failed before, and how it ended. */
  tests: Array<ProvenTest>;
}

/** How far a mend can be trusted. */
export type Safety = "safe" | "lossy" | "opt_in";

/** Whether a problem stops the patch. */
export type Severity = "error" | "warning";

/** What made a file less than whole. */
export interface Shortening {
  /**
   * Of a file that was asked for: what to ask for next to see the most of the rest, in the spelling
   * of `requestedFiles`.
   */
  ask?: Array<string>;
  /** Bytes of the whole text. */
  bytes: number;
  /** The stable reason. */
  code: Code;
  /** The reason in one sentence. */
  reason: string;
  /** What would give all of it. */
  remedy: string;
}

/** How many packets held what a repair needs, over the fixtures whose agent was given one. */
export interface Sight {
  /** The first packet held every needed file, whole or in part. */
  first: number;
  /** Every needed file was in a packet, whole or in part. */
  held: number;
  /** Fixtures that can be repaired and whose agent was given a packet. */
  of: number;
  /** A packet held them and showed every line that the reference changes. */
  shown: number;
}

/** What many runs say together (R51). */
export interface Stats {
  /** Why the alarm rings; `null` when it does not, or none was set. */
  alarm: string | null;
  /** What most often stood in the way, most often first; at most ten. */
  blockers: Array<Blocker>;
  /** By category, of runs that were not fixed. */
  categories: Record<string, number>;
  /** The same as shares of the failures, 0 to 1. */
  categoryRates: Record<string, number>;
  /** Always `stats`. */
  document: string;
  /** Share of failures that were not fixed, 0 to 1. */
  failureRate: number;
  /** Runs that had something to repair. */
  failures: number;
  /** Of those, runs that ended fixed. */
  fixed: number;
  /** Import errors, and how many of them were fixed (R15). */
  importRecovery: Rate;
  /** By kind of failure. */
  kinds: Record<string, Rate>;
  /**
   * What agents imported for names that were undefined, most often first: rows for the setting
   * `hint.known` (R16).
   */
  learned: Array<Blocker>;
  /** Others that stood in the way less often. */
  moreBlockers?: number | null;
  /** Rows beyond the ten listed. */
  moreLearned?: number | null;
  /** Runs that were read. */
  runs: number;
  /** Always [`super::SCHEMA_VERSION`]. */
  schemaVersion: number;
  /** Folders that are no finished run. */
  skipped: Array<string>;
  /** By how the run ended. */
  stopReasons: Record<string, number>;
}

/** How one attempt at a repair ended. */
export type StopReason = "fixed" | "nothing_to_repair" | "patch_invalid" | "apply_failed" | "tests_failed" | "tests_changed" | "unproven" | "workplace_unused" | "worktree_changed" | "regressed" | "policy_rejected" | "no_patch" | "requested_files" | "agent_error" | "agent_timeout" | "command_timeout" | "budget_exhausted" | "no_progress" | "flaky" | "user_action_required" | "invalid_task" | "interrupted";

/** A finer word inside a kind; for `import_error` one of the eight first. */
export type Subkind = string;

/** One import that may have been meant. */
export interface Suggestion {
  /**
   * Other files that import the same under its old name or place and that the patch mends as
   * well, sorted.
   */
  alsoIn?: Array<RepoPath>;
  /** The evidence agrees and leaves no other candidate. */
  certain: boolean;
  /** How sure, in percent. */
  confidence: number;
  /**
   * The statement that binds it, on one line; empty where the file has the name that was meant at
   * hand already, under another spelling.
   */
  importStatement: string;
  /** The name inside the module: `*` for the module itself, `default` for its default export. */
  imported: string;
  /** The module as the statement names it. */
  module: string;
  /** The undefined name. */
  name: string;
  /** The file of the repository that the module is; `null` when it lies outside. */
  path: RepoPath | null;
  /**
   * The specifier of an import that this one takes the place of: of a module that is not
   * there, or that does not export the name.
   */
  replaces: string | null;
  /** The strongest evidence. */
  source: HintSource;
  /** Erased at run time. */
  typeOnly: boolean;
}

/** A share and how sure it is. */
export interface Tally {
  /** Upper end. */
  high: number;
  /** Lower end of the 95 % interval of Wilson. */
  low: number;
  /** Fixtures that passed. */
  passed: number;
  /** Passed of run; 0 when none was run. */
  rate: number;
  /** Fixtures that were run. */
  run: number;
  /** Fixtures that were skipped. */
  skipped: number;
}

/** A tally with the name of its group. */
export interface TallyRow {
  /** Upper end. */
  high: number;
  /** Lower end of the 95 % interval of Wilson. */
  low: number;
  /** The group. */
  name: string;
  /** Fixtures that passed. */
  passed: number;
  /** Passed of run; 0 when none was run. */
  rate: number;
  /** Fixtures that were run. */
  run: number;
  /** Fixtures that were skipped. */
  skipped: number;
}

/**
 * Tests of a run, as its runner counts them. For a checker of types or style `failed` are its
 * errors and `passed` the files it says it checked.
 */
export interface TestCounts {
  /** Tests that the command chose to leave out. */
  deselected: number;
  /** Files, suites or set-ups that could not be run at all. */
  errors: number;
  /** Tests that failed. */
  failed: number;
  /** Tests that passed. */
  passed: number;
  /** Tests that were skipped, are only planned, or failed as expected. */
  skipped: number;
}

/** How a test ended. */
export type TestEnd = "passed" | "failed" | "skipped" | "expected_failure" | "counted" | "not_seen";

/** What a test failed with. */
export interface TestError {
  /** The line that says why; empty when the output does not say. */
  error: string;
  /** The 1-based line in it. */
  line: number | null;
  /** The file in which the test stopped. */
  path: string | null;
  /** The test, in the runner's own spelling; empty when the line belongs to none. */
  test: string;
}

/** How one run of the test command ended. */
export interface TestResult {
  /** Seconds from start to end. */
  durationSeconds: number;
  /** The exit code, when it ended by itself. */
  exit: number | null;
  /** Processes that outlived it and were killed. */
  leaked: number;
  /** The same in words, such as `exit code 1` or `killed by signal 11`. */
  message: string;
  /** The signal that ended it. */
  signal: number | null;
  /** Whether a time limit ended it. */
  timedOut: boolean;
}

/** A program that runs tests, or checks types or style. */
export type TestRunner = "pytest" | "unittest" | "nose" | "jest" | "vitest" | "mocha" | "node:test" | "tap" | "ava" | "jasmine" | "playwright" | "tsc" | "eslint" | "ruff" | "mypy" | "pyright" | "cargo test" | "go test";

/** What the failing tests ran, in definitions. */
export interface TestTrace {
  /** Definitions that failing tests entered, those first that are most of them alone; at most 50. */
  definitions: Array<TracedDefinition>;
  /** Tests that failed under the trace. */
  failing: number;
  /** How many more there are. */
  more: number;
  /** Tests of the same files that passed. */
  passing: number;
}

/** A line with characters that mislead a reader. */
export interface TextWarning {
  /** `bidi`, `zero_width`, `tag` or `control`. */
  kind: string;
  /** 1-based line. */
  line: number;
}

/** A definition that failing tests entered. */
export interface TracedDefinition {
  /** Failing tests that entered it. */
  failing: number;
  /** Its first line. */
  line: number;
  /** Its name. */
  name: string;
  /** Passing tests that entered it. */
  passing: number;
  /** Its file. */
  path: string;
  /** How much it is of the failing tests alone, 0 to 1 (Ochiai). */
  score: number;
}

/** A value that a test expects, exchanged for another. */
export interface TriedExpectation {
  /** How the test ended with another. */
  ended: ExpectationEnd;
  /** 1-based line of the assertion. */
  line: number;
  /** The file of the test. */
  path: string;
  /** The value as it is written. */
  was: string;
}

/** What an agent lacks. */
export type TroubleKind = "login" | "credit" | "rate_limit" | "too_long" | "crash";

/** A file as an earlier packet held it. */
export interface UnchangedFile {
  /** How much of it that packet held. */
  mode: FileMode;
  /** Where it is. */
  path: RepoPath;
  /** The line ranges it held; empty when it was all. */
  ranges: Array<[number, number]>;
  /** SHA-256 of the whole file's bytes, in hex. */
  sha256: string;
}

/** An import that leads to no file. */
export interface UnresolvedImport {
  /** 1-based line. */
  line: number;
  /** The importing file. */
  path: RepoPath;
  /** What it asks for. */
  specifier: string;
  /** The paths that were looked for, in order. */
  tried: Array<string>;
}

/** The answer for a patch or for one hunk; the later in this list, the more it outranks others. */
export type Verdict = "applies" | "applies_mended" | "already_applied" | "reversed" | "ambiguous" | "stale" | "context_not_found" | "malformed" | "refused" | "unsafe";

/** What a sandbox holds back. */
export type Wall = "files" | "closed" | "pipes" | "metadata" | "devices" | "privileges" | "processes" | "shared_memory" | "process_count";

/** What the changes were compared with. */
export interface WhyBase {
  /** The commit, in hex. */
  commit: string;
  /** Why it was this one, in a few words. */
  what: string;
}

/** One change that may be the cause, or is. */
export interface WhyChange {
  /** The commit that brought it; `None` when it is not committed. */
  commit: string | null;
  /** The lines as a diff, secrets masked, at most 20. */
  diff: string;
  /** Its 1-based line now; `None` for a whole file. */
  line: number | null;
  /** The file as it is named now, or was before it went. */
  path: string;
  /** What speaks for it, or what it is. */
  why: string;
}

/** What made a command fail: `mendit why --format json`. */
export interface WhyDocument {
  /** What lies outside the changes and may be it, with what to type; told where no change is named. */
  around: Array<Remedy>;
  /** What the changes were compared with; `None` when there was nothing to compare with. */
  base: WhyBase | null;
  /** The smallest set of changes without which the tests pass, as trials showed it. */
  cause: Array<WhyChange>;
  /** The command that fails, secrets masked. */
  command: string;
  /** `why`. */
  document: string;
  /** Seconds that all of it took. */
  durationSeconds: number;
  /** The same in one line. */
  message: string;
  /** How many more there are. */
  moreSuspects: number;
  /** Why there is no cause; `None` when there is one. */
  reason: WhyReason | null;
  /** Runs of the failing tests. */
  runs: number;
  /** Raised when a field changes its meaning or goes. */
  schemaVersion: number;
  /** Changes that may be it, likeliest first, at most 20. */
  suspects: Array<WhyChange>;
  /** The failing tests that were asked, in the runner's spelling; empty where the output names none. */
  tests: Array<string>;
  /** What was tried, in order. */
  trials: Array<WhyTrial>;
  /**
   * A patch that takes the cause back, where the trials ran on the files as they are now; `None` otherwise,
   * and where a secret stands in it.
   */
  undo: string | null;
  /** What the trials showed. */
  verdict: WhyVerdict;
  /** Runs of the whole command. */
  wholeRuns: number;
}

/** What the failing tests did in one state. */
export type WhyOutcome = "passes" | "fails" | "other";

/** Why no cause is named. */
export type WhyReason = "flaky" | "passes" | "no_base" | "no_change" | "budget" | "does_not_build" | "fails_without" | "interrupted" | "command_not_found" | "not_executable";

/** One state that was tried. */
export interface WhyTrial {
  /** The commit whose files were laid in; `None` for the worktree's own. */
  commit: string | null;
  /** How many changes that were. */
  count: number;
  /** What came of it. */
  outcome: WhyOutcome;
  /** Changes that were taken back: `path:line`, at most 20. */
  without: Array<string>;
}

/** What the trials showed of a cause. */
export type WhyVerdict = "caused" | "not_by_this_change" | "unknown" | "not_run";

/** Where the commands and the agent of a run stood. */
export interface WorkplaceUsed {
  /** `overlay`, `copy` or `in-place`. */
  kind: string;
  /** Walls of the sandbox that could not be had, and why. */
  notConfined: Array<NotConfined>;
  /**
   * What the sandbox refused to be written; `--allow-write PATH` opens a place to the commands,
   * `--agent-write PATH` to the agent.
   */
  refused: Array<Refused>;
  /** How far what ran there was confined: `enforced`, `partial` or `none`. */
  sandbox: string;
  /** Why that one, in a few words. */
  why: string;
}
