//! The example agents of `scripts/examples`.
#![cfg(unix)]

use std::path::Path;

use crate::support::{Repo, command, needs, stderr};

#[test]
fn example_agents_fix_repository() {
    needs!("python3");
    let broken = "def total(items):\n    result = sum(items)\n    return resutl\n";
    let test = "import shop\nassert shop.total([1, 2]) == 3\n";
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/examples");
    for (program, script, protocol) in [("python3", "agent.py", "json"), ("sh", "agent.sh", "edit")]
    {
        let repo = Repo::with(&[("shop.py", broken), ("test_shop.py", test)]);
        let agent = format!("{program} '{}'", scripts.join(script).display());
        let words = ["repair", "--no-heal", "--test", "python3 test_shop.py"];
        let mut repair = command(&repo.root(), &words);
        repair.args(["--agent", &agent, "--agent-protocol", protocol, "--apply"]);
        repair.env("XDG_CACHE_HOME", repo.outside().join("cache"));
        let output = repair.output().unwrap();
        assert!(output.status.success(), "{script}: {}", stderr(&output));
        let fixed = std::fs::read_to_string(repo.root().join("shop.py")).unwrap();
        assert_eq!(fixed, broken.replace("resutl", "result"), "{script}");
        assert_eq!(repo.git(&["status", "--porcelain"]), " M shop.py\n");
    }
}
