//! What a confined command cannot do. What this kernel does not offer is skipped, and said.

use std::net::TcpListener;

use mendit::documents::SandboxMode;
use mendit::internals::exec::{Discard, Outcome, SandboxState, Stop, run};

use super::world::World;
use crate::support::command;

fn confined(world: &World, line: &str) -> Outcome {
    let job = world.job(line);
    run(&job, &Stop::new(), &mut Discard).unwrap()
}

#[test]
fn confines_writes_to_directory() {
    let world = World::new();
    // Below the build directory, since the temporary directories are open.
    let build = env!("CARGO_TARGET_TMPDIR");
    if ["/tmp", "/var/tmp", "/dev/shm"].iter().any(|open| build.starts_with(open)) {
        crate::support::skip("the build's folder is a temporary one");
        return;
    }
    let outside = tempfile::tempdir_in(build).unwrap();
    let kept = outside.path().join("kept");
    std::fs::write(&kept, "as it was").unwrap();
    let tries = format!(
        "echo in > inside; mkdir d; mv inside d/moved; echo out > {0}/new; echo out > {0}/kept; \
         rm -f {0}/kept; true > {0}/kept; ln -s {0} link; echo out > link/new; cat {0}/kept",
        outside.path().display()
    );
    let outcome = confined(&world, &tries);
    if outcome.sandbox != SandboxState::Enforced {
        crate::support::skip("no Landlock");
        return;
    }
    assert!(world.path().join("d/moved").exists());
    // `mv` copies where a file cannot be moved, and hard links say whether it can.
    assert!(world.run("mkdir e; echo x > e/x; ln e/x e/y; ln e/x z").passed());
    assert_eq!(std::fs::read(&kept).unwrap(), b"as it was");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 1);
    assert_eq!(outcome.stdout.text(), "as it was");

    let mut job = world.job(&format!("echo new > {}", kept.display()));
    job.sandbox.writable.push(outside.path().to_owned());
    assert!(run(&job, &Stop::new(), &mut Discard).unwrap().passed());
    assert_eq!(std::fs::read(&kept).unwrap(), b"new\n");

    let mut job = world.job(&format!("echo off > {}", kept.display()));
    job.sandbox.mode = SandboxMode::Off;
    let outcome = run(&job, &Stop::new(), &mut Discard).unwrap();
    assert_eq!(
        (outcome.passed(), outcome.sandbox),
        (true, SandboxState::None)
    );
}

#[test]
fn shared_temporary_folders_are_private() {
    let world = World::new();
    let name = format!("mendit-test-{}", std::process::id());
    let seen = std::path::Path::new("/var/tmp").join(format!("{name}-seen"));
    std::fs::write(&seen, "seen").unwrap();
    let line = format!(
        "cat {0}; echo x > /var/tmp/{name}; echo x > {0}; \
         test -d /dev/shm && echo x > /dev/shm/{name}; echo kept > kept",
        seen.display()
    );
    let outcome = confined(&world, &line);
    let left = std::fs::read(&seen).unwrap();
    std::fs::remove_file(&seen).unwrap();
    if outcome.sandbox != SandboxState::Enforced {
        crate::support::skip("no Landlock");
        return;
    }
    assert_eq!(outcome.stdout.text(), "seen");
    assert_eq!(left, b"seen");
    for place in ["/var/tmp", "/dev/shm"] {
        assert!(!std::path::Path::new(place).join(&name).exists(), "{place}");
    }
    // Its working folder is not shared, although it is in a temporary folder.
    assert!(world.path().join("kept").exists());
}

#[test]
fn offline_command_cannot_connect() {
    let world = World::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let line = format!(
        "python3 -c 'import socket; socket.socketpair(); \
         socket.create_connection((\"127.0.0.1\", {port}))'"
    );
    let mut job = world.job(&line);
    if !run(&job, &Stop::new(), &mut Discard).unwrap().passed() {
        crate::support::skip("no python3");
        return;
    }
    listener.accept().unwrap();
    job.sandbox.no_network = true;
    for mode in [SandboxMode::Auto, SandboxMode::Off] {
        job.sandbox.mode = mode;
        let outcome = run(&job, &Stop::new(), &mut Discard).unwrap();
        assert!(!outcome.passed());
        assert_ne!(outcome.sandbox, SandboxState::None);
        assert!(
            outcome.stderr.text().contains("PermissionError"),
            "{}",
            outcome.stderr.text()
        );
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
}

#[test]
fn withholds_own_secrets() {
    let world = World::new();
    let run = |arguments: &[&str]| {
        let all = [&["run"], arguments].concat();
        command(world.path(), &all)
            .env("AWS_SECRET_ACCESS_KEY", "canary-Zq81kf02mXw")
            .env("GITHUB_TOKEN", "canary-Zq81kf02mXw")
            .env("GREETING", "hello")
            .output()
            .unwrap()
    };
    let said = run(&["--", "sh", "-c", "env; echo \"[$GREETING]\"; exit 1"]);
    let all = format!("{:?}{:?}", said.stdout, said.stderr);
    assert!(
        !String::from_utf8_lossy(&said.stdout).contains("canary"),
        "{all}"
    );
    assert!(String::from_utf8_lossy(&said.stdout).contains("[]\n"));
    let said = run(&[
        "--env", "GREETING", "--", "sh", "-c", "echo \"[$GREETING]\"",
    ]);
    assert_eq!(String::from_utf8_lossy(&said.stdout), "[hello]\n");
    // Named, it reaches the command; what is passed on to a pipe and what is kept has it masked.
    let said = run(&[
        "--env",
        "GITHUB_TOKEN",
        "--",
        "sh",
        "-c",
        "echo \"<$GITHUB_TOKEN>\"; exit 1",
    ]);
    let shown = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(
        shown.contains("<[REDACTED") && !shown.contains("canary"),
        "{shown}"
    );
    let mut files = 0;
    for entry in walk(&world.path().join(".mendit")) {
        files += 1;
        let text = std::fs::read_to_string(&entry).unwrap();
        assert!(!text.contains("canary"), "{}", entry.display());
    }
    assert!(files > 5);
}

fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn confined_command_cannot_read_own_environment() {
    if rustix::process::geteuid().is_root() {
        crate::support::skip("nothing is hidden from root");
        return;
    }
    let world = World::new();
    let script = "pid=$$; while [ \"$pid\" -gt 1 ]; do \
         tr '\\0' '\\n' < /proc/$pid/environ 2>/dev/null | grep CANARY_OF; \
         pid=$(sed 's/.*) //' /proc/$pid/stat | cut -d' ' -f2); done; exit 0";
    let output = command(
        world.path(),
        &["run", "--sandbox", "require", "--", "sh", "-c", script],
    )
    .env("CANARY_OF_THE_PARENT", "1")
    .output()
    .unwrap();
    if output.status.code() == Some(2) {
        crate::support::skip("no Landlock");
        return;
    }
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
}
