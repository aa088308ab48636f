# SPDX-License-Identifier: BSD-3-Clause
"""The pages of first steps, docs/first/*.md, do what they show: their commands run in order, in a
folder for each page, and print the lines below them; their Python runs on what was written."""
import os
import pathlib
import re
import subprocess
import sys

import cli
import needs

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "first").glob("*.md"))


def blocks(text):
    """Yield ("shell", lines) of each indented block with a prompt, ("python", text) of a fence."""
    pattern = re.compile(r"```python\n(.*?)```|(?:^    [^\n]*\n)+", re.DOTALL | re.MULTILINE)
    for found in pattern.finditer(text):
        if found.group(1):
            yield "python", found.group(1)
        elif re.search(r"^    \$ ", found.group(), re.MULTILINE):
            yield "shell", [line[4:] for line in found.group().splitlines()]


def shows(lines, printed, command):
    """Assert that lines are what was printed. `...` alone stands for any lines, at the end of one
    for the rest of it."""
    pattern = ""
    for line in lines:
        if line == "...":
            pattern += r"(?:[^\n]*\n)*?"
        elif line.endswith("..."):
            pattern += re.escape(line[:-3]) + r"[^\n]*\n"
        else:
            pattern += re.escape(line) + r"\n"
    shown = "\n".join(lines)
    assert re.fullmatch(pattern, printed), f"{command} printed\n{printed}and not\n{shown}"


def run_page(page):
    """Run all blocks of a page in the working directory."""
    examples = os.path.dirname(os.environ["KITH_LENNARD_JONES"])
    environment = dict(os.environ, PATH=f"{os.path.dirname(cli.KITH)}:{examples}:"
                                        f"{os.environ['PATH']}")
    for kind, body in blocks(page.read_text(encoding="utf-8")):
        if kind == "python":
            done = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True,
                                  check=False)
            assert done.returncode == 0, f"{page.name}:\n{body}\n{done.stderr}"
            continue
        commands = [number for number, line in enumerate(body) if line.startswith("$ ")]
        for first, end in zip(commands, commands[1:] + [len(body)]):
            command, lines = body[first][2:], body[first + 1:end]
            done = subprocess.run(command.split(), env=environment, text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=120 * cli.SLOW)
            assert done.returncode == 0, f"{page.name}: {command}\n{done.stdout}"
            if lines:
                shows(lines, done.stdout, command)


def test_first_steps():
    """All pages."""
    needs.module("numpy")
    if not os.path.exists(os.environ["KITH_LENNARD_JONES"]):
        raise cli.Skip("lennard_jones is not built")
    data = (ROOT / "examples" / "data" / "quartz.xyz").read_bytes()
    ran = 0
    for page in PAGES:
        os.mkdir(page.stem)
        os.chdir(page.stem)
        pathlib.Path("quartz.xyz").write_bytes(data)
        run_page(page)
        os.chdir("..")
        ran += len(list(blocks(page.read_text(encoding="utf-8"))))
    assert ran >= 15, f"{ran} blocks in {len(PAGES)} pages"


sys.exit(cli.main(globals()))
