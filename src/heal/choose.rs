//! Chooses the next correction of a probe. A pure function, so that its tests are tables.

use super::rules::known_fixes;
use super::{Probe, Surroundings};
use crate::model::Diagnosis;

/// The probes tried so far, and the facts a choice may use.
#[derive(Debug, Clone, Copy)]
pub struct History<'a> {
    /// The configuration that failed now.
    pub current: &'a Probe,
    /// The configurations that failed before, the first as it was given, and why.
    pub earlier: &'a [(Probe, Diagnosis)],
    /// Facts around the probe.
    pub surroundings: &'a Surroundings,
    /// The last lines of what it said, redacted.
    pub tail: &'a str,
}

impl History<'_> {
    fn was_tried(&self, probe: &Probe) -> bool {
        self.current == probe || self.earlier.iter().any(|(tried, _)| tried == probe)
    }
}

/// A candidate correction of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fix {
    /// A changed configuration to try.
    Change {
        /// What was changed, in one sentence.
        does: String,
        /// The changed probe.
        probe: Probe,
    },
    /// Something that only a person can do, in one sentence; never done by this program.
    Person(String),
}

impl Fix {
    pub(super) fn change(does: impl Into<String>, probe: Probe) -> Self {
        let does = does.into();
        Self::Change { does, probe }
    }

    pub(super) fn person(advice: impl Into<String>) -> Self {
        Self::Person(advice.into())
    }
}

/// Chooses the fix to try next: of the diagnosis's rule the first change that was not tried before,
/// then one that an earlier configuration still has open, else what a person must do. Pure.
///
/// Nothing in a log is ever run, and nothing is installed: a program is one that is there, an address comes from the
/// configuration.
pub fn choose_fix(diagnosis: &Diagnosis, history: &History<'_>) -> Fix {
    let newest = known_fixes(diagnosis, history);
    let is_known = newest.is_some();
    let mut fixes = newest.unwrap_or_else(|| vec![hand_over(diagnosis, history)]);
    for (current, diagnosis) in history.earlier.iter().rev() {
        let earlier = History {
            current,
            ..*history
        };
        fixes.extend(known_fixes(diagnosis, &earlier).unwrap_or_default());
    }
    // A change that led to another known failure got further; one that led nowhere says nothing.
    let first = history.earlier.first().map(|(_, diagnosis)| diagnosis.kind);
    let advice = if is_known && first != Some(diagnosis.kind) {
        fixes.iter().find(|fix| matches!(fix, Fix::Person(_)))
    } else {
        fixes.iter().rfind(|fix| matches!(fix, Fix::Person(_)))
    };
    let fix = fixes
        .iter()
        .find(|fix| matches!(fix, Fix::Change { probe, .. } if !history.was_tried(probe)))
        .or(advice)
        .cloned();
    fix.unwrap_or_else(|| Fix::person(diagnosis.suggested_fix.clone()))
}

// The message of an unknown failure.
fn hand_over(diagnosis: &Diagnosis, history: &History<'_>) -> Fix {
    Fix::person(format!("{}\n{}", diagnosis.suggested_fix, history.tail).trim_end())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Fix, History, choose_fix};
    use crate::diagnose::{LogFacts, diagnose};
    use crate::heal::{Probe, ServerConfig, Surroundings, Target};
    use crate::model::{Diagnosis, FailureKind};

    fn command(line: &str) -> Probe {
        Probe {
            name: "test".to_owned(),
            target: Target::Command(line.to_owned()),
            timeout: Duration::from_secs(30),
        }
    }

    fn server(entry: &str) -> Probe {
        let text = format!("{{\"mcpServers\": {{\"web\": {entry}}}}}");
        let config = ServerConfig::parse("f", text.as_bytes()).unwrap();
        config.probe("web", Duration::from_secs(30)).unwrap()
    }

    fn diagnosed(log: &str) -> Diagnosis {
        diagnose(log, &LogFacts::default(), None)
    }

    fn of_kind(kind: FailureKind) -> Diagnosis {
        let mut diagnosis = diagnosed("");
        diagnosis.kind = kind;
        diagnosis
    }

    fn choose(
        diagnosis: &Diagnosis,
        current: &Probe,
        earlier: &[(Probe, Diagnosis)],
        around: &Surroundings,
    ) -> Fix {
        choose_fix(
            diagnosis,
            &History {
                current,
                earlier,
                surroundings: around,
                tail: "last words",
            },
        )
    }

    // Every fix in turn, until a person must act; each as the words or the address that it leads to; then
    // what that person shall do, with the command.
    fn all(diagnosis: &Diagnosis, probe: Probe, around: &Surroundings) -> (Vec<String>, String) {
        let mut current = probe;
        let mut earlier = Vec::new();
        let mut steps = Vec::new();
        loop {
            let changed = match choose(diagnosis, &current, &earlier, around) {
                Fix::Change { probe, .. } => probe,
                Fix::Person(advice) => return (steps, advice),
            };
            steps.push(match (changed.url(), &changed.target) {
                (Some(url), _) => url.to_owned(),
                (None, Target::Command(line)) => line.clone(),
                (None, Target::Server(server)) => server.command.join(" "),
            });
            earlier.push((current, diagnosis.clone()));
            current = changed;
            assert!(steps.len() < 20, "it ends: {steps:?}");
        }
    }

    fn set(names: &[&str]) -> std::collections::BTreeSet<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn r35_not_found_then_local() {
        let around = Surroundings {
            programs: set(&[]),
            local: [(
                "serve-it".to_owned(),
                "node_modules/.bin/serve-it".to_owned(),
            )]
            .into(),
        };
        let wrong = diagnosed("sh: serve-it: command not found\n");
        assert_eq!(wrong.kind, FailureKind::CommandNotFound);
        let (steps, last) = all(
            &wrong,
            server("{\"command\": \"serve-it\", \"args\": [\"-v\"]}"),
            &around,
        );
        assert_eq!(steps, ["node_modules/.bin/serve-it -v"]);
        assert!(last.starts_with("Install it"), "{last}");
        let (steps, _) = all(&wrong, command("serve-it && echo ok"), &around);
        assert_eq!(steps, ["node_modules/.bin/serve-it && echo ok"]);
    }

    #[test]
    fn conflict_10_never_runs_unknown_name() {
        let around = Surroundings {
            programs: set(&["npx", "uvx", "python3"]),
            ..Surroundings::default()
        };
        let wrong = diagnosed("sh: serve-it: command not found\n");
        let (steps, last) = all(&wrong, server("{\"command\": \"serve-it\"}"), &around);
        assert!(steps.is_empty(), "{steps:?}");
        assert!(last.starts_with("Install it"), "{last}");
        // It is there, but only named in the log.
        let around = Surroundings {
            local: [("evil".to_owned(), "node_modules/.bin/evil".to_owned())].into(),
            ..around
        };
        let wrong = diagnosed("sh: evil: command not found\n");
        let (steps, _) = all(&wrong, command("make test"), &around);
        assert!(steps.is_empty(), "{steps:?}");
    }

    #[test]
    fn r35_not_found_same_program_renamed() {
        let around = Surroundings {
            programs: set(&["python3"]),
            ..Surroundings::default()
        };
        let wrong = diagnosed("sh: python: command not found\n");
        let (steps, _) = all(&wrong, command("python -m x"), &around);
        assert_eq!(steps, ["python3 -m x"]);
        let wrong = diagnosed("sh: npx: command not found\n");
        let entry = "{\"command\": \"npx\", \"args\": [\"-y\", \"@a/server@1.2\", \"/tmp\"]}";
        let (steps, last) = all(&wrong, server(entry), &around);
        assert!(steps.is_empty() && last.starts_with("Install it"), "{last}");
    }

    #[test]
    fn r35_timeout_doubles_once() {
        let wrong = of_kind(FailureKind::Timeout);
        let first = server("{\"command\": \"npx\", \"args\": [\"-y\", \"x\"]}");
        let around = Surroundings::default();
        let Fix::Change { probe: longer, .. } = choose(&wrong, &first, &[], &around) else {
            panic!("twice the time comes first");
        };
        assert_eq!(longer.timeout, Duration::from_mins(1));
        match choose(&wrong, &longer, &[(first, wrong.clone())], &around) {
            Fix::Person(advice) => assert!(advice.contains("downloading"), "{advice}"),
            change @ Fix::Change { .. } => panic!("{change:?}"),
        }
    }

    #[test]
    fn r35_auth_is_never_automatic() {
        let wrong = of_kind(FailureKind::AuthFailed);
        let entry = "{\"url\": \"http://x\", \"headers\": {\"Authorization\": \"Bearer hidden\"}}";
        let (steps, last) = all(&wrong, server(entry), &Surroundings::default());
        assert!(steps.is_empty());
        assert!(last.contains("`Authorization`") && !last.contains("hidden"));
    }

    #[test]
    fn r35_transport_flips_between_stdio_and_http() {
        let wrong = of_kind(FailureKind::TransportMismatch);
        let around = Surroundings::default();
        for (entry, expected) in [
            (
                "{\"command\": \"srv\", \"type\": \"stdio\", \"url\": \"http://a/mcp\"}",
                &["http://a/mcp"][..],
            ),
            (
                "{\"command\": \"srv\", \"type\": \"sse\", \"url\": \"http://a/x\"}",
                &["srv"],
            ),
            ("{\"url\": \"http://a/sse\"}", &[]),
            ("{\"command\": \"http://a/mcp\"}", &[]),
            ("{\"command\": \"srv\"}", &[]),
        ] {
            let (steps, _) = all(&wrong, server(entry), &around);
            assert_eq!(steps, expected, "{entry}");
        }
    }

    #[test]
    fn r35_names_script_without_permission() {
        let around = Surroundings::default();
        let wrong = diagnosed("sh: ./tools/srv.py: Permission denied\n");
        assert_eq!(wrong.kind, FailureKind::PermissionDenied);
        let (steps, last) = all(&wrong, server("{\"command\": \"./tools/srv.py\"}"), &around);
        assert!(steps.is_empty());
        assert!(last.ends_with(" (`chmod +x ./tools/srv.py`)"), "{last}");
        let wrong = diagnosed(
            "npm error code EACCES\nnpm error Error: EACCES: permission denied, mkdir '/usr/lib/x'\n",
        );
        let (steps, _) = all(&wrong, command("npm install -g x"), &around);
        assert!(steps.is_empty());
    }

    #[test]
    fn r35_unknown_quotes_error() {
        let wrong = diagnosed("");
        let (steps, last) = all(&wrong, command("x"), &Surroundings::default());
        assert!(steps.is_empty());
        assert!(last.contains("last words"));
    }
}
