//! Files above the per-file cap: signatures, and windows around what the log names.

use crate::support::Repo;

fn long() -> String {
    let function = |n: usize| {
        let body: String = (0..20).map(|line| format!("  step({line});\n")).collect();
        format!("export function f{n}(a: number): void {{\n{body}}}\n")
    };
    (0..40).map(function).collect()
}

#[test]
fn shows_best_parts_of_long_file() {
    let repo = Repo::with(&[("src/a.ts", &long())]);
    repo.write(
        "log",
        "src/a.ts(450,3): error TS2304: Cannot find name 'step'.\n",
    );
    let flags = ["--max-file-bytes", "5000", "--max-tokens", "0"];
    let context = repo.context(&[&["--log", "log"][..], &flags].concat());
    let file = &context["files"][0];
    assert_eq!(file["mode"], "window");
    assert_eq!(file["shortened"]["code"], "C105");
    let content = file["content"].as_str().unwrap();
    assert!(content.len() <= 5000);
    assert_eq!(file["bytes"], content.len());
    let ranges = file["ranges"].as_array().unwrap();
    let holds = |it: &serde_json::Value| it[0].as_u64() <= Some(450) && it[1].as_u64() >= Some(450);
    assert!(ranges.iter().any(holds), "{ranges:?}");
}

#[test]
fn shows_start_of_file_without_grammar() {
    let repo = Repo::with(&[("notes.txt", &"some words\n".repeat(1000))]);
    let context = repo.context(&["notes.txt", "--max-file-bytes", "500"]);
    assert_eq!(context["files"][0]["mode"], "window");
    assert!(context["files"][0]["content"].as_str().unwrap().len() <= 500);
}

#[test]
fn shows_part_when_packet_is_full() {
    let target = "import { f0 } from './long';\nimport { g } from './small';\nf0(g);\n";
    let small = "export const g = 1;\n";
    let repo = Repo::with(&[
        ("src/a.ts", target),
        ("src/long.ts", &long()),
        ("src/small.ts", small),
    ]);
    let base = ["--level", "2", "src/a.ts"];
    let flags = ["--max-total-bytes", "8000", "--max-tokens", "0"];
    let context = repo.context(&[&base[..], &flags].concat());
    let file = |path: &str| {
        let files = context["files"].as_array().unwrap();
        let found = files.iter().find(|file| file["path"] == path).cloned();
        found.unwrap_or_else(|| panic!("{path} is not there: {:?}", context["omitted"]))
    };
    let shown = file("src/long.ts");
    assert_eq!(shown["mode"], "window");
    assert_eq!(shown["shortened"]["code"], "C102");
    assert_eq!(shown["shortened"]["bytes"], long().len());
    let content = shown["content"].as_str().unwrap();
    assert!(
        content.contains("function f0("),
        "what a target uses: {content}"
    );
    // It leaves room for the next file, and nothing is reported as omitted.
    assert_eq!(file("src/small.ts")["content"], small);
    assert!(file("src/small.ts")["shortened"].is_null());
    assert!(context["totalBytes"].as_u64().unwrap() <= 8000);
    let sum: u64 = context["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(context["totalBytes"], sum);
    assert!(context["omitted"].as_array().unwrap().is_empty());

    let remedy = shown["shortened"]["remedy"].as_str().unwrap();
    let mut flags: Vec<&str> = remedy.split(' ').collect();
    flags.extend(["--max-tokens", "0"]);
    let whole = repo.context(&[&base[..], &flags].concat());
    let files = whole["files"].as_array().unwrap();
    let long = files.iter().find(|it| it["path"] == "src/long.ts").unwrap();
    assert_eq!(long["mode"], "full", "{remedy}");

    let tokens = repo.context(&[&base[..], &["--max-tokens", "2300"]].concat());
    let files = tokens["files"].as_array().unwrap();
    let long = files.iter().find(|it| it["path"] == "src/long.ts").unwrap();
    assert_eq!(
        (&long["mode"], &long["shortened"]["code"]),
        (&"window".into(), &"C103".into())
    );
    let content = long["content"].as_str().unwrap();
    assert!(
        content.contains("function f0("),
        "what a target uses: {content}"
    );
    assert!(tokens["totalTokens"].as_u64().unwrap() <= 2300);
}
