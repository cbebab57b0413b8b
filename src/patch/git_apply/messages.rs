//! The messages of `git apply`. Scripts compare them, so they are git's own words.

use super::options::WhiteSpace;
use crate::patch::strict::{Errors, Fatal};

/// What is said on stderr, and the count of white space errors that decides how much.
#[derive(Debug, Default)]
pub(super) struct Messages {
    pub(super) text: Vec<u8>,
    /// Errors of white space so far.
    pub(super) errors: usize,
    /// Lines fixed so far.
    pub(super) fixed: usize,
}

/// Above this many errors of white space, the rest are only counted.
const SHOWN: usize = 5;

impl Messages {
    pub(super) fn line(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
        self.text.push(b'\n');
    }

    pub(super) fn error(&mut self, text: &str) {
        self.line(&format!("error: {text}"));
    }

    pub(super) fn warning(&mut self, text: &str) {
        self.line(&format!("warning: {text}"));
    }

    pub(super) fn raw(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
    }

    /// Counts an error of white space and shows it when it is one of the first.
    pub(super) fn white_space(
        &mut self,
        errors: Errors,
        at: (&str, usize),
        line: &[u8],
        action: WhiteSpace,
    ) {
        if errors.is_empty() {
            return;
        }
        self.errors += 1;
        if action != WhiteSpace::ErrorAll && self.errors > SHOWN {
            return;
        }
        let (file, number) = at;
        self.line(&format!("{file}:{number}: {}.", errors.words()));
        self.raw(line);
        self.raw(b"\n");
    }

    /// The summary of white space errors that git ends with. `Err` refuses.
    pub(super) fn sum_up(&mut self, action: WhiteSpace, applied: bool) -> Result<(), Fatal> {
        if self.errors == 0 {
            return Ok(());
        }
        if action != WhiteSpace::ErrorAll && self.errors > SHOWN {
            let more = count_noun(self.errors - SHOWN, "whitespace error");
            self.warning(&format!("squelched {more}"));
        }
        let verb = if self.errors == 1 { "adds" } else { "add" };
        let lines = count_noun(self.errors, "line");
        let mut text = format!("{lines} {verb} whitespace errors.");
        if action.is_error() {
            return Err(Fatal(text));
        }
        if self.fixed > 0 && applied {
            let lines = count_noun(self.fixed, "line");
            text = format!("{lines} applied after fixing whitespace errors.");
        }
        self.warning(&text);
        Ok(())
    }
}

fn count_noun(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
