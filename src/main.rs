//! The `mendit` program: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    mendit::run_program()
}
