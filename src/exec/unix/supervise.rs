//! The supervisor process. It ends everything that a command started, because an orphan could change
//! files after the run.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::host::{adopt_orphans, confine, enter, guard_environment, wait_for};
use super::protocol::{self, Order, read_frame, write_frame};
use super::tree;
use super::tree::ask_where;
use crate::exec::outcome::{Refusal, Report, read_refusal};
use crate::exec::{End, SandboxState};
use crate::model::{NotConfined, Wall};
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getrlimit, setrlimit,
};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

/// The body of the hidden command `mendit __sup`: runs one command as a child, ends it on a message over
/// the socket at its stdin, and leaves no process behind. Returns the exit code of the process.
pub fn supervise() -> i32 {
    run_supervised().unwrap_or(2)
}

/// The sandbox layers around a supervisor.
#[derive(Debug, Default)]
pub(super) struct Entered {
    /// Those that are not.
    pub(super) missing: Vec<NotConfined>,
    /// The shared temporary folders that are private now.
    pub(super) private: Vec<PathBuf>,
}

impl Entered {
    /// Whether mounts hold back all that must not be written.
    pub(super) fn is_sealed(&self) -> bool {
        self.missing.iter().all(|wall| wall.wall != Wall::Metadata)
    }
}

/// Which process carries an order out.
pub(super) enum Place {
    /// This one.
    Here(Entered),
    /// One that was made for it, a child of this one.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "namespaces exist only on Linux")
    )]
    Elsewhere(Pid),
}

enum Event {
    Child,
    Stop,
    Kill,
}

fn run_supervised() -> Option<i32> {
    let control = UnixStream::from(rustix::stdio::stdin().try_clone_to_owned().ok()?);
    isolate_session();
    let (tag, order) = read_frame(&control)?;
    let order: Order = (tag == protocol::ORDER)
        .then(|| serde_json::from_slice(&order).ok())
        .flatten()?;
    // Before the first thread, and before this process hides its own entries in `/proc`.
    let entered = match enter(&order) {
        Ok(Place::Here(entered)) => Ok(entered),
        Ok(Place::Elsewhere(pid)) => return Some(stand_by(pid)),
        Err(why) => Err(Refusal::NoPlace(why)),
    };
    carry_out(&control, &order, entered).map(|()| 0)
}

// The working process ends with a report; this one has none.
fn stand_by(pid: Pid) -> i32 {
    release_output();
    guard_environment();
    let heard = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        let _ = signal_hook::flag::register(signal, heard.clone());
    }
    wait_for(pid)
}

fn carry_out(control: &UnixStream, order: &Order, entered: Result<Entered, Refusal>) -> Option<()> {
    adopt_orphans();
    guard_environment();
    bound_resources();
    let (events, happened) = mpsc::channel();
    listen_to_signals(events.clone()).ok()?;
    let mut shut = order.temporary.clone();
    let started = entered.map_err(Err).and_then(|entered| {
        shut.retain(|path| !entered.private.contains(path));
        start_child(order, &entered)
    });
    let report = match started {
        Err(end) => Report::unstarted(end),
        Ok((mut child, not_confined)) => {
            release_output();
            let stdin = child.stdin.take();
            let socket = control.try_clone().ok()?;
            thread::spawn(move || listen_to_socket(&socket, stdin, &events));
            let pid = i32::try_from(child.id()).ok()?;
            let (end, forced) = follow_child(pid, order, &happened);
            Report {
                end: Ok(end),
                leaked: sweep_children(pid, forced, order.limits.grace),
                sandbox: sandbox_state(order, &not_confined),
                not_confined,
                shut,
            }
        }
    };
    let report = serde_json::to_vec(&report).ok()?;
    write_frame(control, protocol::REPORT, &report).ok()
}

// Best effort each: what fails makes the supervisor weaker, not wrong.
fn isolate_session() {
    let _ = rustix::process::setsid();
    adopt_orphans();
    let _ = rustix::process::setrlimit(
        rustix::process::Resource::Core,
        rustix::process::Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    );
}

fn listen_to_signals(events: Sender<Event>) -> std::io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGCHLD, SIGTERM, SIGINT, SIGHUP])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            let event = if signal == SIGCHLD { Event::Child } else { Event::Stop };
            if events.send(event).is_err() {
                break;
            }
        }
    });
    Ok(())
}

// Ends when the process that asked is gone: then nobody waits for a clean end.
fn listen_to_socket(control: &UnixStream, stdin: Option<ChildStdin>, events: &Sender<Event>) {
    let mut feed = stdin.map(feed_stdin);
    while let Some((tag, payload)) = read_frame(control) {
        match tag {
            protocol::STDIN => {
                if let Some(feed) = &feed {
                    let _ = feed.send(payload);
                }
            }
            protocol::STDIN_END => feed = None,
            protocol::STOP => {
                let _ = events.send(Event::Stop);
            }
            _ => {
                let _ = events.send(Event::Kill);
            }
        }
    }
    let _ = events.send(Event::Kill);
}

// In a thread of its own, because a command that does not read its input must not block orders.
fn feed_stdin(mut stdin: ChildStdin) -> Sender<Vec<u8>> {
    let (sender, chunks) = mpsc::channel::<Vec<u8>>();
    thread::spawn(move || {
        for chunk in chunks {
            if stdin.write_all(&chunk).and_then(|()| stdin.flush()).is_err() {
                break;
            }
        }
    });
    sender
}

// Confinement holds for the thread that asks for it and for what that thread starts. The command
// is started from such a thread, so that the supervisor stays outside and cannot be reached.
fn start_child(
    order: &Order,
    entered: &Entered,
) -> Result<(Child, Vec<NotConfined>), Result<End, Refusal>> {
    let (program, arguments) = order
        .command
        .split_first()
        .ok_or_else(|| Err(Refusal::Failed("the command is empty".to_owned())))?;
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    command.stdin(if order.stdin { Stdio::piped() } else { Stdio::null() });
    thread::scope(|scope| {
        let jail = thread::Builder::new().spawn_scoped(scope, || {
            let missing = confine(order, entered).map_err(|why| Err(Refusal::NoSandbox(why)))?;
            let child = command.spawn().map_err(|error| read_refusal(&error))?;
            Ok((child, missing))
        });
        let jail = jail.map_err(|error| Err(Refusal::Failed(error.to_string())))?;
        jail.join()
            .unwrap_or_else(|_| Err(Err(Refusal::Failed("the thread ended".to_owned()))))
    })
}

// Without a sandbox the network alone can be held back.
fn sandbox_state(order: &Order, missing: &[NotConfined]) -> SandboxState {
    match (order.is_confined(), SandboxState::without(missing)) {
        (false, _) if order.sandbox.no_network => SandboxState::Enforced,
        (false, _) => SandboxState::None,
        (true, SandboxState::None) if order.sandbox.no_network => SandboxState::Partial,
        (true, state) => state,
    }
}

/// Only the command and what it starts hold the pipes from here on.
pub(super) fn release_output() {
    if let Ok(null) = std::fs::File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

// Returns how the command ended and whether it had to be killed.
fn follow_child(pid: i32, order: &Order, happened: &Receiver<Event>) -> (End, bool) {
    let timeout = order.limits.timeout;
    let mut deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let grace = order.limits.grace;
    let mut reason = None;
    let mut probed = false;
    loop {
        let event = match deadline {
            None => happened.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(deadline) => {
                happened.recv_timeout(deadline.saturating_duration_since(Instant::now()))
            }
        };
        match event {
            Ok(Event::Child) => {
                if let Reaped::Found(status) = reap_child(pid) {
                    let hung = probed.then_some(End::TimedOut);
                    let end = reason.or(hung).unwrap_or_else(|| end_of(status));
                    return (end, false);
                }
            }
            Ok(Event::Stop) if reason.is_none() => {
                ask_to_end(pid);
                reason = Some(End::Interrupted);
                deadline = Instant::now().checked_add(grace);
            }
            Err(RecvTimeoutError::Timeout) if !probed && reason.is_none() && ask_where() => {
                probed = true;
                // Time for a hanging process to print its stack.
                deadline = Instant::now().checked_add(Duration::from_secs(1));
            }
            Err(RecvTimeoutError::Timeout) if reason.is_none() => {
                ask_to_end(pid);
                reason = Some(End::TimedOut);
                deadline = Instant::now().checked_add(grace);
            }
            Ok(Event::Stop) => {}
            Ok(Event::Kill) | Err(_) => {
                return (reason.unwrap_or(End::Interrupted), true);
            }
        }
    }
}

// A stopped process gets the request only when it goes on.
fn ask_to_end(pid: i32) {
    if let Some(group) = Pid::from_raw(pid) {
        let _ = rustix::process::kill_process_group(group, Signal::TERM);
        let _ = rustix::process::kill_process_group(group, Signal::CONT);
    }
}

enum Reaped {
    Found(WaitStatus),
    /// Some live on.
    Some,
    /// There is no child any more.
    All,
}

// Fetches every dead child, also those adopted.
fn reap_child(wanted: i32) -> Reaped {
    let mut found = None;
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid.as_raw_nonzero().get() == wanted => {
                found = Some(status);
            }
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return found.map_or(Reaped::Some, Reaped::Found),
            Err(_) => return found.map_or(Reaped::All, Reaped::Found),
        }
    }
}

fn end_of(status: WaitStatus) -> End {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => End::Exit(code),
        (None, signal) => End::Signal(signal.unwrap_or_default()),
    }
}

// Ends what is left and says how many processes had outlived the command.
fn sweep_children(pid: i32, forced: bool, grace: Duration) -> u32 {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    // Processes that end shortly after their command do not count as left behind.
    if !forced && all_gone_within(Duration::from_millis(200), pid) {
        return 0;
    }
    let left: Vec<_> = tree::list_descendants(own)
        .into_iter()
        .filter(|process| !(process.dead || forced && process.group == pid))
        .collect();
    if !forced {
        for process in &left {
            process.signal(Signal::TERM);
            process.signal(Signal::CONT);
        }
        // Processes left behind get this long to stop by themselves.
        if all_gone_within(grace.min(Duration::from_secs(1)), pid) {
            return list_length(&left);
        }
    }
    kill_all(own, pid);
    list_length(&left)
}

fn list_length<T>(list: &[T]) -> u32 {
    u32::try_from(list.len()).unwrap_or(u32::MAX)
}

// What was adopted keeps its group in view; where nothing is adopted the group itself is asked.
fn all_gone(group: i32) -> bool {
    matches!(reap_child(0), Reaped::All)
        && (tree::is_known()
            || Pid::from_raw(group)
                .is_none_or(|group| rustix::process::test_kill_process_group(group).is_err()))
}

fn all_gone_within(limit: Duration, group: i32) -> bool {
    let end = Instant::now() + limit;
    let mut pause = Duration::from_millis(1);
    loop {
        if all_gone(group) {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

// First all are stopped, so that none starts another while the rest is killed.
fn kill_all(own: i32, group: i32) {
    // When to give up on processes that cannot be killed, such as those of another user.
    let end = Instant::now() + Duration::from_secs(10);
    while !all_gone(group) && Instant::now() < end {
        let mut stopped = 0;
        loop {
            let found = tree::list_descendants(own);
            for process in &found {
                process.signal(Signal::STOP);
            }
            if found.len() <= stopped || Instant::now() >= end {
                break;
            }
            stopped = found.len();
        }
        // With the processes known, a group whose leader is gone may belong to another user by now.
        if let Some(group) = Pid::from_raw(group).filter(|_| !tree::is_known()) {
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
        }
        for process in tree::list_descendants(own) {
            process.signal(Signal::KILL);
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// Bounds this process and all it starts: memory of each to that of the machine, processes of this user,
/// bytes of a file. A tighter limit that is already set is kept.
fn bound_resources() {
    let wanted = [
        (Resource::Data, total_memory()),
        // Processes and threads of this user at a time.
        (Resource::Nproc, Some(8192)),
        (Resource::Fsize, Some(16 << 30)),
    ];
    for (resource, most) in wanted {
        let Some(most) = most else { continue };
        let now = getrlimit(resource);
        let [current, maximum] = [now.current, now.maximum]
            .map(|limit| Some(limit.map_or(most, |limit| limit.min(most))));
        // Best effort, since a command without bounds is better than none.
        let _ = setrlimit(resource, Rlimit { current, maximum });
    }
}

fn total_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}
