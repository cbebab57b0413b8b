use crate::support::Repo;

// What scripts call: a command, and the flags that its help names.
const CONTRACT: &str = "
run: --timeout --idle-timeout --grace --max-output --env --sandbox --no-net --retry-flaky --no-why --brief --keep-exit-code --out
why: --since --budget-seconds --max-runs --env --sandbox --format
fix: --test --agent --agent-protocol --agent-timeout --timeout --max-attempts --max-level --include-repo-bundle --task --split-only --budget-seconds --budget-usd --undo --yes --out --resume --profile --no-auto-split --no-heal
check: -R --three-way --strict --as-written --rev --index -p --directory --allow-protected --tests --output --batch --format
apply: -R --three-way --cached --tree --commit --recover --dry-run --allow-protected --tests
context: --log --issue --failure --test-command --level --stop-reason --previous --request --request-path --include-repo-bundle --rev --diff --profile --max-files --max-file-bytes --max-total-bytes --max-tokens --allow --deny --out --format
diagnose: --junit --exit-code --command --format
hint: --file --log --fix --apply --format
imports: --hops --reverse --graph --symbols --changed --tests --rev --format
doctor: --test --mcp --server --auto --max-attempts --timeout
bench: --agent --max-level --baseline --save --min-rate --partition --jobs --predictions --format
report: --since --alert-rate --format
mcp: --allow-write --run-last
init: --dry-run --remove
redact: --findings --env
";

#[test]
fn help_of_commands_names_flags_of_the_contract() {
    let repo = Repo::with(&[]);
    let mut missing = Vec::new();
    for line in CONTRACT.trim().lines() {
        let (command, flags) = line.split_once(": ").unwrap();
        let help = String::from_utf8(repo.mendit(&[command, "--help"]).stdout).unwrap();
        let words: Vec<&str> = help.split([' ', ',', '\n', '[']).collect();
        let lacks = flags.split(' ').filter(|flag| !words.contains(flag));
        missing.extend(lacks.map(|flag| format!("{command} {flag}")));
    }
    assert_eq!(missing, [""; 0]);
}
