use std::sync::LazyLock;

use crate::model::Code;

/// One row of `deny.toml`.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DenyRow {
    /// Lower-case globs; any of them denies. Paths are compared in lower case.
    pub(super) globs: Vec<String>,
    /// Lower-case globs that are let through all the same.
    #[serde(default)]
    pub(super) except: Vec<String>,
    /// How firm the denial is, and its code.
    pub(super) class: DenyClass,
    /// What stands in such files, as the end of a sentence.
    pub(super) reason: String,
    /// Why a patch must not write them, after "the file".
    pub(super) guarded: String,
}

/// How firm a built-in denial is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum DenyClass {
    /// Holds credentials by its nature: never read, whatever the user allows.
    Credentials,
    /// Internals of git and other version control: never read.
    Internals,
    /// Not worth sending, or often private: a user's allow re-admits it.
    Policy,
}

impl DenyClass {
    /// The code of a refusal.
    pub(super) fn code(self) -> Code {
        match self {
            Self::Credentials => Code::C201,
            Self::Internals => Code::C202,
            Self::Policy => Code::C203,
        }
    }
}

/// The built-in deny list, in the order in which it is asked.
pub(super) fn deny_table() -> &'static [DenyRow] {
    &TABLE
}

#[derive(serde::Deserialize)]
struct File {
    deny: Vec<DenyRow>,
}

// The file is part of the program, and a test reads it.
static TABLE: LazyLock<Vec<DenyRow>> = LazyLock::new(|| {
    let read = toml::from_str::<File>(include_str!("deny.toml"));
    read.map(|it| it.deny).unwrap_or_default()
});
