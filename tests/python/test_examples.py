# SPDX-License-Identifier: BSD-3-Clause
"""The scripts of examples/python give the other packages' numbers."""
import pathlib
import re
import subprocess
import sys

import functions
import needs

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "python"


def run(script):
    """Run a script; skip it, by name, where a package that it imports is missing."""
    imported = re.findall(r"^(?:import|from) (\w+)", script.read_text(encoding="utf-8"),
                          re.MULTILINE)
    for name in imported:
        needs.module(name)
    done = subprocess.run([sys.executable, "-B", script], text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0 and re.search(r"\d", done.stdout), f"{script.name}:\n{done.stdout}"


def test_listed():
    """The README names each script."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+\.py)`", text, re.MULTILINE)) == sorted(
        path.name for path in FOLDER.glob("*.py"))


for path in sorted(FOLDER.glob("*.py")):
    globals()[f"test_{path.stem}"] = lambda path=path: run(path)

if __name__ == "__main__":
    sys.exit(functions.main(globals()))
