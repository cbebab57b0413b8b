use std::path::{Path, PathBuf};

use landlock::{
    ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetError,
    RulesetStatus, Scope, path_beneath_rules,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use crate::exec::SandboxState;
use crate::exec::unix::protocol::Order;
use crate::exec::unix::supervise::Entered;
use crate::model::SandboxMode;

/// Confines the calling thread and all it starts. The error says what cannot be had.
pub(in crate::exec::unix) fn confine(
    order: &Order,
    entered: &Entered,
) -> Result<SandboxState, String> {
    let require = order.sandbox == SandboxMode::Require;
    let state = if order.sandbox == SandboxMode::Off {
        SandboxState::None
    } else {
        match restrict_writes(order, entered) {
            Ok(state) => state,
            Err(error) if require => return Err(error.to_string()),
            Err(_) => SandboxState::None,
        }
    };
    if require && state != SandboxState::Enforced {
        return Err("this kernel's Landlock cannot hold back every kind of writing".to_owned());
    }
    if order.no_network {
        refuse_network().map_err(|error| format!("no network: {error}"))?;
    }
    Ok(match state {
        SandboxState::None if order.no_network && order.sandbox == SandboxMode::Off => {
            SandboxState::Enforced
        }
        SandboxState::None if order.no_network => SandboxState::Partial,
        state => state,
    })
}

// Without the right to move files between directories (version 2) most builds fail, so nothing is
// confined then. Version 3 adds truncation and with it all kinds of writing.
fn restrict_writes(order: &Order, entered: &Entered) -> Result<SandboxState, RulesetError> {
    let common = order.common.iter().map(Path::new);
    let common = common.chain(entered.private.iter().map(PathBuf::as_path));
    let common = common.filter(|place| entered.closed || !holds_closed(place, order));
    let writable = order.writable.iter().map(Path::new).chain(common);
    let status = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_write(ABI::V2))?
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_write(ABI::V3))?
        .create()?
        .add_rules(path_beneath_rules(writable, AccessFs::from_write(ABI::V3)))?
        .restrict_self()?;
    // Signals to processes outside: the supervisor among them.
    let _ = refuse_signals();
    Ok(match status.ruleset {
        RulesetStatus::FullyEnforced => SandboxState::Enforced,
        RulesetStatus::PartiallyEnforced => SandboxState::Partial,
        RulesetStatus::NotEnforced => SandboxState::None,
    })
}

// Moving files between directories is refused by every ruleset that does not allow it.
fn refuse_signals() -> Result<(), RulesetError> {
    Ruleset::default()
        .handle_access(AccessFs::Refer)?
        .scope(Scope::Signal)?
        .create()?
        .add_rules(path_beneath_rules(["/"], AccessFs::Refer))?
        .restrict_self()?;
    Ok(())
}

// A rule of Landlock opens all that is below a place.
fn holds_closed(place: &Path, order: &Order) -> bool {
    let mut closed = order.closed.iter().map(Path::new);
    closed.any(|it| it.starts_with(place))
}

// Refuses every socket but local ones, and the rings through which sockets can be opened unseen.
fn refuse_network() -> Result<(), String> {
    let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(|error| error.to_string())?;
    let filter = network_filter(arch).map_err(|error| error.to_string())?;
    seccompiler::apply_filter(&filter).map_err(|error| error.to_string())
}

fn network_filter(arch: TargetArch) -> Result<BpfProgram, seccompiler::BackendError> {
    let foreign = SeccompRule::new(vec![SeccompCondition::new(
        0,
        SeccompCmpArgLen::Dword,
        SeccompCmpOp::Ne,
        AF_UNIX,
    )?])?;
    let numbers = match arch {
        TargetArch::x86_64 => X86_64,
        _ => GENERIC,
    };
    let mut rules: Vec<(i64, Vec<SeccompRule>)> = Vec::new();
    for socket in numbers.sockets {
        rules.push((*socket, vec![foreign.clone()]));
    }
    for ring in numbers.rings {
        rules.push((*ring, Vec::new()));
    }
    SeccompFilter::new(
        rules.into_iter().collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(EACCES),
        arch,
    )?
    .try_into()
}

const AF_UNIX: u64 = 1;
const EACCES: u32 = 13;
// The bit that marks the 32-bit variant of a system call on x86_64.
const X32: i64 = 0x4000_0000;

struct Numbers {
    sockets: &'static [i64],
    rings: &'static [i64],
}

// Of the kernel's tables of system calls: `socket`, and the three of `io_uring`.
const X86_64: Numbers = Numbers {
    sockets: &[41, 41 + X32],
    rings: &[425, 426, 427, 425 + X32, 426 + X32, 427 + X32],
};
const GENERIC: Numbers = Numbers {
    sockets: &[198],
    rings: &[425, 426, 427],
};

/// Keeps other processes of the same user from reading this one's environment and memory. The
/// superuser can all the same; nothing changes on systems other than Linux.
pub fn guard_environment() {
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

/// Makes this process the parent of whatever its descendants leave behind.
pub(in crate::exec::unix) fn adopt_orphans() {
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}
