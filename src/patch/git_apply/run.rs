//! Runs `git apply`: reads, checks and writes patches in turn.

use std::path::{Path, PathBuf};

use super::check::{Checker, Refusal};
use super::destination::Destination;
use super::messages::Messages;
use super::options::{GitApplyOptions, Verbosity};
use super::reader::Reader;
use super::report::write_report;
use super::table::Table;
use super::write::write_tree;
use crate::git::{GitError, Repository};
use crate::patch::strict::{Fatal, Naming, Section, SectionResult};

/// One run of `git apply`: reads, validates and writes patches by git's rules, one after another; writes
/// the index at the end.
pub struct GitApply<'r> {
    destination: Destination<'r>,
    options: &'r GitApplyOptions,
    state: PathBuf,
    naming: Naming,
    messages: Messages,
    out: String,
    // 1 once a patch did not apply, 128 once something was refused that ends everything.
    exit: u8,
}

/// How it ended.
#[derive(Debug)]
pub struct GitApplied {
    /// For standard output.
    pub stdout: String,
    /// For standard error.
    pub stderr: Vec<u8>,
    /// git's exit code: 0, 1 or 128.
    pub exit: u8,
}

// git's own exit code for what it calls fatal.
const FATAL: u8 = 128;

impl<'r> GitApply<'r> {
    /// Opens the place where names of patches count from: `root` is the worktree, or the user's
    /// directory without a repository. `state` is for the journal of what is written.
    ///
    /// # Errors
    /// [`GitError`] when the repository cannot be read.
    pub fn open(
        repository: Option<&'r Repository>,
        root: &Path,
        state: PathBuf,
        options: &'r GitApplyOptions,
    ) -> Result<Self, GitError> {
        Ok(Self {
            destination: Destination::open(repository, root)?,
            options,
            state,
            naming: Naming {
                strip: options.strip.unwrap_or(1),
                settled: options.strip.is_some(),
                root: options.directory.clone(),
                prefix: options.prefix.clone(),
            },
            messages: Messages::default(),
            out: String::new(),
            exit: 0,
        })
    }

    /// Applies one patch; `name` is what messages call it. When it gives `false`, the patches
    /// after it are not to be applied, as in git.
    pub fn patch(&mut self, name: &str, input: &[u8]) -> bool {
        match self.apply_patch(name, input) {
            Ok(true) => return true,
            Ok(false) => self.exit = 1,
            Err(Fatal(messages)) => {
                self.messages.error(&messages);
                self.exit = FATAL;
            }
        }
        false
    }

    /// Ends with the sum of white space errors and writes the index.
    pub fn finish(mut self) -> GitApplied {
        if let Err(Fatal(message)) = self.end_run() {
            self.messages.error(&message);
            self.exit = FATAL;
        }
        // Asked to be quiet, git says nothing at all, not even why it fails.
        if self.options.verbosity == Verbosity::Quiet {
            self.messages.text.clear();
        }
        GitApplied {
            stdout: self.out,
            stderr: self.messages.text,
            exit: self.exit,
        }
    }

    fn end_run(&mut self) -> Result<(), Fatal> {
        if self.exit == 0 {
            let action = self.options.white_space;
            self.messages.sum_up(action, self.options.apply)?;
        }
        let Some(staging) = self.destination.staging.as_mut() else {
            return Ok(());
        };
        if self.exit == FATAL {
            return Ok(());
        }
        let written = staging.write(Some(&self.destination.root));
        written.map_err(|error| Fatal(format!("Unable to write new index file: {error}")))
    }

    // Whether one patch applied whole.
    fn apply_patch(&mut self, name: &str, input: &[u8]) -> Result<bool, Fatal> {
        // A patch above this size is refused, as git does.
        if input.len() >= 1024 * 1024 * 1023 {
            return Err(Fatal(format!("patch too large: {name}")));
        }
        let (sections, skipped) = self.read_sections(name, input)?;
        if sections.is_empty() && skipped == 0 {
            if self.options.allow_empty {
                return Ok(true);
            }
            return Err(Fatal(
                "No valid patches in input (allow with \"--allow-empty\")".to_owned(),
            ));
        }
        let stops = self.messages.errors > 0 && self.options.white_space.is_error();
        let mut applies = self.options.apply && !stops;
        let done = if self.options.check || applies {
            let before = self.messages.errors;
            let (done, clean) = self.judge_sections(name, sections)?;
            applies &= self.messages.errors == before || !self.options.white_space.is_error();
            if !clean && !self.options.reject {
                return Ok(false);
            }
            done
        } else {
            sections.into_iter().map(SectionResult::from).collect()
        };
        let place = &mut self.destination;
        let (state, messages) = (&self.state, &mut self.messages);
        if applies && write_tree(&done, place, state, self.options, messages)? {
            // The index keeps what conflicts left.
            self.exit = 1;
            return Ok(!self.options.reject);
        }
        self.out.push_str(&write_report(&done, self.options));
        Ok(true)
    }

    // The sections to be used, and how many were left aside.
    fn read_sections<'a>(
        &mut self,
        name: &str,
        input: &'a [u8],
    ) -> Result<(Vec<Section<'a>>, usize), Fatal> {
        let destination = &self.destination;
        let mut reader = Reader {
            input,
            name,
            options: self.options,
            naming: &mut self.naming,
            messages: &mut self.messages,
            rules: &mut |path| destination.rules(path),
            at: 0,
            line: 1,
        };
        let mut sections = Vec::new();
        let mut skipped = 0;
        while let Some((mut section, used)) = reader.next()? {
            if self.options.reverse {
                section.reverse();
            }
            if used {
                sections.push(section);
            } else {
                skipped += 1;
            }
        }
        if self.options.reverse {
            sections.reverse();
        }
        Ok((sections, skipped))
    }

    fn judge_sections<'a>(
        &mut self,
        name: &str,
        sections: Vec<Section<'a>>,
    ) -> Result<(Vec<SectionResult<'a>>, bool), Fatal> {
        let mut table = Table::new(&sections);
        let has_errors = self.messages.errors > 0;
        let mut done: Vec<SectionResult<'a>> = Vec::with_capacity(sections.len());
        let mut clean = true;
        for (number, section) in sections.into_iter().enumerate() {
            let mut one = SectionResult::from(section);
            let outcome = Checker {
                destination: &self.destination,
                options: self.options,
                table: &table,
                done: &done,
                file: name,
                has_errors,
                messages: &mut self.messages,
            }
            .check_section(&mut one);
            match outcome {
                Ok(()) => table.note_section(&one.section, number),
                Err(Refusal::Section) => clean = false,
                Err(Refusal::Fatal(fatal)) => return Err(fatal),
            }
            done.push(one);
        }
        Ok((done, clean))
    }
}
