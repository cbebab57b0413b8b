//! The same files and log give the same bytes: any thread count, time stamps, place, locale.

use crate::support::{Repo, command, kept};
use proptest::prelude::*;

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
    fn packet_is_deterministic(
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
fn parse_cache_changes_no_packet() {
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
    repo.write(
        "src/long.ts",
        (0..40)
            .map(|n| format!("export function f{n}() {{\n  return {n};\n}}\n"))
            .collect::<String>(),
    );
    repo.commit();
    let log = repo.outside().join("test.log");
    let said =
        "FAIL src/a.test.ts\nAssertionError: a: expected 1 to be 2\n at src/a.test.ts:2:11\n";
    std::fs::write(&log, said).unwrap();
    let log = log.to_str().unwrap();
    let arguments = ["--level", "2", "--max-tokens", "150", "--log", log];
    let afresh = || run(&repo, "1", &[&arguments[..], &["--no-cache"]].concat());
    let without = afresh();
    assert!(kept(&repo.root()).is_none(), "--no-cache leaves no cache");
    assert_eq!(run(&repo, "2", &arguments), without, "cold");
    let cache = kept(&repo.root()).unwrap().join("cache");
    let values = |kind: &str| -> Vec<_> {
        let revision = cache.join(kind).read_dir().unwrap().next().unwrap();
        let entries = revision.unwrap().path().read_dir().unwrap();
        let paths = entries.map(|it| it.unwrap().path());
        let mut files: Vec<_> = paths.map(|path| (std::fs::read(&path).unwrap(), path)).collect();
        files.sort_by(|a, b| a.1.cmp(&b.1));
        files
    };
    let kinds = ["facts", "outlines", "history"];
    let cold = kinds.map(values);
    assert_eq!(run(&repo, "4", &arguments), without, "warm");
    assert_eq!(run(&repo, "1", &arguments), without, "warm, one thread");
    assert_eq!(kinds.map(values), cold, "nothing is learnt twice");
    for (kind, files) in kinds.iter().zip(&cold) {
        let (whole, path) = files.first().unwrap();
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 0x55;
        for damaged in [b"no facts", &whole[..whole.len() / 2], &flipped[..]] {
            std::fs::write(path, damaged).unwrap();
            assert_eq!(run(&repo, "2", &arguments), without, "{kind} damaged");
        }
    }

    // Two at once, with nothing to begin with.
    std::fs::remove_dir_all(&cache).unwrap();
    let both = std::thread::scope(|scope| {
        let two = [(); 2].map(|()| scope.spawn(|| run(&repo, "2", &arguments)));
        two.map(|one| one.join().unwrap())
    });
    assert!(both.iter().all(|it| *it == without), "two at once");

    // What changed is seen: a file, then history.
    repo.write("src/b.ts", "export const b = 2; // expected a\n");
    assert_eq!(run(&repo, "2", &arguments), afresh(), "a file that changed");
    repo.git(&["mv", "src/c.ts", "src/moved.ts"]);
    repo.commit();
    let without = afresh();
    assert_eq!(run(&repo, "2", &arguments), without, "a new commit");
    assert_eq!(run(&repo, "2", &arguments), without, "the same, known");

    let facts = cache.join("facts");
    // Nothing can be stored: a file replaces the folder.
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
