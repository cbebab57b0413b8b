#[cfg(feature = "program")]
use std::borrow::Cow;
use std::fmt;

#[cfg(feature = "program")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use super::Verdict::{Ambiguous, ContextNotFound, Malformed, Refused};
use super::{Exit, Severity, StopReason, Verdict};

macro_rules! codes {
    ($($($code:ident)+ => $consequence:expr;)*) => {
        /// The stable name of one reason why something was refused, omitted or corrected.
        ///
        /// The first letter is the family (P patch, M correction, C context, R runner, L loop,
        /// F fixtures, U usage and environment), the first digit the group inside it. Every code
        /// has a page that `mendit explain CODE` prints; `tests/tidy.rs` holds the two together.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[doc = concat!("`mendit explain ", stringify!($code), "`")] $code,)+)*
        }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$($(Self::$code),+),*];

            /// The name, such as `C101`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($(Self::$code => stringify!($code),)+)*
                }
            }

            /// What follows from it.
            const fn consequence(self) -> Consequence {
                match self {
                    $($(Self::$code)|+ => $consequence,)*
                }
            }
        }
    };
}

// A code means here what it means everywhere: severity, verdict of the patch, exit code, stop
// reason and advice stand in its row and are never found out from its name or text.
codes! {
    P101 => refuses(Malformed).exit(Exit::Environment).stop(StopReason::NoPatch)
        .advice("Send the patch itself; nothing arrived.");
    P102 => refuses(Malformed).exit(Exit::Environment).stop(StopReason::NoPatch)
        .advice("Send the change in one of these forms: a unified diff with `---`, `+++` and `@@` lines; \
            SEARCH/REPLACE blocks under the name of their file; or JSON \
            `{\"edits\": [{\"path\": …, \"old\": …, \"new\": …}]}`.");
    P103 => refuses(Malformed).exit(Exit::Environment)
        .advice("Send the same change as a unified diff.");
    P104 => refuses(Malformed)
        .advice("Send the whole patch again, to its last line; send it file by file if it is long.");
    P105 => refuses(Malformed).exit(Exit::Refused)
        .advice("Send the patch in several parts.");
    P106 => refuses(Malformed).exit(Exit::Environment)
        .advice("Send the same patch in UTF-8.");
    P107 => refuses(Malformed)
        .advice("Send every edit with `path`, `old` and `new`, or a whole file with `path` and `content`.");
    P201 => refuses(Malformed)
        .advice("Name the file of every change in a line of its own above it, with its path from the top of the repository.");
    P202 => refuses(Malformed)
        .advice("Send the patch again with the same file named in every header of a section.");
    P205 => refuses(Malformed)
        .advice("If the file exists, send a change to it; if not, send nothing but added lines.");
    P206 => refuses(Malformed).advice("Leave the mode lines out.");
    P208 => refuses(ContextNotFound)
        .advice("Read the file again and remove every line that it has now.");
    P302 => refuses(Malformed)
        .advice("Put every line of the patch below the header of its file.");
    P303 => refuses(Malformed)
        .advice("Send each place once: one hunk that has all changes of these lines.");
    P305 => refuses(Malformed)
        .advice("The patch fits and changes nothing. Send the lines that have to change.");
    P306 => refuses(ContextNotFound)
        .advice("Send the last lines of the file again and say in the patch whether the file ends with a newline.");
    P307 => refuses(Malformed)
        .advice("Write hunk headers as `@@ -LINE,COUNT +LINE,COUNT @@`, or as `@@` alone.");
    P308 => refuses(Malformed)
        .advice("Send the patch in several parts, each with lines that occur once in the file.");
    P309 => refuses(Malformed)
        .advice("Send the patch as `git diff` writes it; nothing is corrected here.");
    P311 => refuses(ContextNotFound)
        .advice("Send the added lines again, character for character as the file should have them.");
    P312 => refuses(Malformed)
        .advice("Send the code itself instead of the placeholder, or leave that part out of the patch.");
    P313 => refuses(Malformed)
        .advice("Send the whole file to its last line, or send only the change as a diff or as SEARCH/REPLACE blocks.");
    P401 P402 => refuses(ContextNotFound)
        .advice("Send the change again with context and removed lines copied from the file as it is now.");
    P403 => refuses(Ambiguous)
        .advice("Send the change again with more of the lines around it, until they occur once in the file.");
    P406 => refuses(ContextNotFound)
        .advice("Leave out what the files already have and send the rest.");
    P410 => refuses(ContextNotFound)
        .advice("Send the change again with the lines of the file before and after what is added.");
    P501 => refuses(ContextNotFound)
        .advice("Send the change again with the path that the file has in the repository.");
    P502 => refuses(ContextNotFound)
        .advice("The file exists: send a change to it, or choose another path.");
    P503 P504 P505 P506 P507 P508 => refuses_paths();
    P509 => refuses(Ambiguous)
        .advice("Send the patch again with full paths from the top of the repository.");
    P511 => refuses(ContextNotFound)
        .advice("Leave this file out: it is not in the working copy.");
    P512 => refuses_paths();
    P513 => refuses(Malformed)
        .advice("Send one section for each file, with everything that happens to it.");
    P601 P602 P603 P605 => refuses(Malformed)
        .advice("Leave binary files out, or send the output of `git diff --binary`.");
    P604 => refuses(ContextNotFound)
        .advice("Leave binary files out, or send the output of `git diff --binary` made against the file as it is now.");
    P701 P702 P703 P704 P705 P706 => refuses(Refused)
        .advice("Leave this change out and solve the task without it.");
    P707 P713 => notes();
    P708 => refuses(Refused)
        .advice("Leave the dependencies as they are and solve the task with what is installed.");
    P709 => refuses(Refused)
        .advice("Leave this file out, or send a change after which it can be read.");
    P711 => refuses(Refused)
        .advice("Leave this file as it is and change the code that it runs.");
    P712 => refuses(Refused)
        .advice("Leave this line or file out and make the code under test do what its tests expect.");
    P801 => refuses(Refused)
        .advice("Send the change again so that the file still parses.");
    P802 => refuses(Refused)
        .advice("Import only what exists, or add it in the same patch.");
    P901 => refuses(ContextNotFound).exit(Exit::Environment)
        .advice("The system could not read or write; sending the patch again does not help.");
    P902 => ends(Exit::No);
    P903 P904 P905 P906 P907 => ends(Exit::Environment);
    M101 M104 M201 M205 M301 M303 M304 M401 M403 M410 M411 M416 M417 => mends();
    C101 => notes();
    C102 C103 => over_budget();
    C105 => notes();
    C110 => ends(Exit::Refused);
    C201 C203 C204 C205 => notes();
    C301 C302 C305 C307 C310 => notes();
    C311 C320 => ends(Exit::Environment);
    C312 => notes();
    R103 R104 R105 R107 => ends(Exit::Environment);
    R201 => ends(Exit::No).stop(StopReason::TestsFailed);
    R203 => ends(Exit::TimedOut).stop(StopReason::CommandTimeout);
    R206 => ends(Exit::Environment);
    R208 => ends(Exit::Interrupted).stop(StopReason::Interrupted);
    R209 => notes().stop(StopReason::Flaky);
    R210 R211 R212 R213 R214 => notes();
    R301 R303 => ends(Exit::Environment);
    L101 L103 L105 => ends(Exit::Environment);
    L106 => ends(Exit::No).stop(StopReason::Unproven)
        .advice("Make the tests that failed pass: every one must run, none may be left out or skipped, and \
            the runner must end by itself with its summary.");
    F101 => ends(Exit::Environment);
    F301 => ends(Exit::No);
    F302 => ends(Exit::Refused);
    F304 => ends(Exit::No);
    F305 => ends(Exit::Environment);
    F307 F309 => ends(Exit::No);
    F401 => ends(Exit::Environment);
    U101 U103 U106
    U201 U203 U204
    U301 U302 U303 U305 U306 U308 U309 U310 => ends(Exit::Environment);
    U311 => ends(Exit::PersonMustAct);
}

impl Code {
    /// Whether it stops something or is only worth knowing.
    #[must_use]
    pub const fn severity(self) -> Severity {
        self.consequence().severity
    }

    /// The verdict on a patch that is refused with it; `None` when it refuses no patch.
    #[must_use]
    pub const fn verdict(self) -> Option<Verdict> {
        self.consequence().verdict
    }

    /// How a command ends that ends with it.
    #[must_use]
    pub const fn exit(self) -> Exit {
        self.consequence().exit
    }

    /// How an attempt at a repair ends that ends with it; `None` when it ends none.
    #[must_use]
    pub const fn stop_reason(self) -> Option<StopReason> {
        self.consequence().stop
    }

    /// What to send instead, in a sentence for whoever wrote the patch; empty when it refuses none.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        self.consequence().advice
    }

    /// Whether something was left out for want of budget.
    #[must_use]
    pub const fn is_over_budget(self) -> bool {
        self.consequence().over_budget
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(feature = "program")]
impl JsonSchema for Code {
    fn schema_name() -> Cow<'static, str> {
        "Code".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A stable code; `mendit explain CODE` says what it means.",
            "type": "string",
            "pattern": "^[A-Z][0-9]{3}$",
        })
    }
}

/// What follows from a code: the columns of the table of codes.
#[derive(Debug, Clone, Copy)]
struct Consequence {
    severity: Severity,
    verdict: Option<Verdict>,
    exit: Exit,
    stop: Option<StopReason>,
    advice: &'static str,
    over_budget: bool,
}

const NOTE: Consequence = Consequence {
    severity: Severity::Warning,
    verdict: None,
    exit: Exit::Yes,
    stop: None,
    advice: "",
    over_budget: false,
};

/// Worth knowing, and no more.
const fn notes() -> Consequence {
    NOTE
}

/// One thing of a patch that was mended.
const fn mends() -> Consequence {
    NOTE
}

/// Left out of a packet because its budget was used up.
const fn over_budget() -> Consequence {
    Consequence {
        over_budget: true,
        ..NOTE
    }
}

/// Refuses a patch; how a command and an attempt end follows from the verdict.
const fn refuses(verdict: Verdict) -> Consequence {
    Consequence {
        severity: Severity::Error,
        verdict: Some(verdict),
        exit: verdict.exit(),
        stop: Some(verdict.stop_reason()),
        ..NOTE
    }
}

/// Refuses a patch for the paths or kinds of entries that it names.
const fn refuses_paths() -> Consequence {
    refuses(Verdict::Unsafe)
        .advice("Leave this path out; only plain files inside the repository can be changed.")
}

/// Ends a command that could not do its work, or whose answer is no.
const fn ends(exit: Exit) -> Consequence {
    Consequence {
        severity: Severity::Error,
        exit,
        ..NOTE
    }
}

impl Consequence {
    const fn exit(self, exit: Exit) -> Self {
        Self { exit, ..self }
    }

    const fn stop(self, stop: StopReason) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    const fn advice(self, advice: &'static str) -> Self {
        Self { advice, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::Code;
    use crate::model::{Exit, Severity, StopReason, Verdict};

    #[test]
    fn a_row_says_what_follows_from_a_code() {
        for (code, verdict, exit, stop) in [
            (
                Code::P101,
                Some(Verdict::Malformed),
                Exit::Environment,
                Some(StopReason::NoPatch),
            ),
            (
                Code::P104,
                Some(Verdict::Malformed),
                Exit::No,
                Some(StopReason::PatchInvalid),
            ),
            (
                Code::P105,
                Some(Verdict::Malformed),
                Exit::Refused,
                Some(StopReason::PatchInvalid),
            ),
            (
                Code::P401,
                Some(Verdict::ContextNotFound),
                Exit::No,
                Some(StopReason::ApplyFailed),
            ),
            (
                Code::P504,
                Some(Verdict::Unsafe),
                Exit::Refused,
                Some(StopReason::PolicyRejected),
            ),
            (
                Code::P509,
                Some(Verdict::Ambiguous),
                Exit::No,
                Some(StopReason::ApplyFailed),
            ),
            (
                Code::P702,
                Some(Verdict::Refused),
                Exit::Refused,
                Some(StopReason::PolicyRejected),
            ),
            (Code::M401, None, Exit::Yes, None),
            (Code::C110, None, Exit::Refused, None),
            (
                Code::R203,
                None,
                Exit::TimedOut,
                Some(StopReason::CommandTimeout),
            ),
        ] {
            assert_eq!(
                (code.verdict(), code.exit(), code.stop_reason()),
                (verdict, exit, stop),
                "{code}"
            );
        }
    }

    #[test]
    fn what_refuses_a_patch_stops_it_and_says_what_to_send() {
        for code in Code::ALL.iter().filter(|code| code.verdict().is_some()) {
            assert_eq!(code.severity(), Severity::Error, "{code}");
            assert!(code.advice().ends_with(['.', '`']), "{code}");
            assert_ne!(code.exit(), Exit::Yes, "{code}");
            assert!(!code.verdict().is_some_and(Verdict::applies), "{code}");
        }
    }
}
