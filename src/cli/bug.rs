use std::io::{self, Write as _};
use std::panic::{self, UnwindSafe};
use std::process::ExitCode;

/// Runs the program; a panic in it is told as what it is, a bug of ours, and ends with 70.
pub(super) fn told(program: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |found| {
        // With standard error gone there is nobody to tell.
        let _ = io::stderr().write_all(TOLD.as_bytes());
        before(found);
    }));
    panic::catch_unwind(program).unwrap_or(ExitCode::from(70))
}

const TOLD: &str = "\
error: a bug in mendit, not in your repository
  hint: please report it with the command and the lines below
  hint: `mendit apply --recover` finishes or undoes what was being written
";

#[cfg(test)]
mod tests {
    use std::process::ExitCode;

    use super::told;

    #[test]
    fn a_panic_ends_with_70() {
        assert_eq!(told(|| ExitCode::from(3)), ExitCode::from(3));
        assert_eq!(told(|| panic!("on purpose")), ExitCode::from(70));
    }
}
