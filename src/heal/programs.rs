use std::sync::LazyLock;

use serde::Deserialize;

/// The table of `programs.toml`.
pub(super) static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "embedded and tested")]
    crate::model::read_table(embedded!("heal/programs.toml")).expect("programs.toml parses")
});

#[derive(Deserialize)]
pub(super) struct Programs {
    pub(super) way: Vec<Way>,
    pub(super) program: Vec<Program>,
    pub(super) manifest: Vec<Manifest>,
}

/// A way to start what is not there.
#[derive(Deserialize)]
pub(super) struct Way {
    #[serde(default)]
    pub(super) instead_of: Vec<String>,
    pub(super) start: Vec<String>,
    pub(super) does: String,
}

/// What a program comes with, and the ends of the names of scripts that it starts.
#[derive(Deserialize)]
pub(super) struct Program {
    pub(super) names: Vec<String>,
    pub(super) from: Option<String>,
    #[serde(default)]
    pub(super) starts: Vec<String>,
}

/// Files that name packages, and where in them.
#[derive(Deserialize)]
pub(super) struct Manifest {
    pub(super) files: Vec<String>,
    pub(super) of: Registry,
    #[serde(default)]
    pub(super) keys: Vec<String>,
    #[serde(default)]
    pub(super) values: Vec<String>,
    pub(super) behind: Option<String>,
}

#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Registry {
    Npm,
    Python,
}
