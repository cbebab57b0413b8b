//! Relays what a command prints, its secrets masked unless a person reads it at a terminal.

use std::io::IsTerminal as _;

use super::{AppError, Output};
use crate::app::{App, Redactor};

/// The way of a command's output to whoever reads it.
pub(super) struct OutputRelay<'a> {
    pub(super) output: &'a Output,
    // One for standard error and one for standard output; a person at a terminal sees the output as it is.
    maskers: Option<[StreamMasker; 2]>,
    is_hidden: bool,
    // Standard output is for a document.
    to_stderr: bool,
    written: Result<(), AppError>,
}

impl<'a> OutputRelay<'a> {
    pub(super) fn new(app: &App, output: &'a Output, is_hidden: bool, to_stderr: bool) -> Self {
        let maskers = [(), ()].map(|()| StreamMasker {
            redactor: app.redactor().clone(),
            pending: Vec::new(),
        });
        let is_read = !std::io::stdout().is_terminal();
        Self {
            output,
            maskers: is_read.then_some(maskers),
            is_hidden,
            to_stderr,
            written: Ok(()),
        }
    }

    /// Takes what the command printed.
    pub(super) fn push(&mut self, stdout: bool, bytes: &[u8]) {
        match &mut self.maskers {
            _ if self.is_hidden => {}
            None => self.write(stdout, bytes),
            Some(maskers) => {
                let masked = maskers[usize::from(stdout)].push(bytes);
                self.write(stdout, &masked);
            }
        }
    }

    /// Passes on what was held back, and returns whether all of it could be written.
    pub(super) fn finish(mut self) -> Result<(), AppError> {
        for (at, mut masker) in self.maskers.take().into_iter().flatten().enumerate() {
            let rest = masker.take(masker.pending.len());
            self.write(at == 1, &rest);
        }
        self.written
    }

    fn write(&mut self, stdout: bool, bytes: &[u8]) {
        if self.written.is_ok() && !bytes.is_empty() {
            self.written = self.output.pass_on(stdout && !self.to_stderr, bytes);
        }
    }
}

// Masks a stream of output as it comes, line by line.
//
// Secrets of the environment, formats and named values are masked; a value that only a later line
// gives away is not.
struct StreamMasker {
    redactor: Redactor,
    pending: Vec<u8>,
}

impl StreamMasker {
    // Takes the next bytes and returns the whole lines so far, masked.
    fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.pending.extend_from_slice(bytes);
        let mut ready = whole_lines(&self.pending);
        let key = memchr::memmem::rfind(&self.pending[..ready], b"-----BEGIN ");
        if let Some(start) = key
            && memchr::memmem::find(&self.pending[start..ready], b"-----END ").is_none()
        {
            ready = whole_lines(&self.pending[..start]);
        }
        // A private key is held back until its last line, but not forever.
        if self.pending.len() - ready > 64 * 1024 {
            ready = self.pending.len();
        }
        self.take(ready)
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        let ready: Vec<u8> = self.pending.drain(..length).collect();
        self.redactor.redact_bytes(&ready).bytes.into_owned()
    }
}

// Where the last whole line ends.
fn whole_lines(bytes: &[u8]) -> usize {
    memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1)
}
