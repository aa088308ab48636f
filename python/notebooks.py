#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make a notebook of each script of examples/python: notebooks.py FOLDER [--run] [SCRIPT...]

The scripts are in jupytext's percent format: a line `# %%` begins a cell of code, `# %% [markdown]`
one of text, whose lines are comments. The docstring is the first cell. Notebooks have no outputs;
with --run they are executed, which needs nbclient and ipykernel, and have those of their cells.
With names of scripts ("vicsek_sweep") notebooks of these alone are made.
"""
import ast
import importlib
import json
import pathlib
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parents[1] / "examples" / "python"


def cells(text):
    """Yield kind and text of the cells of a script."""
    docstring = ast.get_docstring(ast.parse(text))
    yield "markdown", docstring
    body = text[text.index('"""', text.index('"""') + 3) + 3:]
    for part in body.split("\n# %%"):
        head, _, rest = part.partition("\n")
        if head.strip() == "[markdown]":
            yield "markdown", "\n".join(line[2:] for line in rest.strip().split("\n"))
        elif rest.strip():
            yield "code", rest.strip()


def notebook(text):
    """Return the notebook of a script, format 4.5, as an object for JSON."""
    made = []
    for number, (kind, body) in enumerate(cells(text)):
        cell = {"cell_type": kind, "id": f"cell-{number}", "metadata": {},
                "source": body.splitlines(keepends=True)}
        if kind == "code":
            cell.update(execution_count=None, outputs=[])
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def write(folder, names=()):
    """Write the notebooks into a folder, or those of some scripts. Return their paths."""
    scripts = {script.stem: script for script in sorted(SCRIPTS.glob("*.py"))}
    unknown = [name for name in names if name not in scripts]
    if unknown:
        sys.exit(f"notebooks.py: no script {unknown[0]}; expected {', '.join(scripts)}")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for script in (scripts[name] for name in names or scripts):
        path = folder / f"{script.stem}.ipynb"
        text = json.dumps(notebook(script.read_text(encoding="utf-8")), indent=1)
        path.write_text(text + "\n", encoding="utf-8")
        paths.append(path)
    return paths


def run(path):
    """Execute a notebook in its folder, and store the outputs of its cells. Return what they
    print."""
    book = importlib.import_module("nbformat").read(path, 4)
    place = {"metadata": {"path": str(path.parent)}}
    importlib.import_module("nbclient").NotebookClient(book, timeout=300, resources=place).execute()
    importlib.import_module("nbformat").write(book, path)
    return "".join(output["text"] for cell in book.cells for output in cell.get("outputs", [])
                   if output["output_type"] == "stream")


def main():
    """Write the notebooks, and execute them if that is wanted."""
    words = [word for word in sys.argv[1:] if word != "--run"]
    if not words:
        sys.exit("usage: notebooks.py FOLDER [--run] [SCRIPT...]")
    for path in write(pathlib.Path(words[0]), words[1:]):
        if len(words) < len(sys.argv) - 1:
            print(f"{path.name}: {run(path)}", end="")


if __name__ == "__main__":
    main()
