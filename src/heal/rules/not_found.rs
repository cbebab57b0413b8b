use crate::heal::gather::program_of;
use crate::heal::{Fix, History, Probe};
use crate::model::Diagnosis;

/// The program is not there: other ways to the same program, or to the package that the
/// configuration itself names.
pub(super) fn not_found(diagnosis: &Diagnosis, history: &History<'_>) -> Vec<Fix> {
    let probe = history.current;
    let words = probe.words();
    let Some(&program) = words.first() else {
        return vec![Fix::person(diagnosis.suggested_fix.clone())];
    };
    let meant = diagnosis.evidence.is_empty()
        || diagnosis
            .evidence
            .iter()
            .any(|line| line.text.contains(program));
    if !meant {
        // A name that only the log knows is never run.
        return vec![Fix::person(format!(
            "A program that `{program}` starts is not installed: {}",
            first_line(diagnosis)
        ))];
    }
    let mut fixes = renamed(probe, program, history);
    match RUNNERS.iter().find(|runner| runner.name == program) {
        Some(runner) => fixes.extend(other_runners(probe, runner, &words, history)),
        None => fixes.extend(ways_to(probe, program, history)),
    }
    fixes.push(install(program, history));
    fixes
}

// The same program under its other name.
fn renamed(probe: &Probe, program: &str, history: &History<'_>) -> Vec<Fix> {
    let other = NAMES.iter().find(|(name, _)| *name == program);
    let other = other.filter(|(_, other)| history.surroundings.programs.contains(*other));
    let fix = |other| {
        let changed = probe.with_front(1, &[other])?;
        Some(Fix::change(
            format!("Start `{other}` in place of `{program}`"),
            changed,
        ))
    };
    other
        .and_then(|(_, other)| fix(other))
        .into_iter()
        .collect()
}

const NAMES: &[(&str, &str)] = &[
    ("python", "python3"),
    ("python3", "python"),
    ("node", "nodejs"),
    ("pip", "pip3"),
];

struct Runner {
    name: &'static str,
    /// Others that take the same package from the same registry.
    others: &'static [&'static [&'static str]],
    python: bool,
}

const RUNNERS: &[Runner] = &[
    Runner {
        name: "npx",
        others: &[&["bunx"], &["pnpm", "dlx"]],
        python: false,
    },
    Runner {
        name: "bunx",
        others: &[&["npx", "-y"], &["pnpm", "dlx"]],
        python: false,
    },
    Runner {
        name: "uvx",
        others: &[&["pipx", "run"]],
        python: true,
    },
    Runner {
        name: "pipx",
        others: &[&["uvx"]],
        python: true,
    },
];

// The configuration names a package and who shall run it; the runner is missing.
fn other_runners(
    probe: &Probe,
    runner: &Runner,
    words: &[&str],
    history: &History<'_>,
) -> Vec<Fix> {
    let around = history.surroundings;
    let after = words.iter().enumerate().skip(1);
    let named = after
        .filter(|(_, word)| !word.starts_with('-') && **word != "run")
        .map(|(at, word)| (at, *word));
    let Some((at, package)) = named.into_iter().next() else {
        return Vec::new();
    };
    let mut fixes = Vec::new();
    let mut add = |description: String, front: &[&str]| {
        fixes.extend(
            probe
                .with_front(at + 1, front)
                .map(|it| Fix::change(description, it)),
        );
    };
    if let Some(file) = around.local.get(program_of(package)) {
        add(format!("Start `{file}`, which is installed here"), &[file]);
    }
    for other in runner.others {
        if other
            .first()
            .is_some_and(|name| around.programs.contains(*name))
        {
            let front = [*other, &[package]].concat();
            add(
                format!("Run `{package}` with `{}`", other.join(" ")),
                &front,
            );
        }
    }
    if runner.python
        && around.has_python(program_of(package))
        && let Some(python) = around.program(&["python3", "python"])
    {
        let module = program_of(package).replace('-', "_");
        add(
            format!("Run the module `{module}`"),
            &[python, "-m", &module],
        );
    }
    fixes
}

// The configuration names a program. A package of that name is taken only when a manifest or a lock
// names it too: whoever owns the name in a registry is otherwise unknown.
fn ways_to(probe: &Probe, program: &str, history: &History<'_>) -> Vec<Fix> {
    let around = history.surroundings;
    let name = program_of(program);
    let mut fixes = Vec::new();
    let mut add = |description: String, front: &[&str]| {
        fixes.extend(
            probe
                .with_front(1, front)
                .map(|it| Fix::change(description, it)),
        );
    };
    let bare = !program.contains('/');
    if bare && around.npm.contains(program) && around.programs.contains("npx") {
        let message = format!("Run `{program}` of package.json with npx");
        add(message, &["npx", "--no-install", program]);
    }
    if let Some(file) = around.local.get(name) {
        add(format!("Start `{file}`, which is installed here"), &[file]);
    }
    if let Some(file) = around.elsewhere.get(name) {
        add(
            format!("Start `{file}`, which is not on the search path"),
            &[file],
        );
    }
    if bare && around.has_python(name) {
        if around.programs.contains("uvx") {
            add(
                format!("Run `{name}` of the manifest with uvx"),
                &["uvx", name],
            );
        }
        if let Some(python) = around.program(&["python3", "python"]) {
            let module = name.replace('-', "_");
            add(
                format!("Run the module `{module}`"),
                &[python, "-m", &module],
            );
        }
    }
    fixes
}

fn install(program: &str, history: &History<'_>) -> Fix {
    let around = history.surroundings;
    let name = program_of(program);
    if around.npm.contains(name) {
        let message = format!("`{name}` is in package.json and not installed: run your installer");
        return Fix::person(message).run("npm install");
    }
    if around.has_python(name) {
        let message = format!("`{name}` is in the manifest and not installed: run your installer");
        return Fix::person(message).run("pip install -r requirements.txt");
    }
    let known = INSTALLS.iter().find(|(known, _)| *known == name);
    Fix::person(match known {
        Some((_, from)) => format!("`{name}` is not installed: it comes with {from}"),
        None => format!(
            "`{program}` is not installed, and no manifest of the project names it: install it if \
             you trust it, or correct the command"
        ),
    })
}

const INSTALLS: &[(&str, &str)] = &[
    ("npx", "Node.js"),
    ("npm", "Node.js"),
    ("node", "Node.js"),
    ("bunx", "Bun"),
    ("uvx", "uv"),
    ("uv", "uv"),
    ("pipx", "pipx"),
    ("python3", "Python"),
    ("python", "Python"),
    ("docker", "Docker"),
    ("deno", "Deno"),
];

fn first_line(diagnosis: &Diagnosis) -> &str {
    let line = diagnosis.evidence.first();
    line.map_or(diagnosis.explanation.as_str(), |line| line.text.as_str())
}
