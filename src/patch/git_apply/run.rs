use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::ancestor::build_ancestor;
use super::check::{Checker, Refusal};
use super::done::Done;
use super::ground::Ground;
use super::naming::Naming;
use super::options::{GitApplyOptions, Verbosity};
use super::reader::Reader;
use super::report::report;
use super::said::{Fatal, Said};
use super::section::Section;
use super::table::Table;
use super::write::write;
use crate::git::{GitError, Repository};

/// `git apply` in one place: patches are read, judged and written by git's rules, one after
/// another; the index is written at the end.
#[expect(clippy::struct_excessive_bools, reason = "what was found on the way")]
pub struct GitApply<'r> {
    ground: Ground<'r>,
    options: &'r GitApplyOptions,
    state: PathBuf,
    naming: Naming,
    said: Said,
    out: String,
    failed: bool,
    // Something was refused that ends everything.
    fatal: bool,
    // A patch did not apply, and those after it were not looked at.
    stopped: bool,
    conflicts: bool,
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
    /// Files of the worktree were merged with conflicts; git looks them up in what `rerere` knows.
    pub conflicts: bool,
}

// How one patch ended.
enum Outcome {
    Clean,
    // It was merged and left conflicts.
    Conflicts,
    // It does not apply, or not all of it.
    Fails,
}

// A patch above this size is refused, as git does.
const MAX_BYTES: usize = 1024 * 1024 * 1023;

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
        let anywhere = options.unsafe_paths && !options.uses_index();
        let judges = options.apply || options.check;
        Ok(Self {
            ground: Ground::open(repository, root, anywhere, judges)?,
            options,
            state,
            naming: Naming {
                strip: options.strip.unwrap_or(1),
                known: options.strip.is_some(),
                root: options.directory.clone(),
                prefix: options.prefix.clone(),
            },
            said: Said::default(),
            out: String::new(),
            failed: false,
            fatal: false,
            stopped: false,
            conflicts: false,
        })
    }

    /// Applies one patch; `name` is what messages call it. When it gives `false`, the patches
    /// after it are not to be applied, as in git.
    pub fn patch(&mut self, name: &str, input: &[u8]) -> bool {
        match self.one(name, input) {
            Ok(Outcome::Clean) => true,
            Ok(Outcome::Conflicts) => {
                self.failed = true;
                self.conflicts = !self.options.cached;
                true
            }
            Ok(Outcome::Fails) => {
                (self.failed, self.stopped) = (true, true);
                false
            }
            Err(Fatal(said)) => {
                self.said.error(&said);
                self.fatal = true;
                false
            }
        }
    }

    /// Ends with the sum of white space errors and writes the index.
    pub fn finish(mut self) -> GitApplied {
        if self.fatal {
            return self.end(128);
        }
        if !self.stopped {
            let (action, applies) = (self.options.white_space, self.options.apply);
            if let Err(Fatal(said)) = self.said.sum_up(action, applies) {
                self.said.error(&said);
                return self.end(128);
            }
        }
        if let Some(staging) = &mut self.ground.staging {
            let workdir = self.ground.root.clone();
            if let Err(error) = staging.write(Some(&workdir)) {
                self.said
                    .error(&format!("Unable to write new index file: {error}"));
                return self.end(128);
            }
        }
        let exit = u8::from(self.failed);
        self.end(exit)
    }

    // Asked to be quiet, git says nothing at all, not even why it fails.
    fn end(mut self, exit: u8) -> GitApplied {
        if self.options.verbosity == Verbosity::Quiet {
            self.said.text.clear();
        }
        GitApplied {
            stdout: self.out,
            stderr: self.said.text,
            exit,
            conflicts: self.conflicts,
        }
    }

    fn one(&mut self, name: &str, input: &[u8]) -> Result<Outcome, Fatal> {
        if input.len() >= MAX_BYTES {
            return Err(Fatal(format!("patch too large: {name}")));
        }
        let (sections, skipped) = self.read(name, input)?;
        if sections.is_empty() && skipped == 0 && !self.options.allow_empty {
            return Err(Fatal(
                "No valid patches in input (allow with \"--allow-empty\")".to_owned(),
            ));
        }
        let stops = self.said.errors > 0 && self.options.white_space.is_error();
        let mut applies = self.options.apply && !stops;
        let mut clean = true;
        let done: Vec<Done<'_>>;
        if self.options.check || applies {
            let before = self.said.errors;
            (done, clean) = self.judge(name, sections)?;
            applies &= self.said.errors == before || !self.options.white_space.is_error();
        } else {
            let taken = sections.into_iter().map(|section| Done {
                section,
                ..Done::default()
            });
            done = taken.collect();
        }
        if !clean && !self.options.reject {
            return Ok(Outcome::Fails);
        }
        let mut outcome = Outcome::Clean;
        if applies {
            let left = write(
                &done,
                &mut self.ground,
                &self.state,
                self.options,
                &mut self.said,
            )?;
            if left && self.options.reject {
                return Ok(Outcome::Fails);
            }
            if left {
                outcome = Outcome::Conflicts;
            }
        }
        if let Some(file) = &self.options.fake_ancestor {
            build_ancestor(&done, &self.ground, file, &mut self.said)?;
        }
        let sections: Vec<&Section<'_>> = done.iter().map(|one| &one.section).collect();
        self.out.push_str(&report(&sections, self.options));
        Ok(outcome)
    }

    // The sections to be used, and how many were left aside.
    fn read<'a>(
        &mut self,
        name: &str,
        input: &'a [u8],
    ) -> Result<(Vec<Section<'a>>, usize), Fatal> {
        let ground = &self.ground;
        let mut reader = Reader {
            input,
            name,
            options: self.options,
            naming: &mut self.naming,
            said: &mut self.said,
            rules: &mut |path| ground.rules(path),
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

    fn judge<'a>(
        &mut self,
        name: &str,
        sections: Vec<Section<'a>>,
    ) -> Result<(Vec<Done<'a>>, bool), Fatal> {
        let mut table = Table::new(&sections);
        let has_errors = self.said.errors > 0;
        let ahead = self.ahead(name, &sections, &table, has_errors);
        let mut done: Vec<Done<'a>> = Vec::with_capacity(sections.len());
        let mut clean = true;
        for (number, (section, ready)) in sections.into_iter().zip(ahead).enumerate() {
            let (one, outcome) = if let Some((one, said, outcome)) = ready {
                self.said.raw(&said.text);
                self.said.fixed += said.fixed;
                (one, outcome)
            } else {
                let mut one = Done {
                    section,
                    ..Done::default()
                };
                let outcome = Checker {
                    ground: &self.ground,
                    options: self.options,
                    table: &table,
                    done: &done,
                    file: name,
                    has_errors,
                    said: &mut self.said,
                }
                .check(&mut one);
                (one, outcome)
            };
            match outcome {
                Ok(()) => table.note(&one.section, number),
                Err(Refusal::Section) => clean = false,
                Err(Refusal::Fatal(fatal)) => return Err(fatal),
            }
            done.push(one);
        }
        Ok((done, clean))
    }

    // The bulk of a large patch: sections that no other has to do with, judged in parallel. What
    // has errors of white space is judged in its turn, as they are counted over the whole patch.
    fn ahead<'a>(
        &self,
        name: &str,
        sections: &[Section<'a>],
        table: &Table,
        has_errors: bool,
    ) -> Vec<Option<Ahead<'a>>> {
        const WORTH_IT: usize = 8;
        if sections.len() < WORTH_IT || self.options.three_way || has_errors {
            return sections.iter().map(|_| None).collect();
        }
        let writes = self.options.apply;
        let one = |section: &Section<'a>| {
            if !table.is_alone(section) {
                return None;
            }
            let mut said = Said::default();
            let mut one = Done {
                section: section.clone(),
                judged_only: !writes,
                ..Done::default()
            };
            let outcome = Checker {
                ground: &self.ground,
                options: self.options,
                table,
                done: &[],
                file: name,
                has_errors,
                said: &mut said,
            }
            .check(&mut one);
            (said.errors == 0).then_some((one, said, outcome))
        };
        sections.par_iter().map(one).collect()
    }
}

type Ahead<'a> = (Done<'a>, Said, Result<(), Refusal>);
