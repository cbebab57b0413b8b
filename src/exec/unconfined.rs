use super::entered::Entered;
use super::protocol::Order;
use super::{SandboxMode, SandboxState};

/// There is nothing to confine with on this system: fails when that was required.
pub(super) fn confine(order: &Order, _: &Entered) -> Result<SandboxState, String> {
    if order.sandbox == SandboxMode::Require || order.no_network {
        return Err("this system has no sandbox that needs no privileges".to_owned());
    }
    Ok(SandboxState::None)
}
