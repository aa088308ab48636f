# SPDX-License-Identifier: BSD-3-Clause
"""House rules that a reader would otherwise have to watch over: the licence line on top, at most
100 columns, no tabs, no blanks at a line's end; and a README.md of at most 100 columns in each
folder of sources, where the one above it does not speak for it."""
import pathlib
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
listed = subprocess.run([root / "tests/lint/sources", "all"], check=True, text=True,
                        stdout=subprocess.PIPE)
faults = []
for name in listed.stdout.split():
    lines = (root / name).read_text(encoding="utf-8").split("\n")
    if not any("SPDX-License-Identifier: BSD-3-Clause" in line for line in lines[:2]):
        faults.append(f"{name}:1: no SPDX line on top")
    if lines[-1] != "":
        faults.append(f"{name}:{len(lines)}: no newline at the end")
    for number, line in enumerate(lines, 1):
        if len(line) > 100:
            faults.append(f"{name}:{number}: {len(line)} columns")
        if "\t" in line or line != line.rstrip():
            faults.append(f"{name}:{number}: a tab, or blanks at the end")

# READMEs of these folders, but for their tables
for folder in sorted({(root / name).parent for name in listed.stdout.split()}):
    page = folder / "README.md"
    lines = page.read_text(encoding="utf-8").split("\n") if page.exists() and folder != root else []
    for number, line in enumerate(lines, 1):
        if len(line) > 100 and not line.startswith("|"):
            faults.append(f"{page.relative_to(root)}:{number}: {len(line)} columns")

spoken_for = {"include/kith", "python/kith"}  # and all that are three names deep
for folder in sorted({"/".join(name.split("/")[:-1][:2]) for name in listed.stdout.split()}):
    if folder and folder not in spoken_for and not (root / folder / "README.md").exists():
        faults.append(f"{folder}: no README.md")

print("\n".join(faults), end="\n" if faults else "")
sys.exit(1 if faults else 0)
