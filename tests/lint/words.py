# SPDX-License-Identifier: BSD-3-Clause
"""Plain technical English: comments and messages must not use words that say nothing by themselves,
such as one that needs the line above to be understood. With a path, look only below it.

    words.py
    words.py src/engine
"""
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
folders = {"bench", "cli", "examples", "include", "io", "ladder", "sets", "src", "threads", "web"}

# A comment, or a string literal; a character literal is matched so that '"' begins no string.
pieces = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'""", re.DOTALL)
words = re.compile(r"\b(likewise|the\s+same|such|nobody|whoever|what\s+is\s+there|as\s+above|"
                   r"in\s+their\s+stead|thereof|left\s+out|hands?\s+over|handed\s+over)\b",
                   re.IGNORECASE)
# The comment of a function that returns a bool says "Return true when ...". Only the head of a file
# may ask a question: the one that the file answers.
question = re.compile(r"/\*\*?<?(\s*(Whether|Is|Are|Does|Has|Have|Can|Must|Should)\b|"
                      r"(?!\s*SPDX)[^.?]*\?\s|.*@return\s+whether\b)")
# The comment of a struct's field is whole: it does not run on into the next one.
runs_on = re.compile(r"[,;]\s*\*/$")


def places(path):
    """Yield line, word and text of each fault in a file."""
    text = path.read_text(encoding="utf-8")
    for piece in pieces.finditer(text):
        plain = re.sub(r"\n\s*\*?", " ", piece.group())
        found = [word.group() for word in words.finditer(plain)]
        found += ["ends in a comma"] if runs_on.search(plain) else []
        found += ["a question"] if question.match(plain) else []
        for word in found:
            yield text.count("\n", 0, piece.start()) + 1, " ".join(word.split()), plain


def main(below=""):
    """List all faults in files below a path. Return the exit status."""
    listed = subprocess.run([root / "tests/lint/sources", "all"], check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split()
    faults = 0
    for name in listed:
        if (name.split("/")[0] in folders and re.search(r"\.(c|h|cu|cuh|h\.in)$", name)
                and (name + "/").startswith(below and below.rstrip("/") + "/")):
            for line, word, plain in places(root / name):
                print(f"{name}:{line}: {word}: {plain[:100]}")
                faults += 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
