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
}

/// A way to start a program that is not there.
#[derive(Deserialize)]
pub(super) struct Way {
    #[serde(default)]
    pub(super) instead_of: Vec<String>,
    pub(super) start: Vec<String>,
    pub(super) does: String,
}

/// What a program comes with, and the endings of the scripts that it starts.
#[derive(Deserialize)]
pub(super) struct Program {
    pub(super) names: Vec<String>,
    pub(super) from: Option<String>,
    #[serde(default)]
    pub(super) starts: Vec<String>,
}
