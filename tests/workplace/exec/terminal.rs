//! What a command finds where its output is seen on a terminal.

use mendit::internals::exec::{Discard, Stop, Terminal, run};

use super::world::World;

#[test]
fn a_stream_is_a_terminal_where_it_is_watched_on_one() {
    let world = World::new();
    let mut job = world.job(
        "for it in 0 1 2; do if test -t $it; then echo $it; fi; done; stty size <&1; echo err >&2",
    );
    job.terminal = Terminal {
        stdout: true,
        stderr: false,
        columns: 132,
        rows: 40,
    };
    let outcome = run(&job, &Stop::new(), &mut Discard).unwrap();
    // Line ends are as they were written, and the streams stay two.
    assert_eq!(outcome.stdout.text(), "1\n40 132\n");
    assert_eq!(outcome.stderr.text(), "err\n");

    job.terminal = Terminal::default();
    let outcome = run(&job, &Stop::new(), &mut Discard).unwrap();
    assert!(
        !outcome.stdout.text().contains('1'),
        "{:?}",
        outcome.stdout.text()
    );
}

#[test]
fn no_pager_waits_for_a_key_that_nobody_can_press() {
    let world = World::new();
    let mut job = world.job("echo $PAGER $GIT_PAGER");
    job.terminal.stdout = true;
    job.terminal.stderr = true;
    let outcome = run(&job, &Stop::new(), &mut Discard).unwrap();
    assert_eq!(outcome.stdout.text(), "cat cat\n");
}

#[test]
fn all_that_is_written_to_a_terminal_arrives() {
    let world = World::new();
    let mut job = world.job("i=0; while test $i -lt 20000; do echo line $i; i=$((i+1)); done");
    job.terminal.stdout = true;
    let mut taken = Taken::default();
    let outcome = run(&job, &Stop::new(), &mut taken).unwrap();
    assert!(outcome.passed());
    assert!(taken.0.ends_with(b"line 19999\n"));
    assert_eq!(taken.0.iter().filter(|it| **it == b'\n').count(), 20_000);
}

#[derive(Default)]
struct Taken(Vec<u8>);

impl mendit::internals::exec::Sink for Taken {
    fn output(&mut self, _: mendit::internals::exec::Stream, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}
