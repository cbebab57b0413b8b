//! Every task asked through every door: command line, MCP server and library give one document.
#![cfg(all(feature = "mcp", unix))]

use crate::support;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use crate::support::Repo;
use mendit::app::{
    App, AppOptions, ContextRequest, DiagnoseRequest, FixRequest, HintRequest, ImportsRequest,
    Input, LevelChoice, Log, PatchRequest, RedactRequest, Silent, Switch, Target, add_up_runs,
    apply_patch, build_context, check_patch, diagnose_log, explain_word, find_imports,
    list_imports, redact_text, split_task, to_json, with_canonical,
};
use mendit::model::DiagnosisDocument;
use serde_json::{Value, json};

const ALIAS: &str = "src/a.ts(1,19): error TS2307: Cannot find module '@shared/money' or its \
                     corresponding type declarations.\n";
const MOVED: &str = "Traceback (most recent call last):\n  File \"app.py\", line 1, in <module>\n    \
                     from pkg.old_utils import slugify\nModuleNotFoundError: No module named \
                     'pkg.old_utils'\n";
const PATCH: &str = "--- a/src/b.ts\n+++ b/src/b.ts\n@@ -1 +1 @@\n-export const b = 1;\n+export \
                     const b = 7;\n";

fn repo() -> Repo {
    let repo = Repo::with(&[
        (
            "tsconfig.json",
            r#"{"compilerOptions":{"paths":{"@shared/*":["./lost/*"]}}}"#,
        ),
        ("package.json", "{}"),
        ("mendit.toml", "[context]\nmax-tokens = 100000\n"),
        ("src/a.ts", "import { m } from \"@shared/money\";\n"),
        ("src/b.ts", "export const b = 0;\n"),
        (
            "src/c.ts",
            "import { b } from './b';\nexport const c = b;\n",
        ),
        ("src/c.test.ts", "import { c } from './c';\nc;\n"),
        ("pkg/__init__.py", ""),
        ("pkg/new_utils.py", "def slugify(text):\n    return text\n"),
        ("app.py", "from pkg.old_utils import slugify\n"),
    ]);
    repo.write("src/b.ts", "export const b = 1;\n");
    repo.commit();
    repo
}

// A token in the log, to see that no door shows it.
fn with_token(log: &str) -> String {
    format!(
        "{log}url=https://x.example/?access_token=ghp_{}\n",
        "a1B2".repeat(9)
    )
}

struct Door {
    tool: &'static str,
    arguments: Value,
    line: Vec<&'static str>,
    library: Box<dyn Fn(&App) -> Value>,
}

fn document(value: &impl serde::Serialize) -> Value {
    serde_json::from_str(&to_json(value).unwrap()).unwrap()
}

fn patch_request() -> PatchRequest {
    PatchRequest {
        patch: PATCH.as_bytes().to_vec(),
        ..PatchRequest::default()
    }
}

fn doors() -> Vec<Door> {
    let alias = with_token(ALIAS);
    let moved = with_token(MOVED);
    vec![
        Door {
            tool: "diagnose",
            arguments: json!({"log": alias, "exitCode": 2, "command": "tsc"}),
            line: vec![
                "diagnose",
                "../alias.log",
                "--exit-code",
                "2",
                "--command",
                "tsc",
            ],
            library: Box::new(|app| {
                let request = DiagnoseRequest {
                    log: Some(Input::held("log", with_token(ALIAS))),
                    exit_code: Some(2),
                    command: Some("tsc".to_owned()),
                    ..DiagnoseRequest::default()
                };
                let found = diagnose_log(app, &request, &Silent).unwrap();
                document(&DiagnosisDocument::new(&found.diagnosis))
            }),
        },
        Door {
            tool: "build_context",
            arguments: json!({"log": alias, "level": 1, "document": true}),
            line: vec!["context", "--log", "../alias.log", "--level", "1"],
            library: Box::new(|app| {
                let request = ContextRequest {
                    log: Some(Input::held("log", with_token(ALIAS))),
                    level: LevelChoice::Exactly(mendit::model::Level::OneHop),
                    ..ContextRequest::default()
                };
                document(&build_context(app, &request, &Silent).unwrap().context)
            }),
        },
        Door {
            tool: "find_import",
            arguments: json!({"log": moved, "fix": true}),
            line: vec!["hint", "--log", "../moved.log", "--fix"],
            library: Box::new(|app| {
                let request = HintRequest {
                    logs: vec![Log::from(with_token(MOVED))],
                    fix: true,
                    ..HintRequest::default()
                };
                document(&find_imports(app, &request, &Silent).unwrap().document)
            }),
        },
        Door {
            tool: "imports",
            arguments: json!({"files": ["src/c.ts"], "symbols": true}),
            line: vec!["imports", "src/c.ts", "--symbols"],
            library: Box::new(|app| {
                let request = ImportsRequest {
                    files: vec!["src/c.ts".to_owned()],
                    symbols: true,
                    ..ImportsRequest::default()
                };
                document(&list_imports(app, &request, &Silent).unwrap())
            }),
        },
        Door {
            tool: "imports",
            arguments: json!({"changed": "HEAD~1", "tests": true}),
            line: vec!["imports", "--changed", "HEAD~1", "--tests"],
            library: Box::new(|app| {
                let request = ImportsRequest {
                    changed: Some("HEAD~1".to_owned()),
                    tests: true,
                    ..ImportsRequest::default()
                };
                let reached = list_imports(app, &request, &Silent).unwrap();
                assert_eq!(reached.files[0].path.as_str(), "src/c.test.ts");
                document(&reached)
            }),
        },
        Door {
            tool: "check_patch",
            arguments: json!({"patch": PATCH}),
            line: vec!["check", "../b.patch"],
            library: Box::new(|app| {
                let judged = check_patch(app, &patch_request(), &Silent).unwrap();
                document(&with_canonical(judged))
            }),
        },
        Door {
            tool: "apply_patch",
            arguments: json!({"patch": PATCH}),
            line: vec!["apply", "../b.patch"],
            library: Box::new(|app| {
                let done = apply_patch(app, &patch_request(), &Target::Worktree, &Silent);
                document(&with_canonical(done.unwrap().0))
            }),
        },
        Door {
            tool: "redact",
            arguments: json!({"text": alias}),
            line: vec!["redact", "../alias.log", "--findings"],
            library: Box::new(|app| {
                let request = RedactRequest {
                    file: Input::held("", with_token(ALIAS)),
                    env: Switch::On,
                };
                document(&redact_text(app, &request, &Silent).unwrap().findings)
            }),
        },
        Door {
            tool: "explain",
            arguments: json!({"code": "p401"}),
            line: vec!["explain", "p401"],
            library: Box::new(|_| document(&explain_word("p401").unwrap())),
        },
    ]
}

#[test]
fn every_door_gives_the_same_document() {
    for door in doors() {
        let repo = repo();
        std::fs::write(repo.outside().join("alias.log"), with_token(ALIAS)).unwrap();
        std::fs::write(repo.outside().join("moved.log"), with_token(MOVED)).unwrap();
        std::fs::write(repo.outside().join("b.patch"), PATCH).unwrap();
        let again = |answer: Value| {
            repo.git(&["checkout", "-q", "--", "."]);
            answer
        };
        let by_line = again(by_line(&repo, &door));
        let by_tool = again(by_tool(&repo, &door));
        let options = AppOptions {
            directory: repo.root(),
            ..AppOptions::default()
        };
        let app = App::open(&options, |_| {});
        let by_library = again((door.library)(&app.unwrap()));
        assert_eq!(by_line, by_library, "{}: command line", door.tool);
        assert_eq!(by_tool, by_library, "{}: server", door.tool);
        let shown = by_library.to_string();
        assert!(!shown.contains("ghp_a1B2"), "{}: {shown}", door.tool);
    }
}

#[test]
fn a_repair_diagnoses_as_the_others_do() {
    let repo = repo();
    std::fs::write(repo.outside().join("alias.log"), ALIAS).unwrap();
    let test = "cat ../alias.log; exit 2";
    let log = repo.outside().join("alias.log");
    let test = test.replace("../alias.log", log.to_str().unwrap());
    let out = repo.outside().join("run");
    let repaired = repo.mendit(&["repair", "--test", &test, "--out", out.to_str().unwrap()]);
    assert_eq!(
        repaired.status.code(),
        Some(1),
        "{}",
        support::stderr(&repaired)
    );
    let written = std::fs::read(out.join("diagnosis.json")).unwrap();
    let written: Value = serde_json::from_slice(&written).unwrap();
    let asked = support::json(&repo.mendit(&[
        "diagnose",
        "../alias.log",
        "--exit-code",
        "2",
        "--command",
        &test,
        "--format",
        "json",
    ]));
    assert_eq!(written, asked);
    assert_eq!(asked["subkind"], "missing_module");
}

fn by_line(repo: &Repo, door: &Door) -> Value {
    // `--findings` is JSON by itself, and finding some is a no.
    let asked: &[&str] = if door.tool == "redact" {
        &[]
    } else {
        &["--format", "json"]
    };
    let output = repo.mendit(&[&door.line[..], asked].concat());
    let said = support::stderr(&output);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}: {said}", door.tool))
}

// What the server answers to one question.
fn ask_server(repo: &Repo, flags: &[&str], method: &str, params: &Value) -> Value {
    let mut command = support::command(&repo.root(), &[&["mcp", "--allow-write"], flags].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut server = command.spawn().unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut ask = |message: Value| writeln!(input, "{message}").unwrap();
    ask(json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    }));
    output.next().unwrap().unwrap();
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    ask(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    let answer = output
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .find(|answer| answer["id"] == 1)
        .unwrap();
    drop(input);
    server.wait().unwrap();
    answer["result"].clone()
}

fn by_tool(repo: &Repo, door: &Door) -> Value {
    let params = json!({"name": door.tool, "arguments": door.arguments});
    let answer = ask_server(repo, &[], "tools/call", &params);
    let document = &answer["structuredContent"];
    match door.tool {
        "redact" => document["findings"].clone(),
        "explain" => document["pages"][0].clone(),
        _ => document.clone(),
    }
}

// Tools that run commands: their documents hold times, so tests/mcp.rs asks for what is in them.
const RUNNERS: [&str; 3] = ["find_cause", "fix_tests", "run_tests"];

#[test]
fn every_tool_has_its_doors() {
    let answer = ask_server(&repo(), &["--run", "true"], "tools/list", &json!({}));
    let tools = answer["tools"].as_array().unwrap();
    let offered: BTreeSet<&str> = tools
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    let doors = doors();
    let asked = doors.iter().map(|it| it.tool).chain(RUNNERS);
    assert_eq!(offered, asked.collect());
}

#[test]
fn tasks_without_a_tool_answer_alike_as_well() {
    let repo = repo();
    let task = "# Totals\n\n- `b()` in `src/b.ts` adds\n- `c()` in `src/c.ts` adds\n";
    repo.write("task.md", task);
    let line = repo.mendit(&[
        "fix",
        "--task",
        "task.md",
        "--split-only",
        "--format",
        "json",
    ]);
    let options = AppOptions {
        directory: repo.root(),
        ..AppOptions::default()
    };
    let app = App::open(&options, |_| {}).unwrap();
    let request = FixRequest {
        task: Some(Input::held("task.md", task)),
        ..FixRequest::default()
    };
    let plan = document(&split_task(&app, &request, &Silent).unwrap());
    assert_eq!(plan["parts"].as_array().unwrap().len(), 2, "{plan}");
    assert_eq!(support::json(&line), plan);

    let runs = repo.outside().join("runs");
    let run = runs.join("one");
    repo.mendit(&["repair", "--test", "exit 3", "--out", run.to_str().unwrap()]);
    let line = repo.mendit(&["report", runs.to_str().unwrap(), "--format", "json"]);
    let all = document(&add_up_runs(&[runs], None, None).unwrap());
    assert_eq!(all["runs"], 1, "{all}");
    assert_eq!(support::json(&line), all);
}

// Every task of the application floor, and where it is asked for: here through each of its doors, or
// in the file that holds what it does, as it runs commands, takes time or writes.
#[rustfmt::skip]
const TASKS: &[(&str, &str)] = &[
    ("add_up_runs", "tests/faces/doors.rs: \"report\""),
    ("apply_patch", "tests/faces/doors.rs: \"apply\""),
    ("build_context", "tests/faces/doors.rs: \"context\""),
    ("check_batch", "tests/judge/patch/intent.rs: a_batch_refuses"),
    ("check_patch", "tests/faces/doors.rs: \"check\""),
    ("check_up", "tests/loop/first.rs: \"doctor\""),
    ("clean", "docs/kept.md: mendit config clean"),
    ("compare_benches", "tests/loop/bench_real.rs: \"compare\""),
    ("diagnose_log", "tests/faces/doors.rs: \"diagnose\""),
    ("explain_word", "tests/faces/doors.rs: \"explain\""),
    ("find_cause", "tests/loop/why.rs: \"why\""),
    ("find_fix", "tests/loop/first.rs: \"fix\""),
    ("find_imports", "tests/faces/doors.rs: \"hint\""),
    ("find_run", "tests/loop/repair/reporting.rs: the_latest_run_is_found"),
    ("git_apply", "tests/judge/patch/git_apply.rs: git-apply"),
    ("heal_probes", "tests/loop/heal.rs: \"heal\""),
    ("init_target", "tests/faces/setup.rs: \"init\""),
    ("list_imports", "tests/faces/doors.rs: \"imports\""),
    ("make_fixture", "tests/loop/bench.rs: a_failing_repository_becomes_a_fixture"),
    ("merge_bench", "tests/loop/bench.rs: \"merge\""),
    ("mine_fixes", "tests/loop/bench_real.rs: \"mine\""),
    ("prove_fixtures", "tests/loop/bench.rs: \"--verify\""),
    ("read_report", "tests/loop/repair/reporting.rs: \"report\""),
    ("recover_apply", "tests/judge/patch/apply.rs: a_killed_apply_is_finished_or_undone"),
    ("redact_text", "tests/faces/doors.rs: \"redact\""),
    ("repair_repository", "tests/faces/doors.rs: \"repair\""),
    ("run_bench", "tests/loop/bench.rs: \"bench\""),
    ("run_command", "tests/workplace/exec/packet.rs: \"run\""),
    ("show_settings", "tests/faces/settings.rs: \"config\""),
    ("split_task", "tests/faces/doors.rs: \"--split-only\""),
    ("write_fix", "tests/loop/first.rs: \"fix\""),
];

// What tasks are asked with and what is made of their answers.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "awaited",
    "below_no_link",
    "bench_failure",
    "benches_all_agents",
    "broken_fixtures",
    "enter_last",
    "find_settings",
    "holds_runs",
    "init_names",
    "is_piped",
    "known_undo",
    "last",
    "last_line",
    "last_log",
    "last_run",
    "last_words",
    "no_run",
    "own_settings",
    "preset",
    "read_junit",
    "read_log",
    "readable_file",
    "reports",
    "run_all_agents",
    "share",
    "summarise_diagnosis",
    "to_json",
    "to_json_line",
    "with_canonical",
    "within_budget",
    "write_file",
];

#[test]
fn every_task_is_asked_for_somewhere() {
    let floor = std::fs::read_to_string("src/app/mod.rs").unwrap();
    let own = floor.split("// What requests are made of.").next().unwrap();
    let mut tasks = BTreeSet::new();
    for statement in own.split(';').filter_map(|it| it.split_once("pub use ")) {
        let names = statement.1.rsplit("::").next().unwrap();
        let names = names.split(|it: char| !(it.is_alphanumeric() || it == '_'));
        let lower = |it: &&str| it.starts_with(|it: char| it.is_ascii_lowercase());
        tasks.extend(names.filter(lower).map(str::to_owned));
    }
    let listed = TASKS.iter().map(|it| it.0).chain(PARTS.iter().copied());
    let listed: BTreeSet<String> = listed.map(str::to_owned).collect();
    assert_eq!(tasks, listed);
    for (task, place) in TASKS {
        let (file, words) = place.split_once(": ").unwrap();
        let text = std::fs::read_to_string(file).unwrap_or_else(|_| panic!("{task}: {file}"));
        assert!(text.contains(words), "{task}: {file} has no {words}");
    }
}
