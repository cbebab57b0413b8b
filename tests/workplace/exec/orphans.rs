//! Whatever a command starts ends with it, however it or this program ends.

use std::process::Stdio;
use std::time::Duration;

use mendit::documents::SandboxMode;
use mendit::internals::exec::{Discard, End, Stop, run, spawn_piped};
use rustix::process::{Pid, Signal, kill_process};

use super::world::{World, eventually};
use crate::support::command;

// What a command may do to get away. Each says `ready` and would live on for a minute.
const CASES: &[(&str, &str)] = &[
    (
        "ignores the request to end",
        "trap '' TERM INT HUP; echo ready; sleep 60; sleep 60",
    ),
    (
        "has a child in the background",
        "sleep 60 & echo ready; sleep 60",
    ),
    (
        "has a child in another session",
        "setsid sleep 60 & echo ready; sleep 60",
    ),
    (
        "started a daemon",
        "(setsid sh -c 'sleep 60 & sleep 60' &); echo ready; sleep 60",
    ),
    ("is stopped", "sleep 60 & echo ready; kill -STOP $$"),
    (
        "starts others all the time",
        "echo ready; while :; do setsid sleep 60 & sleep 0.01; done",
    ),
    (
        "has a daemon that ignores the request to end",
        "setsid sh -c \"trap '' TERM; while :; do sleep 1; done\" & echo ready; sleep 60",
    ),
];

#[test]
fn timeout_kills_all_processes() {
    for (case, line) in CASES {
        let world = World::new();
        let mut job = world.job(line);
        job.limits.timeout = Some(Duration::from_millis(700));
        let outcome = run(&job, &Stop::new(), &mut Discard).unwrap();
        assert_eq!(outcome.end, End::TimedOut, "{case}");
        assert_eq!(outcome.stdout.text(), "ready\n", "{case}");
        assert!(world.alive().is_empty(), "{case}: {:?}", world.alive());
    }
}

#[test]
fn own_death_kills_all_processes() {
    for (case, line) in CASES {
        let world = World::new();
        let arguments = ["run", "--env", &world.mark, "--", "sh", "-c", line];
        let mut program = command(world.path(), &arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        eventually("it starts", || world.alive().len() > 1);
        program.kill().unwrap();
        program.wait().unwrap();
        eventually(case, || world.alive().is_empty());
    }
}

#[test]
fn returns_when_command_ends_first() {
    let world = World::new();
    // The child holds the pipe, so the end of the output would never come.
    for line in [
        "sleep 60 & echo done",
        "setsid sleep 60 & echo done",
        "(setsid sh -c 'sleep 60 & sleep 60' &); echo done",
    ] {
        let outcome = world.run(line);
        assert_eq!(
            (outcome.end, outcome.stdout.text().as_str()),
            (End::Exit(0), "done\n")
        );
        assert!(outcome.leaked > 0, "{line}");
        assert!(world.alive().is_empty(), "{line}: {:?}", world.alive());
    }
    // One that ends soon by itself is no leak, and what it says is heard.
    let outcome = world.run("(sleep 0.05; echo late) & echo done");
    assert_eq!(outcome.stdout.text(), "done\nlate\n");
    assert_eq!(outcome.leaked, 0);
}

#[test]
fn ctrl_c_stops_cleanly_and_twice_at_once() {
    for (signals, line) in [
        (
            1,
            "trap 'echo bye > bye; exit 0' TERM; touch ready; while :; do sleep 0.1; done",
        ),
        (2, "trap '' TERM; touch ready; while :; do sleep 0.1; done"),
    ] {
        let world = World::new();
        let program = command(
            world.path(),
            &[
                "run", "--grace", "3600", "--env", &world.mark, "--", "sh", "-c", line,
            ],
        )
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
        eventually("it is ready", || world.path().join("ready").exists());
        let pid = Pid::from_child(&program);
        for _ in 0..signals {
            kill_process(pid, Signal::INT).unwrap();
            // Two signals at once would be one.
            std::thread::sleep(Duration::from_millis(100));
        }
        let output = program.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        assert!(String::from_utf8_lossy(&output.stderr).contains("R208"));
        assert_eq!(world.path().join("bye").exists(), signals == 1);
        assert!(world.alive().is_empty());
        assert!(!world.path().join(".mendit").exists());
    }
}

#[test]
fn command_never_outlives_supervisor() {
    let world = World::new();
    // A kernel before 6.12 cannot hold the signal back; then it is found out.
    let job = world.job("kill -9 $PPID || echo refused");
    match run(&job, &Stop::new(), &mut Discard) {
        Ok(outcome) => assert_eq!(outcome.stdout.text(), "refused\n"),
        Err(error) => assert_eq!(error.code().as_str(), "R104"),
    }
    // Without a sandbox nobody can refuse it; what shares the session is ended all the same.
    let mut job = world.job("sleep 60 & kill -9 $PPID; sleep 60");
    job.sandbox.mode = SandboxMode::Off;
    let error = run(&job, &Stop::new(), &mut Discard).unwrap_err();
    assert_eq!(error.code().as_str(), "R104");
    eventually("the session ends", || world.alive().is_empty());
}

#[test]
fn piped_command_dies_when_dropped() {
    use std::io::{BufRead, BufReader, Write};
    let world = World::new();
    let line = "setsid sleep 60 & echo oops >&2; while read line; do echo \"heard $line\"; done";
    let mut piped = spawn_piped(&world.job(line)).unwrap();
    let mut stdin = piped.stdin.take().unwrap();
    let mut lines = BufReader::new(piped.stdout.take().unwrap()).lines();
    for word in ["one", "two"] {
        writeln!(stdin, "{word}").unwrap();
        assert_eq!(lines.next().unwrap().unwrap(), format!("heard {word}"));
    }
    assert!(piped.try_end().is_none());
    eventually("its complaint is heard", || {
        piped.stderr().text() == "oops\n"
    });
    assert!(!world.alive().is_empty());
    drop(piped);
    assert!(world.alive().is_empty(), "{:?}", world.alive());

    let mut piped = spawn_piped(&world.job("cat > got; exit 3")).unwrap();
    piped.stdin.take().unwrap().write_all(b"all of it").unwrap();
    let end = piped.wait(Duration::from_secs(30)).unwrap().unwrap();
    assert_eq!(end, End::Exit(3));
    assert_eq!(
        std::fs::read(world.path().join("got")).unwrap(),
        b"all of it"
    );
}
