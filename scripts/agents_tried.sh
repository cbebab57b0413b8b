#!/usr/bin/env bash
# Tries each agent that is installed here and that `--agent` knows by name against a model on this
# machine (scripts/fake_model.py): its flags are taken, its edit arrives, its answer is read. No login,
# no network, a home of its own. Cursor's has no address to set and is not tried.
#   MENDIT=target/release/mendit scripts/agents_tried.sh [NAME...]
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
mendit=$(readlink -f "${MENDIT:-$here/../target/release/mendit}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work/home XDG_STATE_HOME=$work/state XDG_CACHE_HOME=$work/cache
mkdir -p "$HOME/.codex" "$HOME/.config/opencode" "$HOME/.gemini"
[ $# -gt 0 ] || set -- aider claude codex copilot gemini llm opencode qwen
failed=0
for name in "$@"; do
    command -v "$name" >/dev/null || { echo "$name: not installed, not tried"; continue; }
    repo=$work/$name
    mkdir -p "$repo" && cd "$repo" && git init -q .
    printf 'def total(a, b):\n    return a - b\n' >total.py
    printf 'import unittest\nfrom total import total\nclass T(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(total(2, 3), 5)\nunittest.main()\n' >test_total.py
    git add -A && git -c user.name=a -c user.email=a@b.example commit -qm x
    python3 "$here/fake_model.py" "$repo/total.py" '    return a - b' '    return a + b' >"$work/url" &
    model=$!
    until [ -s "$work/url" ]; do sleep 0.1; done
    url=$(cat "$work/url")
    export ANTHROPIC_API_KEY=k OPENAI_API_KEY=k GEMINI_API_KEY=k ANTHROPIC_BASE_URL=$url \
        OPENAI_BASE_URL=$url/v1 OPENAI_API_BASE=$url/v1 OPENAI_MODEL=gpt-4o GOOGLE_GEMINI_BASE_URL=$url \
        COPILOT_PROVIDER_BASE_URL=$url/v1 COPILOT_MODEL=gpt-4.1
    # Those that take their address from a file alone.
    printf 'model = "m"\nmodel_provider = "here"\n[model_providers.here]\nname = "here"\nbase_url = "%s/v1"\nwire_api = "responses"\nenv_key = "OPENAI_API_KEY"\n' "$url" >"$HOME/.codex/config.toml"
    printf '{"model":"anthropic/claude-sonnet-4-5","provider":{"anthropic":{"options":{"baseURL":"%s/v1"}}}}' "$url" >"$HOME/.config/opencode/opencode.json"
    echo '{"security":{"auth":{"selectedType":"gemini-api-key"}}}' >"$HOME/.gemini/settings.json"
    said=$("$mendit" repair --no-heal --max-attempts 1 --agent-timeout 120 --agent "$name" \
        --test 'python3 test_total.py' 2>/dev/null | head -1)
    kill "$model"
    : >"$work/url"
    echo "$name $("$name" --version 2>/dev/null | grep -m1 '[0-9]'): $said"
    [[ $said == fixed* ]] || failed=1
done
exit $failed
