//! Replaces namespaces and Landlock on systems that have neither.

use rustix::process::Pid;

use super::protocol::Order;
use super::supervise::{Entered, Place};
use crate::model::{NotConfined, SandboxMode, Wall};

const NOTHING: &str = "this system has no unprivileged sandbox";

/// There is nothing to confine with on this system: fails when that was required.
pub(super) fn confine(order: &Order, _: &Entered) -> Result<Vec<NotConfined>, String> {
    if order.sandbox.mode == SandboxMode::Require || order.sandbox.no_network {
        return Err(NOTHING.to_owned());
    }
    Ok(match order.sandbox.mode {
        SandboxMode::Off => Vec::new(),
        _ => vec![NotConfined::new(Wall::Files, NOTHING)],
    })
}

/// There are no namespaces here: an overlay is not available, and nothing is held back.
pub(super) fn enter(order: &Order) -> Result<Place, String> {
    if order.overlays.is_empty() {
        return Ok(Place::Here(Entered::default()));
    }
    Err("this system has no overlays".to_owned())
}

/// There is no supervisor: orders are carried out in the process that got them.
pub(super) fn wait_for(_: Pid) -> i32 {
    0
}

/// Nothing adopts here: what leaves its process group is out of reach.
pub(super) fn adopt_orphans() {}

/// There is nothing that keeps other processes of the same user out.
pub fn guard_environment() {}
