//! Which tests failed, in each runner's own spelling, with the line that states why.
//!
//! `table` reads runners by rows of `table.toml`: failure blocks and status rows. `pytest` reads the form that no
//! row describes. `cases` merges them by test.

mod case;
mod cases;
mod pytest;
mod rewrite;
mod table;
mod values;

pub(super) use case::{
    Case, first_python_frame, first_script_frame, is_installed, python_frame, relative_path,
};
pub(super) use cases::collect_cases;
pub(super) use rewrite::join_error_names;
pub(super) use values::with_values;
