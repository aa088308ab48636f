# SPDX-License-Identifier: BSD-3-Clause
"""Every function of the public headers is documented, exported and used:

    api.py NM LIBKITH_SO LIBKITH_A HEADER...

A doc comment stands right above it, and tells @return when the result is a status; the shared
library exports these functions and nothing else; the static one defines no other global name than
these and internal kith__ ones; an example or a test calls each, by its name or by a macro of the
headers."""
import pathlib
import re
import subprocess
import sys

nm, shared, static, *headers = sys.argv[1:]
root = pathlib.Path(__file__).resolve().parents[2]
faults = []


def symbols(*command):
    listed = subprocess.run([nm, "--defined-only", *command], check=True, text=True,
                            stdout=subprocess.PIPE).stdout
    fields = [line.split() for line in listed.splitlines()]  # value, kind, name[@version]
    return {words[2].split("@")[0] for words in fields if len(words) == 3 and words[1] != "A"}


text = "".join(pathlib.Path(header).read_text(encoding="utf-8") for header in headers)
declared = set()
doc_comment = r"(?:/\*\*(?:(?!\*/).)*\*/\n)?"
for match in re.finditer(rf"({doc_comment})KITH_API ([^(]*?)(kith_\w+)\(", text, re.S):
    doc, result, name = match.groups()
    declared.add(name)
    if not doc:
        faults.append(f"{name}: no doc comment right above it in its header")
    elif result.strip() == "kith_status" and "@return" not in doc:
        faults.append(f"{name}: its doc comment does not say what it returns")

exported = symbols("-D", shared)
faults += [f"{name}: exported, but not declared in a public header" for name in exported - declared]
faults += [f"{name}: declared in a public header, but not exported" for name in declared - exported]
faults += [f"{name}: a global name of libkith.a that is neither API nor kith__"
           for name in symbols("-g", static) - declared
           if not name.startswith("kith__")]

users = [path.read_text(encoding="utf-8") for folder in ("examples", "tests")
         for path in (root / folder).rglob("*.c")]
macros = {inner: outer
          for outer, inner in re.findall(r"#define (kith_\w+)\([^)]*\)[\s\\]+(kith_\w+)\(", text)}
faults += [f"{name}: no example and no test calls it" for name in declared
           if not any(re.search(rf"\b({name}|{macros.get(name, name)})\(", user)
                      for user in users)]

if not declared:
    faults.append("no KITH_API function found in the public headers")
print("\n".join(sorted(faults)), end="\n" if faults else "")
sys.exit(1 if faults else 0)
