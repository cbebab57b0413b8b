//! Applies Landlock, seccomp and resource limits to a command.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};
use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set,
    set_capabilities,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::exec::unix::protocol::Order;
use crate::exec::unix::supervise::Entered;
use crate::model::{NotConfined, SandboxMode, Wall, walls_in_words};

/// Confines the calling thread and all it starts; what is no wall around them comes back. The error
/// says what is not available.
pub(in crate::exec::unix) fn confine(
    order: &Order,
    entered: &Entered,
) -> Result<Vec<NotConfined>, String> {
    let mut missing = Vec::new();
    if order.is_confined() {
        missing.clone_from(&entered.missing);
        restrict(order, entered, &mut missing);
        if let Err(error) = drop_privileges(order) {
            missing.push(NotConfined::new(Wall::Privileges, &refusal_reason(error)));
        }
        if let Err(why) = refuse_set_id() {
            missing.push(NotConfined::new(Wall::Privileges, &why));
        }
    }
    if order.sandbox.mode == SandboxMode::Require && !missing.is_empty() {
        return Err(format!("not available here: {}", walls_in_words(&missing)));
    }
    if order.sandbox.no_network {
        refuse_network().map_err(|error| format!("no network: {error}"))?;
    }
    Ok(missing)
}

// The second wall behind the mounts, and the first where there are none.
fn restrict(order: &Order, entered: &Entered, missing: &mut Vec<NotConfined>) {
    let _ = rustix::thread::set_no_new_privs(true);
    let sealed = entered.is_sealed();
    match restrict_writes(order, sealed, &entered.private) {
        Ok(RulesetStatus::NotEnforced) => missing.push(NotConfined::new(
            if sealed { Wall::Pipes } else { Wall::Files },
            "this kernel has no Landlock",
        )),
        Err(error) => missing.push(NotConfined::new(
            if sealed { Wall::Pipes } else { Wall::Files },
            &error.to_string(),
        )),
        Ok(_) => {}
    }
    if !sealed && has_open(order) {
        let why = missing.first().map_or("", |wall| &wall.why).to_owned();
        missing.push(NotConfined::new(Wall::Closed, &why));
    }
    // It holds signals back, and with them what one process may read of another.
    if refuse_signals().is_ok_and(|status| status == RulesetStatus::FullyEnforced) {
        missing.retain(|wall| wall.wall != Wall::Processes);
    }
}

// Without the right to move files between directories (version 2) most builds fail, so nothing is
// confined then. Version 3 adds truncation and with it all kinds of writing.
fn restrict_writes(
    order: &Order,
    sealed: bool,
    private: &[PathBuf],
) -> Result<RulesetStatus, RulesetError> {
    let common = order.common.iter().chain(private);
    let common = common.filter(|place| sealed || !holds_closed(place, order));
    let writable = order.sandbox.writable.iter().chain(common);
    let granted = AccessFs::from_write(ABI::V3) & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(ABI::V2))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(ABI::V3))?
        .create()?
        .add_rules(path_beneath_rules(writable, granted))?
        .restrict_self()?;
    Ok(status.ruleset)
}

// Allowed explicitly, because every ruleset refuses moves between directories otherwise.
fn refuse_signals() -> Result<RulesetStatus, RulesetError> {
    let status = Ruleset::default()
        .handle_access(AccessFs::Refer)?
        .scope(Scope::Signal | Scope::AbstractUnixSocket)?
        .create()?
        .add_rules(path_beneath_rules(["/"], AccessFs::Refer))?
        .restrict_self()?;
    Ok(status.ruleset)
}

// None is needed by who works on its own files. A superuser whose worktree is somebody else's keeps
// what files need, which reaches as far as the mounts let it.
fn drop_privileges(order: &Order) -> Result<(), Errno> {
    let superuser = rustix::process::geteuid().is_root();
    let foreign = order.sandbox.writable.iter().any(|at| {
        let found = std::fs::symlink_metadata(at);
        found.is_ok_and(|metadata| std::os::unix::fs::MetadataExt::uid(&metadata) != 0)
    });
    let kept = if superuser && foreign { OF_FILES } else { CapabilitySet::empty() };
    for number in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if kept.contains(one) {
            continue;
        }
        match remove_capability_from_bounding_set(one) {
            Ok(()) => {}
            // Whoever has none cannot give one up.
            Err(Errno::PERM) if !superuser => break,
            Err(Errno::INVAL) => break,
            Err(error) => return Err(error),
        }
    }
    let kept = kept & capabilities(None)?.permitted;
    set_capabilities(
        None,
        CapabilitySets {
            effective: kept,
            permitted: kept,
            inheritable: CapabilitySet::empty(),
        },
    )
}

const OF_FILES: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID);

fn refusal_reason(error: Errno) -> String {
    std::io::Error::from(error).kind().to_string()
}

// Whether what must not be written lies in what may be: only mounts hold that back.
fn has_open(order: &Order) -> bool {
    let mut closed = order.sandbox.closed.iter();
    closed.any(|closed| order.sandbox.writable.iter().any(|path| closed.starts_with(path)))
}

// A rule of Landlock opens all that is below a place.
fn holds_closed(place: &Path, order: &Order) -> bool {
    let mut closed = order.sandbox.closed.iter();
    closed.any(|path| path.starts_with(place))
}

/// Refuses every socket but local ones, and the rings through which sockets can be opened unseen.
fn refuse_network() -> Result<(), String> {
    // 1 is AF_UNIX.
    let foreign = argument_condition(0, SeccompCmpOp::Ne, 1);
    let sockets = [libc::SYS_socket].map(|call| (call, vec![vec![foreign.clone()]]));
    let rings = [
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
    ];
    let rings = rings.map(|call| (call, Vec::new()));
    refuse_calls(sockets.into_iter().chain(rings), libc::EACCES)
}

/// Refuses to give a file the set-user-id or set-group-id bit, because it would outlive the command: by
/// the chmod family, and by the mode of a file that is created.
fn refuse_set_id() -> Result<(), String> {
    // The bits of set-user-ID and set-group-ID.
    let bits = [0o4000, 0o2000];
    let mut calls = Vec::new();
    let create = libc::O_CREAT as u64;
    let created = SeccompCmpOp::MaskedEq(create);
    for (call, flags, mode) in [
        (libc::SYS_fchmod, None, 1),
        (libc::SYS_fchmodat, None, 2),
        // fchmodat2, the same number on every architecture.
        (452, None, 2),
        (libc::SYS_openat, Some(2), 3),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_chmod, None, 1),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_open, Some(1), 2),
        #[cfg(target_arch = "x86_64")]
        (libc::SYS_creat, None, 1),
    ] {
        let creates = flags.map(|at| argument_condition(at, created.clone(), create));
        let rules = bits.map(|bit| {
            creates
                .clone()
                .into_iter()
                .chain([argument_condition(mode, SeccompCmpOp::MaskedEq(bit), bit)])
                .collect()
        });
        calls.push((call, rules.to_vec()));
    }
    refuse_calls(calls.into_iter(), libc::EPERM)
}

type Condition = (u8, SeccompCmpOp, u64);

fn argument_condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Condition {
    (argument, operator, value)
}

/// Installs a filter that answers calls with an error where all conditions of a rule hold.
fn refuse_calls(
    calls: impl Iterator<Item = (i64, Vec<Vec<Condition>>)>,
    error: i32,
) -> Result<(), String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let build = || {
        let mut rules = BTreeMap::new();
        for (call, conditions) in calls {
            let all: Vec<SeccompRule> = conditions
                .iter()
                .map(|conditions| {
                    let conditions = conditions.iter().cloned();
                    let conditions = conditions.map(|(argument, operator, value)| {
                        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
                    });
                    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
                })
                .collect::<Result<_, _>>()?;
            if arch == TargetArch::x86_64 {
                // The bit that marks the 32-bit variant of a system call on x86_64.
                rules.insert(call + 0x4000_0000, all.clone());
            }
            rules.insert(call, all);
        }
        let action = SeccompAction::Errno(error.cast_unsigned());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch)?;
        BpfProgram::try_from(filter)
    };
    let filter = build().map_err(|error| error.to_string())?;
    seccompiler::apply_filter(&filter).map_err(|error| error.to_string())
}

/// Keeps other processes of the same user from reading this one's environment and memory. The
/// superuser can all the same; nothing changes on systems other than Linux.
pub fn guard_environment() {
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Makes this process the parent of whatever its descendants leave behind.
pub(in crate::exec::unix) fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}
