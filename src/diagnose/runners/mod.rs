//! Which tests failed, in each runner's own spelling, with the line that says why.

mod group;
mod jest;
mod listed;
mod mocha;
mod place;
mod pytest;
mod read;
mod tap;
mod unittest;
mod values;

pub(super) use group::open_groups;
pub(super) use place::{is_installed, of_python, of_stack, relative};
pub(super) use read::Case;
pub(super) use read::cases;
pub(super) use tap::name_errors;
pub(super) use values::values;
