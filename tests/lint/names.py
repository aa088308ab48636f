# SPDX-License-Identifier: BSD-3-Clause
"""The names in docs/design.md exist: each file that it links to or names, each function, type and
constant. In a table whose first column is "file", each function is in the file of its row."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/design.md"
SOURCES = (".c", ".h", ".cu", ".cuh", ".py", ".js", ".txt", ".toml")


def sources():
    """Return the paths of all sources, from the root of the tree."""
    listed = subprocess.run([ROOT / "tests/lint/sources", "all"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split()
    return [pathlib.PurePosixPath(name) for name in listed]


def words_of(text):
    """Return the set of identifiers of a text."""
    return set(re.findall(r"\w+", text))


def missing_file(token, files, basenames):
    """Return True when a token in backticks looks like a path, and there is no such file or folder.
    NAME, * and XXXXXX stand for any name."""
    if "NAME" in token or "*" in token or "XXXXXX" in token or token.startswith("/"):
        return False
    if token.endswith("/"):
        return (not any("/" + token in f"/{f}" for f in files) and not (ROOT / token).is_dir() and
                not any(ROOT.glob("*/" + token)))
    if not re.fullmatch(r"[\w./]+\.(c|h|cu|cuh|py|txt)", token):
        return False
    return token not in basenames and not any(str(f).endswith("/" + token) or str(f) == token
                                              for f in files)


def main():
    """Check the page. Return the exit status."""
    files = sources()
    basenames = {f.name for f in files} | {f.name for f in ROOT.iterdir()}
    known = set()
    for f in files:
        if f.suffix in SOURCES and f.parts[0] != "tests":
            known |= words_of((ROOT / f).read_text(encoding="utf-8"))
    faults = []
    in_file_table = False
    for number, line in enumerate(PAGE.read_text(encoding="utf-8").split("\n"), 1):
        def fault(what):
            faults.append(f"docs/design.md:{number}: {what}")
        for target in re.findall(r"\]\(([^)#]+)\)", line):
            if "://" not in target and not (PAGE.parent / target).exists():
                fault(f"there is no file {target}")
        for token in re.findall(r"`([^`]+)`", line):
            if missing_file(token, files, basenames):
                fault(f"there is no file {token}")
            elif re.fullmatch(r"\w*_\w+", token) and token not in known:
                fault(f"there is no name {token}")
        in_file_table = line.startswith("|") and (in_file_table or line.startswith("| file |"))
        cells = line.split("|")
        linked = re.search(r"\]\(\.\./([^)]+)\)", cells[1]) if in_file_table else None
        if linked and (ROOT / linked.group(1)).is_file():
            text = (ROOT / linked.group(1)).read_text(encoding="utf-8")
            for name in re.findall(r"`(\w+)`", cells[2]):  # apart: KITH_REAL(apart)( is one too
                if not re.search(rf"\b{name}\)?\(|^struct {name} {{", text, re.M):
                    fault(f"{linked.group(1)} has no function or struct {name}")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
