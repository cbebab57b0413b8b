//! `mendit context` in every kind of place: commits, bare and linked checkouts, odd files.

use crate::support::{Repo, git, json, mendit, stderr, texts};

fn app() -> Repo {
    Repo::with(&[
        ("src/app.py", "def f():\n    return 1\n"),
        ("src/__init__.py", ""),
        ("tests/conftest.py", "import pytest\n"),
        (
            "tests/test_app.py",
            "from src.app import f\n\ndef test_f():\n    assert f() == 2\n",
        ),
    ])
}

#[test]
fn reads_commit_without_worktree() {
    let repo = app();
    repo.write("src/app.py", "changed\n");
    let context = repo.context(&["--rev", "HEAD", "src/app.py"]);
    assert!(context["files"][0]["content"].as_str().unwrap().contains("return 1"));
    let bare = repo.outside().join("bare.git");
    git(repo.outside(), &["clone", "-q", "--bare", "r", "bare.git"]);
    let arguments = [
        "context", "--format", "json", "--level", "1", "--rev", "HEAD", "tests/test_app.py",
    ];
    let files = texts(&json(&mendit(&bare, &arguments))["filesIncluded"], None);
    assert!(
        files.contains(&"src/app.py".to_owned()) && files.contains(&"tests/conftest.py".to_owned()),
        "{files:?}"
    );
    let refused = mendit(&bare, &["context", "src/app.py"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("--rev"));
}

#[test]
fn linked_worktrees_and_shallow_sparse_clones_work() {
    let repo = app();
    repo.git(&["worktree", "add", "-q", "../linked"]);
    let linked = repo.outside().join("linked");
    let show = ["context", "--format", "json", "src/app.py"];
    assert_eq!(
        texts(&json(&mendit(&linked, &show))["filesIncluded"], None),
        ["src/app.py"]
    );

    let url = format!("file://{}", repo.root().display());
    git(
        repo.outside(),
        &["clone", "-q", "--depth", "1", &url, "shallow"],
    );
    let shallow = repo.outside().join("shallow");
    git(&shallow, &["sparse-checkout", "set", "src"]);
    let context = json(&mendit(
        &shallow,
        &[
            "context", "--format", "json", "src/app.py", "tests/test_app.py",
        ],
    ));
    assert_eq!(texts(&context["filesIncluded"], None), ["src/app.py"]);
    assert_eq!(context["filesRejected"][0]["code"], "C305");
    assert_eq!(context["history"]["shallow"], true);
    let behind = mendit(&shallow, &["imports", "--changed", "HEAD~1"]);
    let said = stderr(&behind);
    assert!(
        said.contains("U201") && said.contains("git fetch --unshallow"),
        "{said}"
    );
}

#[test]
fn works_without_git_repository() {
    let repo = app();
    std::fs::remove_dir_all(repo.root().join(".git")).unwrap();
    let context = repo.context(&["--level", "1", "tests/test_app.py"]);
    assert!(texts(&context["filesIncluded"], None).contains(&"src/app.py".to_owned()));
    let refused = repo.mendit(&["context", "--rev", "HEAD", "src/app.py"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(stderr(&refused).contains("U204"));
}

#[test]
fn resolves_paths_from_subdirectory() {
    let repo = app();
    let arguments = ["context", "--format", "json", "test_app.py"];
    let context = json(&mendit(&repo.root().join("tests"), &arguments));
    assert_eq!(
        texts(&context["filesIncluded"], None),
        ["tests/test_app.py"]
    );
    let context = repo.context(&["-C", "tests", "../src/app.py"]);
    assert_eq!(texts(&context["filesIncluded"], None), ["src/app.py"]);
}

#[test]
fn lists_untracked_and_skips_ignored() {
    let repo = app();
    repo.write(".gitignore", "build/\n");
    repo.write("src/fresh.py", "x = 1\n");
    repo.write("build/out.py", "y = 1\n");
    let context = repo.context(&["src/fresh.py"]);
    let index = texts(&context["repoIndex"]["files"], Some("path"));
    assert!(
        index.contains(&"src/fresh.py".to_owned()) && !index.contains(&"build/out.py".to_owned())
    );
    let refused = repo.mendit(&["context", "build/out.py"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("is ignored by git"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn lists_odd_entries_without_entering() {
    use std::os::unix::ffi::OsStrExt;
    let repo = app();
    repo.write("../secret.py", "SECRET = 'outside'\n");
    std::os::unix::fs::symlink("../../secret.py", repo.root().join("src/link.py")).unwrap();
    std::os::unix::fs::symlink(".", repo.root().join("src/loop")).unwrap();
    let fifo = repo.root().join("src/pipe.py");
    assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
    let odd = std::ffi::OsStr::from_bytes(b"src/n\xe9.py");
    std::fs::write(repo.root().join(odd), "x").unwrap();
    repo.write("src/latin.py", b"name = 'caf\xe9'\n");
    repo.write("src/data.bin", b"a\0b");
    repo.write(
        "src/pointer.psd",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    );
    let context = repo.context(&["src"]);
    let codes = |list: &str| {
        let rows = context[list].as_array().unwrap().iter();
        rows.map(|row| {
            (
                row["path"].as_str().unwrap().to_owned(),
                row["code"].as_str().unwrap().to_owned(),
            )
        })
        .collect::<std::collections::BTreeMap<_, _>>()
    };
    let rejected = codes("filesRejected");
    for (path, code) in [
        ("src/link.py", "C302"),
        ("src/loop", "C302"),
        ("src/pipe.py", "C310"),
        ("src/data.bin", "C307"),
        ("src/pointer.psd", "C305"),
    ] {
        assert_eq!(rejected[path], code, "{path}");
    }
    let files = context["files"].as_array().unwrap();
    let latin = files.iter().find(|file| file["path"] == "src/latin.py").unwrap();
    assert_eq!(
        (latin["encoding"].as_str(), latin["content"].as_str()),
        (Some("latin-1"), Some("name = 'café'\n"))
    );
    assert!(!context.to_string().contains("outside'"));
}

#[test]
fn never_runs_programs_of_git_configuration() {
    let repo = app();
    let witness = repo.outside().join("ran");
    let touch = format!("touch {}", witness.display());
    for key in [
        "core.fsmonitor", "diff.external", "filter.x.clean", "filter.x.process", "diff.x.textconv",
    ] {
        repo.git(&["config", key, &touch]);
    }
    repo.write(".gitattributes", "*.py filter=x diff=x\n");
    repo.write("src/app.py", "def f():\n    return 3\n");
    let context = repo.context(&["--level", "2", "tests/test_app.py", "src/app.py"]);
    assert!(context["files"][1]["content"].as_str().unwrap().contains("return 3"));
    assert!(!witness.exists());
}

#[test]
fn skips_nested_repositories() {
    let repo = app();
    git(repo.outside(), &["clone", "-q", "r", "r/vendored"]);
    let context = repo.context(&["src/app.py"]);
    let index = texts(&context["repoIndex"]["files"], Some("path"));
    assert!(index.iter().all(|path| !path.starts_with("vendored/")));
}

#[test]
fn ignores_linked_ignore_files() {
    let repo = Repo::with(&[("src/a.ts", "export const a = 1;\n"), ("lib/b.ts", "b;\n")]);
    for rules in ["src/.gitignore", ".gitignore"] {
        std::os::unix::fs::symlink("/dev/zero", repo.root().join(rules)).unwrap();
        repo.write("src/new.ts", "export const n = 1;\n");
        let context = repo.context(&["src/a.ts", "--level", "0"]);
        assert_eq!(context["filesIncluded"][0], "src/a.ts", "{rules}");
        let known = texts(&context["repoIndex"]["files"], Some("path"));
        assert!(
            !known.contains(&"src/new.ts".to_owned()),
            "{rules}: {known:?}"
        );
        assert!(known.contains(&"lib/b.ts".to_owned()), "{rules}: {known:?}");
    }
}

#[test]
fn folders_may_have_any_name() {
    let files = [("é/a.py", "a = 1\n"), ("文档/x/b.py", "b = 1\n")];
    let repo = Repo::with(&files);
    // What is tracked and not found by the walk is looked for folder by folder.
    repo.write(".gitignore", "é/\n");
    std::fs::remove_file(repo.root().join("文档/x/b.py")).unwrap();
    let context = repo.context(&["é/a.py"]);
    assert_eq!(texts(&context["filesIncluded"], None), ["é/a.py"]);
    let known = texts(&context["repoIndex"]["files"], Some("path"));
    assert!(!known.contains(&"文档/x/b.py".to_owned()), "{known:?}");
    let patch = "--- a/é/a.py\n+++ b/é/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n";
    repo.write("../p.diff", patch);
    assert_eq!(repo.mendit(&["check", "../p.diff"]).status.code(), Some(0));
}

#[test]
fn lists_denied_files_without_hash() {
    let repo = Repo::with(&[("app.py", "a = 1\n"), (".env", "PIN=4417\n")]);
    let context = repo.context(&["app.py"]);
    let ids = context["repoIndex"]["files"].as_array().unwrap().iter();
    let ids: Vec<_> = ids
        .map(|row| (row["path"].as_str().unwrap(), row["blobId"].is_string()))
        .collect();
    assert_eq!(ids, [(".env", false), ("app.py", true)]);
}

#[test]
fn hides_runs_behind_repository_link() {
    let repo = Repo::with(&[("a.py", "")]);
    let away = repo.outside().join("away");
    std::fs::create_dir(&away).unwrap();
    for name in ["runs", "context"] {
        let _ = std::fs::remove_dir_all(repo.root().join(".mendit"));
        // With rules of its own, git never lists what lies in the folder.
        repo.write(".mendit/.gitignore", "*\n");
        std::os::unix::fs::symlink(&away, repo.root().join(".mendit").join(name)).unwrap();
        let red = repo.mendit(&["run", "--", "sh", "-c", "echo 'NameError: x'; exit 1"]);
        assert_eq!(red.status.code(), Some(1), "{}", stderr(&red));
        repo.mendit(&["context", "a.py"]);
        let written = std::fs::read_dir(&away).unwrap().count();
        assert_eq!(written, 0, "{name}");
    }
}

#[test]
fn never_writes_configured_worktree() {
    let repo = Repo::with(&[("a.py", "a = 1\n"), ("sub/b.py", "b = 1\n")]);
    let away = repo.outside().join("away");
    std::fs::create_dir(&away).unwrap();
    std::fs::write(away.join("a.py"), "a = 1\n").unwrap();
    repo.write(
        "../p.diff",
        "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n",
    );
    for worktree in [away.to_str().unwrap(), "../.."] {
        repo.git(&["config", "core.worktree", worktree]);
        let refused = repo.mendit(&["apply", "../p.diff"]);
        assert_eq!(refused.status.code(), Some(2), "{worktree}");
        assert!(stderr(&refused).contains("core.worktree"), "{worktree}");
        let text = std::fs::read_to_string(away.join("a.py")).unwrap();
        assert_eq!(text, "a = 1\n", "{worktree}");
    }
    repo.git(&["config", "core.worktree", ".."]);
    let sub = repo.root().join("sub");
    assert_eq!(
        mendit(&sub, &["check", "../../p.diff"]).status.code(),
        Some(0)
    );
    // A submodule's configuration says where it is checked out.
    let own = Repo::with(&[("c.py", "c = 1\n")]);
    let from = own.root();
    repo.git(&["config", "--unset", "core.worktree"]);
    repo.git(&["submodule", "add", "-q", from.to_str().unwrap(), "kit"]);
    let inside = mendit(&repo.root().join("kit"), &["context", "c.py"]);
    assert!(inside.status.success(), "{}", stderr(&inside));
}

#[test]
fn excludes_unignored_environment() {
    let repo = Repo::with(&[("a.py", "from b import c\n"), ("b.py", "c = 1\n")]);
    let below = repo.root().join("env/lib/site-packages");
    std::fs::create_dir_all(&below).unwrap();
    std::fs::write(repo.root().join("env/pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    std::fs::write(below.join("b.py"), "c = 2\n").unwrap();
    let output = repo.mendit(&["imports", ".", "--format", "json"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("b.py") && !text.contains("site-packages"),
        "{text}"
    );
}
