//! Layer 2: which lines of the repository ran while tests did. Python and node; whatever
//! cannot be traced runs as it would, and nothing is known of it.

mod tracing;

pub use tracing::Tracing;
