//! Layer 6: what the project declares against what is present: packages, lock files, workspace links, plugins,
//! interpreters, submodules, variables. Each problem comes with the command that fixes it; nothing is run.

mod closure;
mod compare;
mod declared;
mod failure;
mod members;
mod modules;
mod node_modules;
mod project;
mod versions;

pub use compare::find_problems;
pub use failure::explain_failure;
pub use project::Project;
