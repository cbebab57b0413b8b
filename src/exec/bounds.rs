use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::protocol::Order;

/// Bounds this process and all it starts. A bound that stands already and is tighter stays.
pub(super) fn bound(order: &Order) {
    let wanted = [
        (Resource::Data, order.memory),
        (Resource::Nproc, order.processes),
        (Resource::Fsize, order.file_bytes),
    ];
    for (resource, most) in wanted {
        let Some(most) = most else { continue };
        let now = getrlimit(resource);
        let tighter = |it: Option<u64>| Some(it.map_or(most, |it| it.min(most)));
        // Best effort: an unbounded command is no reason not to run it.
        let _ = setrlimit(
            resource,
            Rlimit {
                current: tighter(now.current),
                maximum: tighter(now.maximum),
            },
        );
    }
}
