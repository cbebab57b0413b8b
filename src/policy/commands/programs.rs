use std::sync::LazyLock;

/// `programs.toml`. The file is part of the program, and a test reads it.
pub(super) static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| {
    crate::model::read_table(embedded!("policy/commands/programs.toml")).unwrap_or_default()
});

/// What programs do with the files they are given.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Programs {
    starters: Vec<String>,
    checkers: Vec<String>,
    plain: Vec<String>,
    test_runners: Vec<String>,
}

impl Programs {
    /// It only starts another one.
    pub(super) fn starts(&self, name: &str) -> bool {
        has(&self.starters, name)
    }

    /// It looks at them and runs none.
    pub(super) fn runs_none(&self, name: &str) -> bool {
        has(&self.checkers, name) || has(&self.plain, name)
    }

    /// It runs them as tests.
    pub(super) fn tests(&self, name: &str) -> bool {
        has(&self.test_runners, name)
    }
}

fn has(words: &[String], name: &str) -> bool {
    words.iter().any(|it| it == name)
}

#[cfg(test)]
mod tests {
    use super::PROGRAMS;

    #[test]
    fn programs_are_read() {
        assert!(PROGRAMS.starts("npx") && PROGRAMS.runs_none("ls") && PROGRAMS.tests("jest"));
    }
}
