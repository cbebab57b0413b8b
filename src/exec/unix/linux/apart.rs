//! Enters the namespaces of the supervisor.

use std::fs;
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, set_parent_process_death_signal, waitpid};
use rustix::thread::{CapabilitySet, UnshareFlags};

use super::calls::{Forked, fork, leave, unshare};
use super::mounts::{Mounted, lay_mounts, mount_processes, seal_processes};
use crate::exec::unix::protocol::{Order, read_frame, write_frame};
use crate::exec::unix::supervise::{Entered, Place};
use crate::model::{NotConfined, Wall};

/// Puts the supervisor, which has one thread yet, into namespaces of its own and makes the mounts
/// that the order asks for. It is a process of its own that does so: one in which a step failed is
/// no place to run anything.
///
/// # Errors
/// Why an overlay is not available; the order is not to be carried out then.
pub(in crate::exec::unix) fn enter(order: &Order) -> Result<Place, String> {
    let confined = order.is_confined();
    if !confined && order.overlays.is_empty() {
        return Ok(Place::Here(Entered::default()));
    }
    let mut refused = Refused::default();
    for spaces in wanted_spaces(confined) {
        match attempt_spaces(order, spaces, &refused) {
            Ok(place) => return Ok(place),
            Err(why) => refused.take(spaces, why),
        }
    }
    let why = refused.any.unwrap_or_default();
    if !order.overlays.is_empty() {
        return Err(format!("no private namespaces: {why}"));
    }
    let mut missing = Vec::new();
    for wall in [Wall::Metadata, Wall::Devices, Wall::SharedMemory] {
        missing.push(NotConfined::new(wall, &why));
    }
    missing.push(NotConfined::new(Wall::Processes, &why));
    Ok(Place::Here(Entered {
        missing,
        private: Vec::new(),
    }))
}

// Namespaces to enter besides that of mounts.
#[derive(Debug, Clone, Copy)]
struct Spaces {
    user: bool,
    processes: bool,
}

// Why weaker ones are tried.
#[derive(Default)]
struct Refused {
    any: Option<String>,
    processes: Option<String>,
}

impl Refused {
    fn take(&mut self, spaces: Spaces, why: String) {
        if spaces.processes {
            self.processes.get_or_insert_with(|| why.clone());
        }
        self.any.get_or_insert(why);
    }
}

// The strongest first. Whoever is not the superuser may mount only as the superuser of a user
// namespace; the superuser stays itself where there is none.
fn wanted_spaces(confined: bool) -> Vec<Spaces> {
    match (confined, is_superuser()) {
        (true, true) => vec![
            spaces(true, true),
            spaces(true, false),
            spaces(false, true),
            spaces(false, false),
        ],
        (true, false) => vec![spaces(true, true), spaces(true, false)],
        (false, true) => vec![spaces(false, false), spaces(true, false)],
        (false, false) => vec![spaces(true, false)],
    }
}

fn spaces(user: bool, processes: bool) -> Spaces {
    Spaces { user, processes }
}

fn is_superuser() -> bool {
    rustix::process::geteuid().is_root()
}

const UNSHARED: u8 = b'u';
const MAPPED: u8 = b'm';
const READY: u8 = b'r';
const FAILED: u8 = b'f';

fn attempt_spaces(order: &Order, spaces: Spaces, refused: &Refused) -> Result<Place, String> {
    let (ours, theirs) = UnixStream::pair().map_err(|error| error.to_string())?;
    match fork().map_err(|error| error_message("no process", error))? {
        Forked::Parent(pid) => {
            drop(theirs);
            attend_child(pid, &ours)
        }
        Forked::Child => {
            drop(ours);
            match enter_inside(order, spaces, refused, &theirs) {
                Ok(entered) => {
                    let _ = write_frame(&theirs, READY, &[]);
                    Ok(Place::Here(entered))
                }
                Err(why) => {
                    let _ = write_frame(&theirs, FAILED, why.as_bytes());
                    leave(1)
                }
            }
        }
    }
}

// Gives the new process its identities, and stays for as long as it lives.
fn attend_child(pid: Pid, other: &UnixStream) -> Result<Place, String> {
    let failed = loop {
        match read_frame(other) {
            Some((UNSHARED, _)) => match map_identities(pid) {
                Ok(()) => {
                    let _ = write_frame(other, MAPPED, &[]);
                }
                Err(error) => {
                    let why = format!("cannot map user ids: {error}");
                    let _ = write_frame(other, FAILED, why.as_bytes());
                }
            },
            Some((READY, _)) => break None,
            Some((_, why)) => break Some(String::from_utf8_lossy(&why).into_owned()),
            None => break Some("the new process ended".to_owned()),
        }
    };
    match failed {
        Some(why) => {
            wait_for(pid);
            Err(why)
        }
        None => Ok(Place::Elsewhere(pid)),
    }
}

/// Waits for another process and says how it ended, as an exit code.
pub(in crate::exec::unix) fn wait_for(pid: Pid) -> i32 {
    loop {
        match waitpid(Some(pid), WaitOptions::empty()) {
            Ok(Some((_, status))) => return status.exit_status().unwrap_or(1),
            Ok(None) | Err(Errno::INTR) => {}
            Err(_) => return 1,
        }
    }
}

fn enter_inside(
    order: &Order,
    spaces: Spaces,
    refused: &Refused,
    outer: &UnixStream,
) -> Result<Entered, String> {
    end_with_parent();
    let mut flags = UnshareFlags::NEWNS;
    flags.set(UnshareFlags::NEWUSER, spaces.user);
    flags.set(UnshareFlags::NEWPID, spaces.processes);
    flags.set(UnshareFlags::NEWIPC, order.is_confined());
    unshare(flags).map_err(|error| error_message("namespaces are refused", error))?;
    if spaces.user {
        write_frame(outer, UNSHARED, &[]).map_err(|error| error.to_string())?;
        match read_frame(outer) {
            Some((MAPPED, _)) => {}
            Some((_, why)) => return Err(String::from_utf8_lossy(&why).into_owned()),
            None => leave(1),
        }
    }
    let Mounted { private, sealed } = lay_mounts(order)?;
    let mut missing = Vec::new();
    if !order.is_confined() {
        // Sealed, because root could unmount the overlay otherwise.
        let _ = rustix::thread::remove_capability_from_bounding_set(CapabilitySet::SYS_ADMIN);
        return Ok(Entered { missing, private });
    }
    if let Err(why) = sealed {
        missing.push(NotConfined::new(Wall::Metadata, &why));
        missing.push(NotConfined::new(Wall::Devices, &why));
    }
    if spaces.processes {
        become_first()?;
        seal_processes().map_err(|error| error_message("cannot seal `/proc`", error))?;
    } else {
        let why = refused.processes.clone().unwrap_or_default();
        missing.push(NotConfined::new(Wall::Processes, &why));
    }
    Ok(Entered { missing, private })
}

// What is started from now on sees its own processes alone. The one that made the namespace stays
// outside of it and waits.
fn become_first() -> Result<(), String> {
    if let Forked::Parent(first) = fork().map_err(|error| error_message("no process", error))? {
        super::super::supervise::release_output();
        leave(wait_for(first));
    }
    end_with_parent();
    mount_processes().map_err(|error| error_message("no private `/proc`", error))
}

fn end_with_parent() {
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
}

// Everybody stays who they are. The superuser keeps all identities that it has; to everybody else
// all but the own user and group are nobody.
fn map_identities(pid: Pid) -> std::io::Result<()> {
    let below = |name: &str| format!("/proc/{}/{name}", pid.as_raw_nonzero());
    if is_superuser()
        && fs::write(below("uid_map"), same("/proc/self/uid_map")?).is_ok()
        && fs::write(below("gid_map"), same("/proc/self/gid_map")?).is_ok()
    {
        return Ok(());
    }
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    fs::write(below("setgroups"), "deny")?;
    fs::write(below("uid_map"), format!("{user} {user} 1"))?;
    fs::write(below("gid_map"), format!("{group} {group} 1"))
}

// Rows of `first here, first outside, count`, turned into those that change nothing.
fn same(map: &str) -> std::io::Result<String> {
    let text = fs::read_to_string(map)?;
    let rows = text.lines().filter_map(|row| {
        let mut numbers = row.split_whitespace();
        let (first, count) = (numbers.next()?, numbers.nth(1)?);
        Some(format!("{first} {first} {count}\n"))
    });
    Ok(rows.collect())
}

fn error_message(what: &str, error: Errno) -> String {
    format!("{what}: {}", std::io::Error::from(error).kind())
}
