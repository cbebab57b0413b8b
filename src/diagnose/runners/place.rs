use crate::diagnose::line::{Line, below};
use crate::runners::pattern;

/// A file as a log names it, and the line.
pub(in crate::diagnose) type Place = (String, Option<u32>);

/// A path below the checkout that common CI services and images use, else the text as it is.
pub(in crate::diagnose) fn relative(path: &str) -> String {
    pattern!(
        ROOT,
        r"^(?:file://)?(?:/__w/[^/]+/[^/]+/|/home/runner/work/[^/]+/[^/]+/|/Users/runner/work/[^/]+/[^/]+/|/home/travis/build/[^/]+/[^/]+/|/Users/travis/build/[^/]+/[^/]+/|/github/workspace/|/builds/[^/]+/[^/]+/|/workspaces?/(?:[^/]+/)?|/home/circleci/[^/]+/|/bitbucket/pipelines/agent/build/|/(?:usr/src/)?app/|[A-Za-z]:[\\/]a[\\/][^\\/]+[\\/][^\\/]+[\\/])"
    );
    let path = ROOT.replace(path, "").replace('\\', "/");
    path.strip_prefix("./").unwrap_or(&path).to_owned()
}

/// Whether a path is one of an installed package or of the runtime.
pub(in crate::diagnose) fn is_installed(path: &str) -> bool {
    pattern!(
        FOREIGN,
        r"^(?:node:|<)|(?:node_modules|site-packages|dist-packages|/hostedtoolcache|/usr/lib|/usr/local/lib|/\.npm|/\.cache|/\.pyenv|/\.nvm|/\.pnpm|/Lib|/\.venv|internal/modules|internal/process|/_work/_tool|/\.cargo/registry|/\.yarn|/rustc)/|/lib/python[23]|internal/timers"
    );
    FOREIGN.is_match(&path.replace('\\', "/"))
}

/// A frame of a Python traceback.
pub(super) fn python_frame(text: &str) -> Option<Place> {
    pattern!(FRAME, r#"^[\s|]*File "([^"]+)", line (\d+)"#);
    let found = text.contains(", line ").then(|| FRAME.captures(text))??;
    Some((found[1].to_owned(), found[2].parse().ok()))
}

/// The first own frame of a JavaScript stack below `from`, until a line that `ends` the report.
pub(in crate::diagnose) fn of_stack(
    lines: &[Line<'_>],
    from: usize,
    ends: impl Fn(&str) -> bool,
) -> Option<Place> {
    pattern!(
        FRAME,
        r"(?:^\s*at (?:.*\()?|^\s*❯ (?:.*\] |\S+ )?|^\s*\S*@)(?:file://)?((?:[A-Za-z]:)?[^\s():@][^():@]*?\.(?:[cm]?[jt]sx?|vue|svelte|coffee)):(\d+)(?::\d+)?"
    );
    below(lines, from, 60)
        .take_while(|text| !ends(text))
        .filter(|text| text.contains(':'))
        .find_map(|text| {
            let found = FRAME.captures(text)?;
            (!is_installed(&found[1])).then(|| (found[1].to_owned(), found[2].parse().ok()))
        })
}

/// The first own place of a report of Python: `tests/test_a.py:3: AssertionError`, or a frame.
pub(in crate::diagnose) fn of_python(lines: &[Line<'_>]) -> Option<Place> {
    pattern!(
        PLACE,
        r#"^(?:\s*File "(?<frame>[^"<>]+\.py)", line (?<at>\d+)|(?<path>\S+\.py):(?<line>\d+):)"#
    );
    lines.iter().find_map(|line| {
        let found = PLACE.captures(&line.text)?;
        let path = found.name("frame").or_else(|| found.name("path"))?.as_str();
        let number = found.name("at").or_else(|| found.name("line"))?.as_str();
        (!is_installed(path)).then(|| (path.to_owned(), number.parse().ok()))
    })
}
