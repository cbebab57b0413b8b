#!/bin/sh
# CPU seconds and memory of `mendit diagnose` on a log of MB megabytes, made of whole logs over and
# over: scripts/big_log.sh BIN MB LOG...
set -eu
bin=$1 megabytes=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
size=0
while [ "$size" -lt $((megabytes * 1000000)) ]; do
    cat "$@" >>"$folder/log"
    size=$(wc -c <"$folder/log")
done
python3 - "$bin" "$folder/log" <<'PYTHON'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "diagnose", sys.argv[2]], stdout=subprocess.DEVNULL, check=False)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"{used.ru_utime + used.ru_stime:.2f} s CPU, {used.ru_maxrss // 1024} MB")
PYTHON
