//! Level 4: the whole repository as an archive, policy and masks applied.

use std::process::Command;

use crate::support::{Repo, stderr};

#[test]
fn an_archive_that_others_can_read() {
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let deep = format!("{}/é.ts", "directory".repeat(12));
    let repo = Repo::with(&[
        ("src/b.ts", "export const b = 1;\n"),
        ("src/a.ts", &format!("export const k = '{token}';\n")),
        (".env", "A=1\n"),
        ("empty.txt", ""),
        (&deep, "export {};\n"),
    ]);
    let write = |out: &str| {
        let arguments = [
            "context",
            "--target",
            "src/b.ts",
            "--include-repo-bundle",
            "--out",
            out,
            "--format",
            "json",
        ];
        let output = repo.mendit(&arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        std::fs::read(repo.root().join(out).join("bundle.tar")).unwrap()
    };
    let archive = write("../one");
    assert_eq!(archive, write("../two"));
    assert!(archive.len().is_multiple_of(512));
    let text = String::from_utf8_lossy(&archive).into_owned();
    assert!(!text.contains(&token) && text.contains("REDACTED") && !text.contains("A=1"));
    let listing = std::fs::read_to_string(repo.outside().join("one/bundle.txt")).unwrap();
    let paths: Vec<&str> = listing
        .lines()
        .filter_map(|line| line.splitn(3, "  ").nth(2))
        .collect();
    assert_eq!(paths, [&deep, "empty.txt", "src/a.ts", "src/b.ts"]);

    let into = repo.outside().join("unpacked");
    std::fs::create_dir(&into).unwrap();
    let file = repo.outside().join("one/bundle.tar");
    match Command::new("tar")
        .arg("-xf")
        .arg(file)
        .current_dir(&into)
        .status()
    {
        Err(_) => crate::support::skip("no tar"),
        Ok(status) => {
            assert!(status.success());
            let read = |path: &str| std::fs::read_to_string(into.join(path)).unwrap();
            assert_eq!(read("src/b.ts"), "export const b = 1;\n");
            assert_eq!(read(&deep), "export {};\n");
            assert_eq!(read("empty.txt"), "");
        }
    }
}
