# SPDX-License-Identifier: BSD-3-Clause
"""kith bench: one file with what was asked, and tables of it."""
import json
import os
import sys

import cli


def test_file_and_tables():
    done = cli.run("bench", "--quick", "--no-peers", "--only", "flock,overlap", "--threads", "1",
                   "-o", "b.json")
    assert done.returncode == 0, done.stderr
    with open("b.json", encoding="utf-8") as file:
        data = json.load(file)
    assert data["peers"] == {} and {"machine", "build", "run"} < set(data)
    cases = {result["case"] for result in data["results"]}
    assert {"flock", "overlap"} <= cases and not cases & {"half", "fof", "short"}
    assert "a step of boids, 31 neighbours | 5,000 |" in done.stdout
    assert "b.json" in done.stdout and os.listdir(".") == ["b.json"]


def test_wrong_usage():
    cli.fails(2, "bench", "--only", "pears", says=["pears", "expected some of pairs,lists,fof"])
    cli.fails(2, "bench", "points.npy", says=["too many arguments"])
    cli.fails(2, "bench", "--points", "none", says=["--points"])
    cli.fails(1, "bench", "--quick", "--no-peers", "--only", "flock", "--threads", "0",
              says=["flock: failed", "nothing was measured"])


sys.exit(cli.main(globals()))
