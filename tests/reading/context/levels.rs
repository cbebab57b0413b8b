//! What a user gets from `mendit context` at each level of the ladder.

use crate::support;
use crate::support::{Repo, stderr, texts};

fn shop() -> Repo {
    Repo::with(&[
        ("package.json", r#"{"name":"shop","private":true}"#),
        ("tsconfig.json", "{}"),
        (
            "pnpm-lock.yaml",
            "lockfileVersion: '9.0'\npackages:\n  left-pad@1.3.0:\n    resolution: {}\n  zod@3.0.0:\n    resolution: {}\n",
        ),
        (
            "src/cart.ts",
            "import { price } from './price';\nimport type { Item } from './types';\nexport const cart = (items: Item[]) => items.map(price);\n",
        ),
        (
            "src/price.ts",
            "import { vat } from './vat';\nexport const price = (n: { cents: number }) => vat(n.cents);\n",
        ),
        ("src/types.ts", "export interface Item { cents: number }\n"),
        ("src/vat.ts", "export const vat = (n: number) => n * 1.2;\n"),
        ("src/unrelated.ts", "export const x = 1;\n"),
        (
            "tests/cart.test.ts",
            "import { cart } from '../src/cart';\ncart([]);\n",
        ),
    ])
}

const TSC: &str =
    "src/cart.ts(1,10): error TS2305: Module '\"./price\"' has no exported member 'price'.\n";

#[test]
fn reads_targets_and_level_from_log() {
    let repo = shop();
    repo.write("test.log", TSC);
    let context = repo.context(&["--log", "test.log"]);
    assert_eq!(context["level"], 1);
    assert_eq!(context["document"], "context");
    let files = texts(&context["filesIncluded"], None);
    assert_eq!(files[0], "src/cart.ts");
    assert!(
        files.contains(&"src/price.ts".to_owned()) && files.contains(&"src/types.ts".to_owned())
    );
    let roles = texts(&context["files"], Some("role"));
    assert_eq!(
        (roles[0].as_str(), roles[roles.len() - 1].as_str()),
        ("target", "manifest")
    );
    // The specification takes the imports alone, in their order.
    let context = repo.context(&[
        "--log", "test.log", "--profile", "spec", "--allow", "src/**",
    ]);
    let files = texts(&context["filesIncluded"], None);
    assert_eq!(files[..3], ["src/cart.ts", "src/price.ts", "src/types.ts"]);
    assert_eq!(texts(&context["next"], None), ["src/vat.ts"]);
}

#[test]
fn reads_log_from_pipe() {
    let repo = shop();
    let command = support::command(&repo.root(), &["context", "--log", "-", "--format", "json"]);
    let context = support::json(&support::fed(command, TSC.as_bytes()));
    assert_eq!(context["level"], 1);
}

#[test]
fn level_0_holds_targets_and_index_in_few_kilobytes() {
    let repo = shop();
    let context = repo.context(&["tests/cart.test.ts"]);
    assert_eq!(context["level"], 0);
    assert_eq!(
        texts(&context["filesIncluded"], None),
        ["tests/cart.test.ts"]
    );
    assert_eq!(texts(&context["next"], None), ["src/cart.ts"]);
    let index = texts(&context["repoIndex"]["files"], Some("path"));
    assert_eq!(index.len(), 9);
    assert_eq!(
        texts(&context["repoIndex"]["entrypoints"], None),
        ["package.json"]
    );
    let tracked = repo.git(&["ls-files", "-s", "src/vat.ts"]);
    let row = context["repoIndex"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["path"] == "src/vat.ts")
        .unwrap();
    assert!(tracked.contains(row["blobId"].as_str().unwrap()));
    // The targets, the log and a list; nothing of what they import.
    assert!(
        context["totalBytes"].as_u64().unwrap() < 1000,
        "{}",
        context["totalBytes"]
    );
    assert!(
        context.to_string().len() < 8_000,
        "{}",
        context.to_string().len()
    );
}

#[test]
fn level_2_follows_two_imports_and_says_which() {
    let repo = shop();
    let context = repo.context(&[
        "--level", "2", "--profile", "spec", "--allow", "src/**", "src/cart.ts",
    ]);
    let files = context["files"].as_array().unwrap();
    let vat = files.iter().find(|file| file["path"] == "src/vat.ts").unwrap();
    assert_eq!(vat["hops"], 2);
    assert_eq!(texts(&vat["via"], None), ["src/price.ts"]);
    assert!(!texts(&context["filesIncluded"], None).contains(&"src/unrelated.ts".to_owned()));
}

#[test]
fn retries_raise_level() {
    let repo = shop();
    let climb = |arguments: &[&str]| {
        let all = [arguments, &["src/cart.ts"]].concat();
        repo.context(&all)["level"].as_u64().unwrap()
    };
    assert_eq!(climb(&["--stop-reason", "tests_failed"]), 1);
    repo.write("before.json", r#"{"level":1,"stopReason":"patch_invalid"}"#);
    assert_eq!(climb(&["--previous", "before.json"]), 2);
    assert_eq!(climb(&["--request-path", "src/vat.ts"]), 3);
    assert_eq!(climb(&["--include-repo-bundle"]), 4);
}

#[test]
fn level_4_needs_flag_and_keeps_denylist() {
    let repo = shop();
    repo.write(".env", "A=1\n");
    repo.commit();
    let refused = repo.mendit(&["context", "--level", "4", "src/cart.ts"]);
    assert_eq!(refused.status.code(), Some(5));
    assert!(stderr(&refused).contains("--include-repo-bundle"));
    let context = repo.context(&["--include-repo-bundle"]);
    let files = texts(&context["filesIncluded"], None);
    assert!(files.contains(&"src/unrelated.ts".to_owned()) && !files.contains(&".env".to_owned()));
    assert!(texts(&context["omitted"], Some("path")).contains(&".env".to_owned()));
}

#[test]
fn reports_cuts_of_caps() {
    let repo = shop();
    let context = repo.context(&["--level", "2", "--max-files", "1", "src/cart.ts"]);
    assert_eq!(
        texts(&context["files"], Some("role")),
        ["target", "closure"]
    );
    let cut = &context["omitted"][0];
    assert_eq!(cut["code"], "C101");
    assert_eq!(cut["rank"], 2);
    assert!(cut["remedy"].as_str().unwrap().contains("--max-files"));
    assert_eq!(
        texts(&context["next"], None)[0],
        cut["path"].as_str().unwrap()
    );

    let context = repo.context(&[
        "--level", "1", "--max-total-bytes", "60", "src/price.ts", "src/cart.ts",
    ]);
    let bytes: u64 = context["totalBytes"].as_u64().unwrap();
    assert!(bytes <= 120, "{bytes}");
    assert!(context["filesRejected"][0]["code"] == "C102");

    let context = repo.context(&["--level", "2", "--max-tokens", "40", "src/cart.ts"]);
    assert!(context["totalTokens"].as_u64().unwrap() <= 40);
}

#[test]
fn cut_lists_report_count() {
    let repo = shop();
    let short = repo.context(&["src/cart.ts"]);
    assert!(short["repoIndex"]["moreEntrypoints"].is_null());
    let had = short["repoIndex"]["entrypoints"].as_array().unwrap().len();
    for at in 0..40 {
        repo.write(&format!("p{at}/main.py"), "");
    }
    repo.commit();
    let context = repo.context(&["src/cart.ts"]);
    let listed = |of: &serde_json::Value| of.as_array().unwrap().len();
    let index = &context["repoIndex"];
    assert_eq!(listed(&index["entrypoints"]), 30);
    assert_eq!(index["moreEntrypoints"], had + 10);
}

#[test]
fn long_files_become_windows() {
    let repo = shop();
    let long: String = (1..=5000).map(|n| format!("export const v{n} = {n};\n")).collect();
    repo.write("src/long.ts", long);
    repo.commit();
    repo.write(
        "test.log",
        "src/long.ts(4000,14): error TS2322: Type 'number' is not assignable to type 'string'.\n",
    );
    let context = repo.context(&["--log", "test.log", "--max-file-bytes", "2000"]);
    let file = &context["files"][0];
    assert_eq!(
        (&file["path"], &file["mode"]),
        (&"src/long.ts".into(), &"window".into())
    );
    let ranges = file["ranges"].as_array().unwrap();
    assert!(
        ranges
            .iter()
            .any(|range| range[0].as_u64() <= Some(4000) && range[1].as_u64() >= Some(4000))
    );
    assert!(file["content"].as_str().unwrap().contains("v4000 = 4000;"));
}

#[test]
fn requests_are_checked_one_by_one() {
    let repo = shop();
    repo.write(".env", "S=1\n");
    repo.write("ask.json", r#"{"requestedFiles":["src/vat.ts","../x","/etc/passwd",".env","src/vatt.ts",".git/config"]}"#);
    let context = repo.context(&["--request", "ask.json"]);
    let first = &context["files"][0];
    assert_eq!(
        (&first["path"], &first["role"]),
        (&"src/vat.ts".into(), &"requested".into())
    );
    let rejected = texts(&context["filesRejected"], Some("path"));
    assert_eq!(rejected.len(), 5, "{rejected:?}");
    let reasons = texts(&context["filesRejected"], Some("reason")).join("\n");
    assert!(reasons.contains("`src/vat.ts`"), "{reasons}");
    assert!(reasons.contains("leaves the repository") && reasons.contains("absolute"));
}

#[test]
fn serves_part_then_rest_of_file() {
    let repo = shop();
    let of = |name: &str| {
        format!(
            "export function {name}(n) {{\n{}}}\n",
            "  n += 1;\n".repeat(60)
        )
    };
    let long: String = (0..20).map(|n| of(&format!("step{n}"))).collect();
    repo.write("src/long.ts", &long);
    repo.write("test.log", TSC);
    let context = |more: &[&str]| {
        repo.context(&[&["--log", "test.log", "--max-tokens", "2000"], more].concat())
    };
    let file = |context: &serde_json::Value| {
        let files = context["files"].as_array().unwrap();
        let mut named = files.iter().filter(|it| it["path"] == "src/long.ts");
        let file = named.next().unwrap().clone();
        assert!(named.next().is_none());
        (file["content"].as_str().unwrap().to_owned(), file)
    };
    for (asked, name) in [
        ("src/long.ts#step17", "step17"),
        ("src/long.ts:1-62", "step0"),
    ] {
        let (content, _) = file(&context(&["--request-path", asked]));
        assert!(content.contains(of(name).as_str()), "{asked}: {content}");
    }
    let first = context(&["--request-path", "src/long.ts"]);
    assert!(first["totalTokens"].as_u64().unwrap() <= 2000);
    let (_, row) = file(&first);
    let rest = texts(&row["shortened"]["ask"], None);
    assert!(!rest.is_empty(), "{row}");
    let (_, again) = file(&context(&["--request-path", &rest[0]]));
    let first: u64 = rest[0].split([':', '-']).nth(1).unwrap().parse().unwrap();
    let holds = |ranges: &serde_json::Value| {
        let mut ranges = ranges.as_array().unwrap().iter();
        ranges.any(|one| one[0].as_u64() <= Some(first) && one[1].as_u64() >= Some(first))
    };
    assert!(
        !holds(&row["ranges"]) && holds(&again["ranges"]),
        "{rest:?}"
    );
    let refused = context(&["--request-path", "src/long.ts#step77"]);
    let row = &refused["filesRejected"][0];
    assert_eq!(row["code"], "C312");
    assert!(
        row["reason"].as_str().unwrap().contains("`step77`"),
        "{row}"
    );
    let manifest = context(&["--request-path", "package.json"]);
    let paths = texts(&manifest["filesIncluded"], None);
    let count = paths.iter().filter(|it| *it == "package.json").count();
    assert_eq!(count, 1, "{paths:?}");
}

#[test]
fn unresolved_imports_list_tried_paths() {
    let repo = shop();
    repo.write("src/broken.ts", "import { a } from './gone';\n");
    let context = repo.context(&["src/broken.ts"]);
    let import = &context["unresolvedImports"][0];
    assert_eq!(
        (&import["specifier"], &import["line"]),
        (&"./gone".into(), &1.into())
    );
    let tried = texts(&import["tried"], None);
    assert!(
        tried.iter().any(|path| path.starts_with("src/gone")),
        "{tried:?}"
    );
}

#[test]
fn requests_have_limits() {
    let repo = shop();
    let names: Vec<String> = (0..12).map(|n| format!("src/r{n}.ts")).collect();
    for name in &names {
        repo.write(name, "export const r = 1;\n");
    }
    repo.write("log", TSC);
    let ask = |paths: &[String], previous: Option<&str>| {
        let document = serde_json::json!({ "requestedFiles": paths });
        repo.write("ask.json", document.to_string());
        let before = previous.map(|file| ["--previous", file]);
        let base = ["--log", "log", "--request", "ask.json"];
        repo.context(
            &[
                &base[..],
                before.as_ref().map_or(&[][..], |flags| &flags[..]),
            ]
            .concat(),
        )
    };
    let first = ask(&names, None);
    let rejected = first["filesRejected"].as_array().unwrap();
    assert_eq!(rejected.len(), 2, "ten files at most: {rejected:?}");
    assert_eq!(first["requestRounds"], 1);
    repo.write("first.json", first.to_string());
    let second = ask(&names[..1], Some("first.json"));
    assert!(texts(&second["filesIncluded"], None).contains(&names[0]));
    repo.write("second.json", second.to_string());
    let third = ask(&names[1..2], Some("second.json"));
    assert!(!texts(&third["filesIncluded"], None).contains(&names[1]));
    assert_eq!(third["filesRejected"][0]["code"], "C101");
}

#[test]
fn spec_profile_follows_specification() {
    let repo = shop();
    let missing = "src/cart.ts(1,1): error TS2307: Cannot find module 'zod' or its corresponding type declarations.\n";
    let plain = " FAIL  tests/cart.test.ts > a\nAssertionError: expected 1 to be 2\n ❯ tests/cart.test.ts:2:1\n      Tests  1 failed (1)\n";
    for (log, level, reason) in [(missing, 1, "import_error"), (plain, 0, "test_failure")] {
        repo.write("log", log);
        let context = repo.context(&["--log", "log", "--profile", "spec"]);
        assert_eq!(context["level"], level, "{log}");
        assert_eq!(context["escalationReason"], reason);
        let included = texts(&context["filesIncluded"], None);
        let settings = "tsconfig.json".to_owned();
        assert_eq!(included.contains(&settings), level == 1, "{included:?}");
    }
}

#[test]
fn passed_log_is_called_no_failure() {
    let repo = shop();
    repo.write(
        "ok.log",
        "PASS src/cart.test.ts price vat\nTests: 3 passed, 3 total\n",
    );
    let context = repo.context(&["--log", "ok.log"]);
    assert_eq!(context["escalationReason"], "the log reports no failure");
    for file in context["files"].as_array().unwrap() {
        let why = file["why"].as_str().unwrap();
        assert!(!why.contains("failure"), "{why}");
    }
}
