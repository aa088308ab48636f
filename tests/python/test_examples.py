# SPDX-License-Identifier: BSD-3-Clause
"""The scripts of examples/python give the other packages' numbers, and so do the notebooks made of
them."""
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import functions
import needs

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "python"


found = importlib.util.spec_from_file_location("notebooks", ROOT / "python" / "notebooks.py")
notebooks = importlib.util.module_from_spec(found)
found.loader.exec_module(notebooks)


def run(script):
    """Run a script, and its notebook where nbclient and a kernel are installed; both print the same
    numbers. Skip it, by name, where a package that it imports is missing."""
    imported = re.findall(r"^(?:import|from) (\w+)", script.read_text(encoding="utf-8"),
                          re.MULTILINE)
    for name in imported:
        needs.module(name)
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, "-B", script], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, cwd=folder, check=False)
    assert done.returncode == 0 and re.search(r"\d", done.stdout), f"{script.name}:\n{done.stdout}"
    needs.module("nbclient")
    needs.module("ipykernel")
    with tempfile.TemporaryDirectory() as folder:
        made, = notebooks.write(pathlib.Path(folder), [script.stem])
        printed = notebooks.run(made)
        assert printed.strip().split("\n")[-1] == done.stdout.strip().split("\n")[-1], printed
        text = made.read_text(encoding="utf-8")
        assert '"execution_count": 1' in text and '"output_type": "error"' not in text


def code_of(text):
    """Return the lines of code of a script or a cell, without cells of text and the comments that
    end cells."""
    text = re.sub(r"^# %% \[markdown\]\n(#.*\n)*", "", text, flags=re.MULTILINE)
    return [line for line in text.split("\n") if line.strip() and not line.startswith("# %%")]


def test_notebooks():
    """Notebooks have the scripts' lines in their cells, no outputs, and the format's fields."""
    with tempfile.TemporaryDirectory() as folder:
        made = notebooks.write(pathlib.Path(folder))
        assert [path.stem for path in made] == sorted(path.stem for path in FOLDER.glob("*.py"))
        for path in made:
            book = json.loads(path.read_text(encoding="utf-8"))
            text = (FOLDER / f"{path.stem}.py").read_text(encoding="utf-8")
            assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
            cells = book["cells"]
            assert len({cell["id"] for cell in cells}) == len(cells) >= 4
            codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
            assert cells[0]["cell_type"] == "markdown" and len(codes) >= 3
            whole = code_of("\n".join(codes))
            assert whole and code_of(text)[-len(whole):] == whole, path.stem
            assert all(cell["outputs"] == [] for cell in cells if cell["cell_type"] == "code")


def test_listed():
    """The README names each script."""
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+\.py)`", text, re.MULTILINE)) == sorted(
        path.name for path in FOLDER.glob("*.py"))


for path in sorted(FOLDER.glob("*.py")):
    globals()[f"test_{path.stem}"] = lambda path=path: run(path)

if __name__ == "__main__":
    sys.exit(functions.main(globals()))
