# SPDX-License-Identifier: BSD-3-Clause
"""Plain technical English: count the comments and messages that use words which say nothing by
themselves, such as one that needs the line above to be understood. words.txt holds the number that
each folder may have; a number may only fall. With the name of a folder, list its places.

    words.py                    compare each folder's number with words.txt
    words.py src/engine         list the places of a folder
    words.py --update           write words.txt anew
"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
allowed_file = root / "tests/lint/words.txt"
folders = {"bench", "cli", "examples", "include", "io", "ladder", "sets", "src", "threads", "web"}

# A comment, or a string literal; a character literal is matched so that '"' begins no string.
pieces = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.DOTALL)
words = re.compile(r"\b(likewise|the\s+same|such|nobody|whoever|what\s+is\s+there|as\s+above|"
                   r"in\s+their\s+stead|thereof)\b", re.IGNORECASE)
# The comment of a struct's field is whole: it does not run on into the next one.
runs_on = re.compile(r"[,;]\s*\*/$")


def places(path):
    """Yield line, word and text of each fault in a file."""
    text = path.read_text(encoding="utf-8")
    for piece in pieces.finditer(text):
        plain = re.sub(r"\n\s*\*?", " ", piece.group())
        found = [word.group() for word in words.finditer(plain)]
        found += ["ends in a comma"] if runs_on.search(plain) else []
        for word in found:
            yield text.count("\n", 0, piece.start()) + 1, " ".join(word.split()), plain


def folder_of(name):
    """Return the folder that a file's number is kept under: two names deep."""
    return "/".join(name.split("/")[:-1][:2])


def main(argument=""):
    """Do what the arguments say. Return the exit status."""
    listed = subprocess.run([root / "tests/lint/sources", "all"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split()
    names = [name for name in listed
             if name.split("/")[0] in folders and re.search(r"\.(c|h|cu|cuh|h\.in)$", name)]
    count = {}
    for name in names:
        for line, word, plain in places(root / name):
            count[folder_of(name)] = count.get(folder_of(name), 0) + 1
            if argument and (name + "/").startswith(argument.rstrip("/") + "/"):
                print(f"{name}:{line}: {word}: {plain[:100]}")
    if argument == "--update":
        allowed_file.write_text("".join(f"{count[folder]:4d} {folder}\n"
                                        for folder in sorted(count)), encoding="utf-8")
    if argument:
        return 0
    allowed = dict(reversed(line.split()) for line in allowed_file.read_text().splitlines())
    more = [folder for folder in sorted(count) if count[folder] > int(allowed.get(folder, 0))]
    for folder in more:
        print(f"{folder}: {count[folder]} comments or messages with words to avoid, "
              f"{allowed.get(folder, 0)} allowed: tests/lint/words.py {folder}")
    return 1 if more else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
