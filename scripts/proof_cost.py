#!/usr/bin/env python3
"""What the report that pytest is asked for costs, side by side on one suite of about five seconds.

    proof_cost.py [--python PYTHON] [--runs N] [--tests N]

Prints the median wall and CPU time with and without the report. What decides is CPU time, which other work
on the machine does not change: exit code 1 when the report takes more than 5 % of five seconds.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--tests", type=int, default=500)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        body = "import time\nimport pytest\n\n\n@pytest.mark.parametrize('n', range(%d))\ndef test_n(n):\n    time.sleep(%f)\n"
        pathlib.Path(folder, "test_slow.py").write_text(body % (options.tests, 4.5 / options.tests))
        walls, spent = {False: [], True: []}, {False: [], True: []}
        for _ in range(options.runs):
            for asked in (False, True):
                environment = dict(os.environ)
                if asked:
                    environment["PYTEST_ADDOPTS"] = f"--junitxml='{folder}/report.xml'"
                started, before = time.monotonic(), cpu()
                words = [options.python, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder]
                subprocess.run(words, env=environment, check=True, capture_output=True)
                walls[asked].append(time.monotonic() - started)
                spent[asked].append(cpu() - before)
    for name, took in (("wall", walls), ("CPU", spent)):
        plain, asked = statistics.median(took[False]), statistics.median(took[True])
        print(f"{options.tests} tests, {name}: {plain:.2f} s without a report, {asked:.2f} s with it")
    share = (asked - plain) / 5
    print(f"the report takes {share:.1%} of five seconds")
    return int(share > 0.05)


def cpu():
    times = os.times()
    return times.children_user + times.children_system


if __name__ == "__main__":
    sys.exit(main())
