//! What people write in place of a log.

use crate::support::{Repo, stderr, texts};

fn shop() -> Repo {
    Repo::with(&[
        ("shop/a_first.py", "def other():\n    return 1\n"),
        (
            "shop/cart.py",
            "from shop.money import round_money\n\n\ndef total(items):\n    return round_money(sum(items))\n",
        ),
        (
            "shop/money.py",
            "def round_money(amount):\n    \"\"\"Drops what is less than a cent.\"\"\"\n    return amount\n",
        ),
        (
            "tests/test_cart.py",
            "def test_total():\n    assert round_money(1) == 1\n",
        ),
    ])
}

#[test]
fn issue_words_choose_files() {
    let repo = shop();
    repo.write(
        "issue.md",
        "round_money keeps fractions\n\nCents are not dropped.\n",
    );
    for flag in ["--issue", "--task"] {
        let context = repo.context(&[flag, "issue.md"]);
        assert_eq!(context["level"], 2);
        let files = texts(&context["filesIncluded"], None);
        assert_eq!(
            files.first().map(String::as_str),
            Some("shop/money.py"),
            "{files:?}"
        );
        assert!(context["diagnosis"].is_null());
        let scores = context["files"][0]["scores"].as_object().unwrap();
        assert!(scores.contains_key("definitions"), "{scores:?}");
    }
    let prompt = repo.mendit(&["context", "--issue", "issue.md", "--format", "markdown"]);
    let prompt = String::from_utf8(prompt.stdout).unwrap();
    let wanted = prompt.find("Task").unwrap();
    assert!(
        prompt[wanted..].contains("Cents are not dropped."),
        "{prompt}"
    );
    let few = repo.context(&["--issue", "issue.md", "--max-tokens", "60"]);
    assert!(few["totalTokens"].as_u64().unwrap() <= 60);
}

#[test]
fn rejects_issue_as_log() {
    let repo = shop();
    repo.write("issue.md", " \n");
    let empty = repo.mendit(&["context", "--issue", "issue.md"]);
    assert_eq!(empty.status.code(), Some(2), "{}", stderr(&empty));
    assert!(stderr(&empty).contains("C320"));
    repo.write("log", "E   AssertionError\n");
    let both = repo.mendit(&["context", "--issue", "issue.md", "--log", "log"]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn masks_secret_in_issue() {
    let repo = shop();
    let token = ["ghp_", "0123456789abcdefABCDEF0123456789abcd"].concat();
    repo.write("issue.md", format!("round_money fails with {token}\n"));
    let prompt = repo.mendit(&["context", "--issue", "issue.md", "--format", "markdown"]);
    assert!(!String::from_utf8(prompt.stdout).unwrap().contains(&token));
}
