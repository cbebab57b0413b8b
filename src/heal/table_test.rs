//! The table of fixes, row by row, as R35 has it.

use std::time::Duration;

use super::{ComposePort, Fix, History, Probe, ServerConfig, Surroundings, Target, next};
use crate::diagnose::{LogFacts, diagnose};
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

fn said(log: &str) -> Diagnosis {
    diagnose(log, &LogFacts::default(), None)
}

fn of_kind(kind: FailureKind) -> Diagnosis {
    let mut diagnosis = said("");
    diagnosis.kind = kind;
    diagnosis
}

fn choose(
    diagnosis: &Diagnosis,
    current: &Probe,
    earlier: &[(Probe, Diagnosis)],
    around: &Surroundings,
) -> Fix {
    next(
        diagnosis,
        &History {
            current,
            earlier,
            surroundings: around,
            said_urls: &[],
            tail: "last words",
        },
    )
}

// Every fix in turn, until a person must act; each as the words or the address that it leads to.
fn all(diagnosis: &Diagnosis, probe: Probe, around: &Surroundings) -> (Vec<String>, Fix) {
    let mut current = probe;
    let mut earlier = Vec::new();
    let mut steps = Vec::new();
    loop {
        let fix = choose(diagnosis, &current, &earlier, around);
        let Some(changed) = fix.new_config.clone() else {
            assert!(fix.requires_user_action, "R38: {}", fix.description);
            return (steps, fix);
        };
        assert!(!fix.requires_user_action, "R38: {}", fix.description);
        steps.push(match (changed.url(), &changed.target) {
            (Some(url), _) => url.to_owned(),
            (None, Target::Command(line)) => line.clone(),
            (None, Target::Server(it)) => it.command.join(" "),
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
fn r35_not_found_npx_then_local_then_uvx_then_module() {
    let around = Surroundings {
        programs: set(&["npx", "uvx", "python3"]),
        local: [(
            "serve-it".to_owned(),
            "node_modules/.bin/serve-it".to_owned(),
        )]
        .into(),
        npm: set(&["serve-it"]),
        python: set(&["serve-it"]),
        ..Surroundings::default()
    };
    let wrong = said("sh: serve-it: command not found\n");
    assert_eq!(wrong.kind, FailureKind::CommandNotFound);
    let (steps, last) = all(
        &wrong,
        server("{\"command\": \"serve-it\", \"args\": [\"-v\"]}"),
        &around,
    );
    assert_eq!(
        steps,
        [
            "npx --no-install serve-it -v",
            "node_modules/.bin/serve-it -v",
            "uvx serve-it -v",
            "python3 -m serve_it -v",
        ]
    );
    assert_eq!(last.install_command.as_deref(), Some("npm install"));
    let (steps, _) = all(&wrong, command("serve-it && echo ok"), &around);
    assert_eq!(steps[1], "node_modules/.bin/serve-it && echo ok");
}

#[test]
fn conflict_10_a_name_that_no_manifest_knows_is_never_run() {
    let around = Surroundings {
        programs: set(&["npx", "uvx", "python3"]),
        ..Surroundings::default()
    };
    let wrong = said("sh: serve-it: command not found\n");
    let (steps, last) = all(&wrong, server("{\"command\": \"serve-it\"}"), &around);
    assert!(steps.is_empty(), "{steps:?}");
    assert!(
        last.description.contains("no manifest"),
        "{}",
        last.description
    );
    // The manifest knows it, but only the log names it.
    let around = Surroundings {
        npm: set(&["evil"]),
        ..around
    };
    let wrong = said("sh: evil: command not found\n");
    let (steps, _) = all(&wrong, command("make test"), &around);
    assert!(steps.is_empty(), "{steps:?}");
}

#[test]
fn r35_not_found_another_runner_takes_the_same_package() {
    let around = Surroundings {
        programs: set(&["pnpm", "pipx", "python3"]),
        ..Surroundings::default()
    };
    let wrong = said("sh: npx: command not found\n");
    let entry = "{\"command\": \"npx\", \"args\": [\"-y\", \"@a/server@1.2\", \"/tmp\"]}";
    let (steps, last) = all(&wrong, server(entry), &around);
    assert_eq!(steps, ["pnpm dlx @a/server@1.2 /tmp"]);
    assert!(last.description.contains("Node.js"));
    let wrong = said("sh: uvx: command not found\n");
    let (steps, _) = all(
        &wrong,
        server("{\"command\": \"uvx\", \"args\": [\"srv\"]}"),
        &around,
    );
    assert_eq!(steps, ["pipx run srv"]);
    let wrong = said("sh: python: command not found\n");
    let (steps, _) = all(&wrong, command("python -m x"), &around);
    assert_eq!(steps, ["python3 -m x"]);
}

#[test]
fn r35_refused_reads_the_port_of_the_compose_file() {
    let row = |service: &str, published, target| ComposePort {
        service: service.to_owned(),
        published,
        target,
    };
    let around = Surroundings {
        compose: vec![row("db", 5432, 5432), row("web", 8080, 3000)],
        ..Surroundings::default()
    };
    let wrong = said("Error: connect ECONNREFUSED 127.0.0.1:3000\n");
    assert_eq!(wrong.kind, FailureKind::ConnectionRefused);
    let (steps, last) = all(
        &wrong,
        server("{\"url\": \"http://localhost:3000/mcp\"}"),
        &around,
    );
    assert_eq!(steps, ["http://localhost:8080/mcp"]);
    assert!(last.requires_user_action);
    let (steps, _) = all(
        &wrong,
        server("{\"url\": \"http://elsewhere.example:3000/mcp\"}"),
        &around,
    );
    assert!(
        steps.is_empty(),
        "another machine's ports are not ours: {steps:?}"
    );
    let wrong = said("Error: connect ECONNREFUSED 127.0.0.1:5432\n");
    let (_, last) = all(&wrong, command("npm test"), &around);
    assert_eq!(
        last.install_command.as_deref(),
        Some("docker compose up -d db")
    );
}

#[test]
fn r35_timeout_doubles_once_then_looks_at_dependencies() {
    let wrong = of_kind(FailureKind::Timeout);
    let first = server("{\"command\": \"npx\", \"args\": [\"-y\", \"x\"]}");
    let around = Surroundings::default();
    let fix = choose(&wrong, &first, &[], &around);
    let longer = fix.new_config.unwrap();
    assert_eq!(longer.timeout, Duration::from_mins(1));
    let fix = choose(&wrong, &longer, &[(first, wrong.clone())], &around);
    assert!(fix.requires_user_action && fix.description.contains("downloading"));
}

#[test]
fn r35_auth_is_never_automatic() {
    let wrong = of_kind(FailureKind::AuthFailed);
    let entry = "{\"url\": \"http://x\", \"headers\": {\"Authorization\": \"Bearer hidden\"}}";
    let (steps, last) = all(&wrong, server(entry), &Surroundings::default());
    assert!(steps.is_empty());
    assert!(last.description.contains("`Authorization`") && !last.description.contains("hidden"));
}

#[test]
fn r35_a_missing_variable_is_looked_for_by_name() {
    let around = Surroundings {
        examples: [(".env.example".to_owned(), set(&["GITHUB_TOKEN"]))].into(),
        env_file: set(&["GH_TOKEN", "DATABASE_URL"]),
        ..Surroundings::default()
    };
    let wrong = said("start.sh: line 2: GITHUB_TOKEN: parameter not set\n");
    assert_eq!(wrong.kind, FailureKind::MissingEnvVar);
    let (steps, last) = all(&wrong, command("./start.sh"), &around);
    assert!(steps.is_empty());
    assert_eq!(last.env_var_hint.as_deref(), Some("GITHUB_TOKEN"));
    let expected = "Set `GITHUB_TOKEN`, which stands in .env.example; .env has `GH_TOKEN`";
    assert_eq!(last.description, expected);
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
        ("{\"url\": \"http://a/sse\"}", &["http://a/mcp"]),
        ("{\"url\": \"http://a\"}", &["http://a/mcp"]),
        ("{\"command\": \"http://a/mcp\"}", &["http://a/mcp"]),
        ("{\"command\": \"srv\"}", &[]),
    ] {
        let (steps, _) = all(&wrong, server(entry), &around);
        assert_eq!(steps, expected, "{entry}");
    }
}

#[test]
fn r35_a_script_that_may_not_be_run_goes_through_its_interpreter() {
    let around = Surroundings {
        programs: set(&["python3"]),
        ..Surroundings::default()
    };
    let wrong = said("sh: ./tools/srv.py: Permission denied\n");
    assert_eq!(wrong.kind, FailureKind::PermissionDenied);
    let (steps, last) = all(&wrong, server("{\"command\": \"./tools/srv.py\"}"), &around);
    assert_eq!(steps, ["python3 ./tools/srv.py"]);
    assert!(last.requires_user_action);
    let wrong = said(
        "npm error code EACCES\nnpm error Error: EACCES: permission denied, mkdir '/usr/lib/x'\n",
    );
    let (steps, _) = all(&wrong, command("npm install -g x"), &around);
    assert!(steps.is_empty());
}

#[test]
fn r35_unknown_gives_the_raw_error_and_its_context() {
    let wrong = said("");
    let (steps, last) = all(&wrong, command("x"), &Surroundings::default());
    assert!(steps.is_empty());
    assert!(last.description.contains("last words"));
}
