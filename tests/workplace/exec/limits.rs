//! Time, output, input, ends and environment of a command.

use std::time::Duration;

use mendit::internals::exec::{
    CommandLine, Discard, End, ExecError, Job, Sink, Stdin, Stop, Stream, run,
};

use super::world::World;

#[test]
fn distinguishes_command_ends() {
    let world = World::new();
    for (line, end) in [
        ("true", End::Exit(0)),
        ("exit 3", End::Exit(3)),
        ("kill -SEGV $$", End::Signal(11)),
        ("kill -KILL $$", End::Signal(9)),
    ] {
        assert_eq!(world.run(line).end, end, "{line}");
    }
    std::fs::write(world.path().join("plain.txt"), "no program").unwrap();
    for (program, end) in [
        ("./no-such-program", End::NotFound),
        ("no-such-program", End::NotFound),
        ("./plain.txt", End::NotExecutable),
        (".", End::NotExecutable),
    ] {
        let job = Job {
            command: CommandLine::Program(vec![program.into()]),
            ..world.job("")
        };
        let outcome = run(&job, &Stop::new(), &mut Discard).unwrap();
        assert_eq!(outcome.end, end, "{program}");
        assert!(outcome.end.is_missing_command());
    }
    assert_eq!(
        world.run("sh -c 'kill -SEGV $$'; exit $?").end.signal(),
        Some(11)
    );
    assert!(world.run("./no-such-program; exit $?").end.is_missing_command());
}

#[derive(Default)]
struct Count {
    stdout: usize,
    stderr: usize,
}

impl Sink for Count {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Stdout => self.stdout += bytes.len(),
            Stream::Stderr => self.stderr += bytes.len(),
        }
    }
}

#[test]
fn cuts_and_counts_flood() {
    let world = World::new();
    let mut job = world.job("echo first; echo oops >&2; yes 0123456789");
    job.limits.max_output = 40 << 20;
    let mut seen = Count::default();
    let outcome = run(&job, &Stop::new(), &mut seen).unwrap();
    assert_eq!(outcome.end, End::OutputLimit);
    assert!(outcome.output.bytes > 40 << 20);
    assert_eq!(
        outcome.output.bytes,
        outcome.stdout.bytes + outcome.stderr.bytes
    );
    assert!(seen.stdout <= 40 << 20 && seen.stderr == 5);
    assert!(outcome.output.head.len() + outcome.output.tail.len() <= 1 << 20);
    let text = outcome.stdout.text();
    assert!(text.starts_with("first\n0123456789\n") && text.ends_with("0123456789\n"));
    assert!(text.contains(&format!(
        "[{} bytes left out]",
        outcome.stdout.bytes - kept(&text)
    )));
}

struct Slow(usize);

impl Sink for Slow {
    fn output(&mut self, _: Stream, bytes: &[u8]) {
        self.0 += bytes.len();
        let late = self.0 > 2_100_000;
        std::thread::sleep(Duration::from_millis(if late { 250 } else { 10 }));
    }
}

#[test]
fn slow_reader_gets_everything() {
    let world = World::new();
    let job = world.job("head -c 1200000 /dev/zero >&2 & head -c 1200000 /dev/zero; wait");
    let mut slow = Slow(0);
    let outcome = run(&job, &Stop::new(), &mut slow).unwrap();
    assert_eq!((slow.0, outcome.output.bytes), (2_400_000, 2_400_000));
}

// The bytes of a cut text without its marker line.
fn kept(text: &str) -> u64 {
    let marker = text.lines().find(|line| line.starts_with('[')).unwrap();
    (text.len() - marker.len() - 1) as u64
}

#[test]
fn stdin_is_given_text_then_end() {
    let world = World::new();
    assert_eq!(
        world.run("cat; tty; echo $?").stdout.text(),
        "not a tty\n1\n"
    );
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| at as u8).collect();
    let mut job = world.job("cat > got; sha1sum < got >&2");
    job.stdin = Stdin::Bytes(bytes.clone());
    let outcome = run(&job, &Stop::new(), &mut Discard).unwrap();
    assert!(outcome.passed());
    assert!(std::fs::read(world.path().join("got")).unwrap() == bytes);
    // One that does not read is no error.
    job.command = CommandLine::Shell("exec <&-; echo fine".to_owned());
    let outcome = run(&job, &Stop::new(), &mut Discard).unwrap();
    assert_eq!(
        (outcome.end, outcome.stdout.text().as_str()),
        (End::Exit(0), "fine\n")
    );
}

#[test]
fn has_no_terminal_and_no_core_file() {
    let world = World::new();
    let outcome =
        world.run("ulimit -c; (exec 3</dev/tty) 2>/dev/null && echo terminal; echo $TERM");
    assert_eq!(outcome.stdout.text(), "0\ndumb\n");
}

#[test]
fn unstartable_command_has_code() {
    let world = World::new();
    let mut job = world.job("true");
    job.directory = world.path().join("gone");
    assert_eq!(code(&job), "U302");
    job.directory = crate::support::program();
    assert_eq!(code(&job), "U302");
    job.directory = world.path().to_owned();
    job.command = CommandLine::Program(Vec::new());
    assert_eq!(code(&job), "U101");
}

fn code(job: &Job) -> &'static str {
    let failed: ExecError = run(job, &Stop::new(), &mut Discard).unwrap_err();
    failed.code().as_str()
}

#[test]
fn stops_on_request_of_other_thread() {
    let world = World::new();
    let stop = Stop::new();
    stop.request();
    let outcome = run(&world.job("sleep 60"), &stop, &mut Discard).unwrap();
    assert_eq!(outcome.end, End::Interrupted);
}

// Each process has limits: those of the job, else those of the machine.
#[cfg(target_os = "linux")]
#[test]
fn memory_processes_and_files_have_bounds() {
    let world = World::new();
    let line = "grep -E '^Max (data size|processes|file size)' /proc/self/limits";
    let text = world.run(line).stdout.text();
    for name in ["Max data size", "Max processes", "Max file size"] {
        let row = text.lines().find_map(|row| row.strip_prefix(name)).unwrap();
        let soft = row.split_whitespace().next().unwrap();
        assert!(soft.parse::<u64>().is_ok(), "{name}: {text}");
    }
}
