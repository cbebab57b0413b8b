//! Files above the per-file cap: signatures, and windows around what the log names.

mod support;

use support::Repo;

fn long() -> String {
    let function = |n: usize| {
        let body: String = (0..20).map(|line| format!("  step({line});\n")).collect();
        format!("export function f{n}(a: number): void {{\n{body}}}\n")
    };
    (0..40).map(function).collect()
}

#[test]
fn a_long_file_is_a_skeleton_with_windows() {
    let repo = Repo::with(&[("src/a.ts", &long())]);
    repo.write(
        "log",
        "src/a.ts(450,3): error TS2304: Cannot find name 'step'.\n",
    );
    let context = repo.context(&["--log", "log", "--max-file-bytes", "5000"]);
    let file = &context["files"][0];
    assert_eq!(file["mode"], "skeleton");
    let content = file["content"].as_str().unwrap();
    assert!(content.len() <= 5000);
    assert_eq!(file["bytes"], content.len());
    assert!(
        content.starts_with("export function f0(a: number): void {\n[lines 2 to 21 left out]\n}\n")
    );
    for number in 0..40 {
        assert!(
            content.contains(&format!("function f{number}(")),
            "f{number}"
        );
    }
    let near = content
        .lines()
        .filter(|line| line.starts_with("  step("))
        .count();
    assert!(
        (30..=42).contains(&near),
        "{near} body lines around the evidence"
    );
}

#[test]
fn without_a_grammar_it_is_cut_to_its_beginning() {
    let repo = Repo::with(&[("notes.txt", &"some words\n".repeat(1000))]);
    let context = repo.context(&["--target", "notes.txt", "--max-file-bytes", "500"]);
    assert_eq!(context["files"][0]["mode"], "window");
    assert!(context["files"][0]["content"].as_str().unwrap().len() <= 500);
}
