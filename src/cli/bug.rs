use std::io::{self, Write as _};
use std::panic::{self, UnwindSafe};
use std::process::ExitCode;

/// Lets a panic be told as what it is, a bug of ours.
pub(super) fn announce() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |found| {
        // With standard error gone there is nobody to tell.
        let _ = io::stderr().write_all(TOLD.as_bytes());
        before(found);
    }));
}

/// Runs the program; a panic in it ends with 70.
pub(super) fn caught(program: impl FnOnce() -> ExitCode + UnwindSafe) -> ExitCode {
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

    use super::caught;

    #[test]
    fn a_panic_ends_with_70() {
        assert_eq!(caught(|| ExitCode::from(3)), ExitCode::from(3));
        assert_eq!(caught(|| panic!("on purpose")), ExitCode::from(70));
    }
}
