#!/bin/sh
# Runs a test command under mendit, on any CI, and reports its failure.
#
#   INPUT_TEST            the command, a line for the shell
#   INPUT_REPAIR          true: try to make it pass (mendit repair) instead of only running it
#   INPUT_AGENT, INPUT_AGENT_PROTOCOL, INPUT_AGENT_ENV   the agent of a repair, variables it needs
#   INPUT_ENV             names of variables that the command needs
#   INPUT_TIMEOUT         seconds for one run of the command
#   INPUT_OUT             the run's folder, mendit-run if not given
#
# The run's folder gets a summary.md. On GitHub it is shown with the job, and the failure at its
# line. A commit whose tests fail stays red even when a patch was found: exit 0 is for tests that
# pass, every other code is that of mendit.
set -u
out=${INPUT_OUT:-mendit-run}
# A workspace that is kept between jobs holds the folder of an earlier run, which is none of ours.
[ ! -e "$out" ] || out=$out-$(date -u +%Y%m%dT%H%M%S)-$$
repair=${INPUT_REPAIR:-false}

set -- --out "$out"
for name in ${INPUT_ENV:-}; do set -- "$@" --env "$name"; done
if [ -n "${INPUT_TIMEOUT:-}" ]; then set -- "$@" --timeout "$INPUT_TIMEOUT"; fi
if [ "$repair" = true ]; then
    for name in ${INPUT_AGENT_ENV:-}; do set -- "$@" --agent-env "$name"; done
    if [ -n "${INPUT_AGENT:-}" ]; then
        set -- "$@" --agent "$INPUT_AGENT" --agent-protocol "${INPUT_AGENT_PROTOCOL:-json}"
    fi
    mendit repair "$@" --test "${INPUT_TEST:?}"
else
    mendit run "$@" -- sh -c "${INPUT_TEST:?}"
fi
code=$?

status=passed
[ "$code" -eq 0 ] || status=failed
log=$out/test.log
[ -f "$log" ] || log=$out/baseline.log
if [ -s "$out/final.patch" ] && [ "$code" -eq 0 ]; then
    status=fixed
    code=1
fi
if [ "$status" = passed ] || [ ! -f "$log" ]; then
    folder=
else
    folder=$out
    if [ "$repair" = true ]; then
        mendit report "$out" --format markdown >"$out/summary.md"
    else
        # Indented, so nothing in a log ends the block.
        { printf '## mendit: failed\n\n' && mendit diagnose "$log" | sed 's/^/    /'; } >"$out/summary.md"
    fi
    if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then cat "$out/summary.md" >>"$GITHUB_STEP_SUMMARY"; fi
    if [ "${GITHUB_ACTIONS:-}" = true ]; then mendit diagnose "$log" --format github; fi
fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    printf 'status=%s\nfolder=%s\nexit-code=%s\n' "$status" "$folder" "$code" >>"$GITHUB_OUTPUT"
fi
exit "$code"
