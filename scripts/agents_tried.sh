#!/usr/bin/env bash
# Tries each agent that is installed here and that `--agent` knows by name against a model on this
# machine (scripts/fake_model.py): its flags are accepted, its edit arrives, it may run the failing command, its
# usage is reported. No login, no network, a separate home. A refusing service is reported as such. Then the files of
# `mendit init`, where it knows the agent: the model makes it run a failing and a passing test command, and its next
# prompt is read. Cursor's has no address to set and is not tried.
#   MENDIT=target/release/mendit scripts/agents_tried.sh [NAME...]
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mendit=$(readlink -f "${MENDIT:-$here/../target/release/mendit}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" && ln -s "$mendit" "$work/bin/mendit"
export PATH=$work/bin:$PATH HOME=$work/home XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
mkdir -p "$HOME/.codex" "$HOME/.config/opencode" "$HOME/.gemini"
[ $# -gt 0 ] || set -- aider claude codex copilot gemini llm opencode qwen

# The model's address, in variables and in the files of those that take it from there alone.
addressed() {
    until [ -s "$work/url" ]; do sleep 0.1; done
    url=$(cat "$work/url")
    export ANTHROPIC_API_KEY=k OPENAI_API_KEY=k GEMINI_API_KEY=k ANTHROPIC_BASE_URL=$url \
        OPENAI_BASE_URL=$url/v1 OPENAI_API_BASE=$url/v1 OPENAI_MODEL=gpt-4o GOOGLE_GEMINI_BASE_URL=$url \
        COPILOT_PROVIDER_BASE_URL=$url/v1 COPILOT_MODEL=gpt-4.1
    printf 'model = "m"\nmodel_provider = "here"\n[model_providers.here]\nname = "here"\nbase_url = "%s/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n[projects."%s"]\ntrust_level = "trusted"\n' "$url" "$PWD" >"$HOME/.codex/config.toml"
    printf '{"model":"anthropic/claude-sonnet-4-5","provider":{"anthropic":{"options":{"baseURL":"%s/v1"}}}}' "$url" >"$HOME/.config/opencode/opencode.json"
}

# Prints how much of a test command's log is in the agent's next prompt, in bytes, and whether it was announced.
hooked() {
    python3 "$here/fake_model.py" --run "python3 -m unittest -v test_total" - "$work/asked" >"$work/url" &
    model=$!
    addressed
    case $1 in
    claude) set -- claude -p "Run the tests." --allowedTools Bash ;;
    codex) set -- codex exec --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust "Run the tests." ;;
    gemini) set -- env GEMINI_CLI_TRUST_WORKSPACE=true gemini -p "Run the tests." --yolo ;;
    opencode) set -- opencode run "Run the tests." ;;
    esac
    timeout 150 "$@" </dev/null >/dev/null 2>&1
    kill "$model"
    : >"$work/url"
    python3 - "$work/asked" <<'END'
import json, sys

rows = [json.loads(line) for line in open(sys.argv[1])]
texts = []

def walk(it):
    if isinstance(it, str):
        texts.append(it)
    for inner in it.values() if isinstance(it, dict) else it if isinstance(it, list) else ():
        walk(inner)

walk([row["body"] for row in rows][-1])
told = [it for it in texts if "log as it was handed over: " in it or "its log: " in it]
log = [it for it in texts if "test_000_that_says_nothing" in it]
print(f"{'told' if told else 'NOT TOLD'} in {sum(map(len, told))} bytes, {sum(map(len, log))} of the log")
END
    rm -f "$work/asked"
}

failed=0
for name in "$@"; do
    command -v "$name" >/dev/null || { echo "$name: not installed, not tried"; continue; }
    repo=$work/$name
    mkdir -p "$repo" && cd "$repo" && git init -q .
    printf 'def total(a, b):\n    return a - b\n' >total.py
    cat >test_total.py <<'END'
import unittest
from total import total
class T(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total(2, 3), 5)
for n in range(200):
    setattr(T, f"test_{n:03}_that_says_nothing", lambda self: None)
if __name__ == "__main__":
    unittest.main()
END
    git add -A && git -c user.name=a -c user.email=a@b.example commit -qm x
    FAKE_THEN='python3 test_total.py' python3 "$here/fake_model.py" "$repo/total.py" '    return a - b' '    return a + b' "$work/asked" >"$work/url" &
    model=$!
    addressed
    echo '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' >"$HOME/.gemini/settings.json"
    said=$("$mendit" repair --no-heal --max-attempts 1 --agent-timeout 120 --agent "$name" \
        --test 'python3 test_total.py' 2>/dev/null | head -1)
    kill "$model"
    : >"$work/url"
    took=$("$mendit" report --format json 2>/dev/null | python3 -c '
import json, sys
told = json.load(sys.stdin).get("usage") or {}
print(told.get("inputTokens", 0) + told.get("outputTokens", 0), "tokens,", told.get("costUsd"), "dollars")')
    runs=$(grep -c "Ran 201 tests" "$work/asked")
    rm -f "$work/asked"
    echo "$name $("$name" --version 2>/dev/null | grep -m1 '[0-9]'): $said; $took; saw the command run in $runs prompts"
    [[ $said == fixed* ]] || failed=1
    for status in 401 429 529; do
        git checkout -q . && FAKE_STATUS=$status python3 "$here/fake_model.py" "$repo/total.py" - - >"$work/url" &
        model=$!
        addressed
        said=$("$mendit" repair --no-heal --max-attempts 1 --agent-timeout 40 --agent "$name" \
            --test 'python3 test_total.py' 2>/dev/null | sed -n '/agent/p' | head -1)
        kill "$model"
        : >"$work/url"
        echo "$name $status: $said"
    done
    case $name in claude | codex | gemini | opencode) ;; *) continue ;; esac
    "$mendit" init "$name" >/dev/null || failed=1
    for sign in - +; do
        printf 'def total(a, b):\n    return a %s b\n' "$sign" >total.py
        said=$(hooked "$name")
        echo "$name $([ $sign = - ] && echo red || echo green): $said"
        [[ $said == told* ]] || failed=1
    done
done
exit $failed
