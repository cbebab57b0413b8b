use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::ExecError;
use super::captured::{Ring, marker};

const MAX_LOG: u64 = 16 << 20;

/// Writes the output to a file as it comes, up to a size; [`LogFile::finish`] adds the tail.
pub(super) struct LogFile {
    path: PathBuf,
    file: File,
    written: u64,
}

impl LogFile {
    pub(super) fn create(path: &Path) -> Result<Self, ExecError> {
        let file = File::create(path).map_err(|error| failed(path, &error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            written: 0,
        })
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), ExecError> {
        let room = usize::try_from(MAX_LOG - self.written).unwrap_or(usize::MAX);
        let (fits, _) = bytes.split_at(room.min(bytes.len()));
        self.written += fits.len() as u64;
        self.write(fits)
    }

    pub(super) fn finish(mut self, output: &Ring) -> Result<(), ExecError> {
        let output = output.captured();
        let left = output.bytes.saturating_sub(self.written);
        if left == 0 {
            return Ok(());
        }
        let wanted = usize::try_from(left).unwrap_or(usize::MAX);
        let start = output.tail.len().saturating_sub(wanted);
        let (_, tail) = output.tail.split_at(start);
        let omitted = left.saturating_sub(tail.len() as u64);
        if omitted > 0 {
            self.write(format!("\n{}", marker(omitted)).as_bytes())?;
        }
        self.write(tail)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), ExecError> {
        self.file
            .write_all(bytes)
            .map_err(|error| failed(&self.path, &error))
    }
}

fn failed(path: &Path, error: &std::io::Error) -> ExecError {
    ExecError::Log {
        path: path.to_owned(),
        reason: error.kind(),
    }
}
