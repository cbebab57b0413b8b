use super::protocol::Order;
use super::supervise::Entered;
use crate::exec::SandboxState;
use crate::model::SandboxMode;

/// There is nothing to confine with on this system: fails when that was required.
pub(super) fn confine(order: &Order, _: &Entered) -> Result<SandboxState, String> {
    if order.sandbox == SandboxMode::Require || order.no_network {
        return Err("this system has no sandbox that needs no privileges".to_owned());
    }
    Ok(SandboxState::None)
}

/// There are no namespaces here: an overlay cannot be had, and nothing is held back.
pub(super) fn enter(order: &Order) -> Result<Entered, String> {
    if order.overlays.is_empty() {
        return Ok(Entered {
            closed: order.closed.is_empty(),
            private: Vec::new(),
        });
    }
    Err("this system has no overlays".to_owned())
}

/// Nothing adopts here: what leaves its process group is out of reach.
pub(super) fn adopt_orphans() {}

/// There is nothing that keeps other processes of the same user out.
pub fn guard_environment() {}
