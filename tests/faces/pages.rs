//! The page of a run as a browser shows it.

use crate::support;
use std::path::Path;
use std::process::Command;

use crate::support::Repo;

#[test]
fn a_browser_shows_a_run() {
    let Some(browser) = browser() else {
        return;
    };
    let repo = Repo::with(&[
        ("a.sh", "A=41\n"),
        (
            "check.sh",
            ". ./a.sh; [ $A = 42 ] || { echo 'AssertionError: <b>41</b> != 42'; exit 1; }\n",
        ),
    ]);
    let reply = repo.outside().join("reply.diff");
    std::fs::write(
        &reply,
        "--- a/a.sh\n+++ b/a.sh\n@@ -1 +1 @@\n-A=41\n+A=42\n",
    )
    .unwrap();
    let agent = format!("cat {}", reply.display());
    let run = repo.outside().join("run");
    let run = run.to_str().unwrap();
    let arguments = ["repair", "--test", "sh check.sh", "--agent", &agent];
    let protocol = ["--agent-protocol", "prompt", "--out", run];
    let mut repair = support::command(&repo.root(), &[&arguments[..], &protocol].concat());
    repair.env("XDG_CACHE_HOME", repo.outside().join("cache"));
    let output = repair.output().unwrap();
    assert!(output.status.success(), "{}", support::stderr(&output));
    let page = repo.mendit(&["report", run, "--format", "html"]).stdout;
    let page_file = repo.outside().join("run.html");
    std::fs::write(&page_file, page).unwrap();

    let shown = dom(&browser, &page_file, repo.outside());
    // The browser has read it as elements, and nothing of the log as markup.
    for expected in [
        "<h1 class=\"good\">fixed</h1>",
        "<ins>+A=42</ins>",
        "<del>-A=41</del>",
        "<td class=\"rung kept\">",
    ] {
        assert!(shown.contains(expected), "{expected} is not in {shown}");
    }
    assert!(shown.contains("&lt;b&gt;41&lt;/b&gt;"), "{shown}");
}

fn browser() -> Option<String> {
    let found = ["chromium", "chromium-browser", "google-chrome", "chrome"]
        .into_iter()
        .find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        crate::support::skip("no Chromium");
    }
    found.map(str::to_owned)
}

fn dom(browser: &str, page: &Path, directory: &Path) -> String {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args([
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .args(["--disable-sync", "--disable-quic", "--dump-dom"])
        .arg(format!(
            "--user-data-dir={}",
            directory.join("profile").display()
        ))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
