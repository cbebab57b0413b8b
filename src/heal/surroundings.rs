use std::collections::{BTreeMap, BTreeSet};

use crate::policy::python_name;

/// What stands around a probe, as far as a fix may use it. Gathered before the choice, so that the
/// choice itself is a function over values. Names only: no value of a variable is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// Of the programs a fix may use, those on the search path.
    pub programs: BTreeSet<String>,
    /// Program to its file in `node_modules/.bin` or in a virtual environment of the project.
    pub local: BTreeMap<String, String>,
    /// Program to its file in a usual directory that is not on the search path.
    pub elsewhere: BTreeMap<String, String>,
    /// Packages that `package.json` or its lock names.
    pub npm: BTreeSet<String>,
    /// Packages that Python manifests or locks name, lower case, with `-` for `_` and `.`.
    pub python: BTreeSet<String>,
    /// Ports that compose files publish.
    pub compose: Vec<ComposePort>,
    /// Example files of variables, each with the names it sets.
    pub examples: BTreeMap<String, BTreeSet<String>>,
    /// Names that `.env` sets.
    pub env_file: BTreeSet<String>,
}

/// A port of the host that a service of a compose file publishes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ComposePort {
    /// The service.
    pub service: String,
    /// The port on the host.
    pub published: u16,
    /// The port inside the container.
    pub target: u16,
}

impl Surroundings {
    /// Whether a Python manifest or lock names the package.
    #[must_use]
    pub fn has_python(&self, name: &str) -> bool {
        self.python.contains(&python_name(name))
    }

    /// The first of these programs that is on the search path.
    #[must_use]
    pub fn program<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        names
            .iter()
            .copied()
            .find(|name| self.programs.contains(*name))
    }
}
