//! The library without a supervisor: a process group, and what it cannot do is said.

use std::time::Duration;

use mendit::documents::SandboxMode;
use mendit::internals::exec::{
    CommandLine, Discard, End, Job, Limits, SandboxState, Stdin, Stop, TimeLimit, run,
};

fn job(line: &str) -> Job {
    Job {
        limits: Limits {
            timeout: Some(Duration::from_mins(1)),
            grace: Duration::from_millis(100),
            ..Limits::default()
        },
        ..Job::new(CommandLine::Shell(line.to_owned()), std::env::temp_dir())
    }
}

#[cfg(unix)]
#[test]
fn commands_run_in_a_group_of_their_own() {
    let go = |job: &Job| run(job, &Stop::new(), &mut Discard).unwrap();
    let outcome = go(&job("echo out; echo err >&2; exit 3"));
    assert_eq!(outcome.end, End::Exit(3));
    assert_eq!(
        (outcome.stdout.text(), outcome.stderr.text()),
        ("out\n".into(), "err\n".into())
    );
    assert_eq!(outcome.sandbox, SandboxState::None);
    assert_eq!(go(&job("kill -SEGV $$")).end, End::Signal(11));

    let mut cat = job("cat");
    cat.stdin = Stdin::Bytes(b"given".to_vec());
    assert_eq!(go(&cat).stdout.text(), "given");
    cat.command = CommandLine::Program(vec!["no-such-program".into()]);
    assert_eq!(go(&cat).end, End::NotFound);

    let mut stubborn = job("trap '' TERM; sleep 60; sleep 60");
    stubborn.limits.timeout = Some(Duration::from_millis(200));
    assert_eq!(go(&stubborn).end, End::TimedOut(TimeLimit::Total));
    assert_eq!(go(&job("sleep 60 & echo done")).leaked, 1);
}

#[test]
fn what_only_a_supervisor_can_do_is_refused() {
    let mut confined = job("true");
    confined.sandbox.no_network = true;
    let error = run(&confined, &Stop::new(), &mut Discard).unwrap_err();
    assert_eq!(error.code().as_str(), "R105");
    confined.sandbox.no_network = false;
    confined.sandbox.mode = SandboxMode::Require;
    assert!(run(&confined, &Stop::new(), &mut Discard).is_err());
}
