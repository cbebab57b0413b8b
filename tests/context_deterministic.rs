//! The same files and log give the same bytes: any thread count, time stamps, place, locale.

mod support;

use proptest::prelude::*;
use support::{Repo, command, kept};

fn run(repo: &Repo, threads: &str, arguments: &[&str]) -> String {
    let all = [
        &["--threads", threads, "context", "--format", "json"],
        arguments,
    ]
    .concat();
    let output = command(&repo.root(), &all)
        .env("LC_ALL", if threads == "1" { "C" } else { "tr_TR.UTF-8" })
        .env("TZ", if threads == "1" { "UTC" } else { "Asia/Tokyo" })
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]
    #[test]
    fn packets_do_not_depend_on_threads_or_places(
        edges in prop::collection::vec((0..24_usize, 0..24_usize), 0..60),
        level in 0..3_u8,
    ) {
        let mut texts: Vec<String> = (0..24).map(|n| format!("export const v{n} = {n};\n")).collect();
        for (from, to) in edges {
            texts[from].push_str(&format!("import {{ v{to} }} from './m{to}';\n"));
        }
        let names: Vec<String> = (0..24).map(|n| format!("src/m{n}.ts")).collect();
        let mut files: Vec<(&str, &str)> = names.iter().map(String::as_str).zip(texts.iter().map(String::as_str)).collect();
        let first = Repo::with(&files);
        files.reverse();
        let second = Repo::with(&files);
        // Racy, stale and unknown time stamps must not show either.
        for name in &names[..12] {
            let file = std::fs::File::options().append(true).open(second.root().join(name)).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000)).unwrap();
        }
        let level = level.to_string();
        let arguments = ["--level", level.as_str(), "src/m0.ts", "src/m1.ts"];
        let expected = run(&first, "1", &arguments);
        prop_assert!(run(&first, "4", &arguments) == expected, "4 threads");
        prop_assert!(run(&second, "3", &arguments) == expected, "another place");
        let committed = [&["--rev", "HEAD"], &arguments[..]].concat();
        prop_assert!(run(&second, "2", &committed) == expected, "the commit");
    }
}

#[test]
fn a_cache_of_parsed_files_changes_nothing_but_the_time() {
    let repo = Repo::with(&[
        (
            "src/a.ts",
            "import { b } from './b';\nexport const a = b;\n",
        ),
        (
            "src/b.ts",
            "import { c } from './c';\nexport const b = c;\n",
        ),
        ("src/c.ts", "export const c = 1;\n"),
        (
            "src/a.test.ts",
            "import { a } from './a';\nexpect(a).toBe(2);\n",
        ),
    ]);
    let arguments = ["--level", "2", "src/a.test.ts"];
    let without = run(&repo, "1", &[&arguments[..], &["--no-cache"]].concat());
    assert!(kept(&repo.root()).is_none(), "--no-cache leaves no cache");
    assert_eq!(run(&repo, "2", &arguments), without, "cold");
    let facts = kept(&repo.root()).unwrap().join("cache/facts");
    assert_eq!(facts.read_dir().unwrap().count(), 1);
    assert_eq!(run(&repo, "4", &arguments), without, "warm");
    assert_eq!(run(&repo, "1", &arguments), without, "warm, one thread");

    let segment = facts.read_dir().unwrap().next().unwrap().unwrap().path();
    std::fs::write(&segment, "no facts").unwrap();
    assert_eq!(run(&repo, "2", &arguments), without, "damaged");

    // Where nothing can be kept: a file stands in the place of the folder.
    std::fs::remove_dir_all(&facts).unwrap();
    std::fs::write(&facts, "").unwrap();
    assert_eq!(run(&repo, "2", &arguments), without, "no folder");
    std::fs::remove_file(&facts).unwrap();
    let state = kept(&repo.root()).unwrap();
    let mut mode = std::fs::metadata(&state).unwrap().permissions();
    mode.set_readonly(true);
    std::fs::set_permissions(&state, mode).unwrap();
    assert_eq!(run(&repo, "2", &arguments), without, "read-only folder");
    #[allow(
        clippy::permissions_set_readonly_false,
        reason = "a temporary folder of our own"
    )]
    {
        let mut mode = std::fs::metadata(&state).unwrap().permissions();
        mode.set_readonly(false);
        std::fs::set_permissions(&state, mode).unwrap();
    }
}
