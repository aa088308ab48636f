#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make a notebook of each script of examples/python: notebooks.py FOLDER

The scripts are in jupytext's percent format: a line `# %%` begins a cell of code, `# %% [markdown]`
one of text, whose lines are comments. The docstring is the first cell. Notebooks have no outputs.
"""
import ast
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


def write(folder):
    """Write the notebooks into a folder. Return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for script in sorted(SCRIPTS.glob("*.py")):
        path = folder / f"{script.stem}.ipynb"
        text = json.dumps(notebook(script.read_text(encoding="utf-8")), indent=1)
        path.write_text(text + "\n", encoding="utf-8")
        paths.append(path)
    return paths


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: notebooks.py FOLDER")
    write(pathlib.Path(sys.argv[1]))
