#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Make docs/python.md from the docstrings of the package, without importing it or what it needs:
reference.py [--check]"""
import ast
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
TARGET = HERE.parent / "docs" / "python.md"

HEAD = """# The Python package

Made by `python/reference.py` from the docstrings; do not edit.
[`python/README.md`](../python/README.md) has the installation and a first look.

Arrays may be NumPy's, PyTorch's, CuPy's, JAX's, or have `__array_interface__`,
`__cuda_array_interface__` or `__dlpack__`. Arrays of float32 and float64 whose rows are a whole
number of elements apart are not copied. Results are of the caller's kind, on its device.

"""

# Heading, module, names. A name of a class brings its public methods.
PARTS = [
    ("Pairs", "_pairs", ["pairs", "count_pairs"]),
    ("Kept lists", "_verlet", ["Verlet"]),
    ("Nearest neighbours", "_nearest", ["nearest"]),
    ("Orders", "_order", ["order"]),
    ("Boxes", "_box", ["Box"]),
    ("Groups and halos", "_fof", ["fof", "Groups"]),
    ("Pair distributions and structure factors", "rdf",
     ["Histogram", "structure_factor", "StructureFactor"]),
    ("Many ranks", "_team", ["Team", "TeamFlock", "TeamGroups", "TeamHistogram"]),
    ("Scattering", "_debye", ["debye"]),
    ("Overlaps", "_overlap", ["overlap"]),
    ("Flocks", "_flock", ["Flock"]),
    ("Files", "_io", ["read", "frames", "Frame"]),
    ("Sets", "_make", ["make"]),
    ("ASE", "ase", ["neighbor_list"]),
    ("PyTorch", "torch", ["radius_graph", "Graph"]),
    ("JAX", "jax", ["radius_graph", "Graph", "neighbours", "Matrix"]),
    ("Plots", "plot", ["pair_distribution", "structure_factor", "mass_function", "halo_map",
                       "order_parameters", "save", "label"]),
    ("Notebooks", "_view", ["view", "View"]),
    ("Contexts and errors", "_context", ["Context", "Error", "CapacityError", "LimitError",
                                         "NoBackend", "DeviceLost", "Busy", "TeamLost"]),
    ("Errors of files", "_io", ["FormatError", "MissingError"]),
    ("Memory of a GPU", "_kinds", ["DeviceArray"]),
]
# Methods for the package alone.
INSIDE = {"on_host", "struct", "call", "invoke", "leave", "close_opened", "free", "handle", "stop",
          "prepared", "agree", "alone", "keep"}
SECTION = re.compile(r"^(\w+)\n-+$", re.MULTILINE)


def signature(name, node):
    """Return how a function is called: names and defaults, without types."""
    arguments = node.args
    words, offset = [], len(arguments.args) - len(arguments.defaults)
    for k, one in enumerate(arguments.args):
        if k == 0 and one.arg in ("self", "cls"):
            continue
        default = f"={ast.unparse(arguments.defaults[k - offset])}" if k >= offset else ""
        words.append(one.arg + default)
    if arguments.kwonlyargs and not arguments.vararg:
        words.append("*")
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        words.append(one.arg + (f"={ast.unparse(default)}" if default is not None else ""))
    if arguments.kwarg:
        words.append("**" + arguments.kwarg.arg)
    return "\n".join(textwrap.wrap(f"{name}({', '.join(words)})", 96, break_long_words=False,
                                   subsequent_indent=" " * (len(name) + 1)))


def decorated(node, name):
    """Return whether a function has a decorator."""
    return any(isinstance(one, ast.Name) and one.id == name for one in node.decorator_list)


def section(title, body):
    """Return a section of a docstring as Markdown: a list of names, an example, or a text."""
    body = textwrap.dedent(body).strip("\n")
    if title == "Examples":
        shown = re.sub(r" +# doctest: \+SKIP", "", body)
        parts = re.split(r"\n\n(?=[^>\s])", shown)
        out = []
        for part in parts:
            if part.lstrip().startswith(">>>"):
                out.append(f"```python\n{part}\n```")
            else:
                text, _, code = part.partition("\n\n")
                out.append(text + (f"\n\n```python\n{code}\n```" if code else ""))
        return "\n\n".join(out)
    lines = []
    for line in body.split("\n"):
        if line and not line.startswith(" "):
            name, colon, kind = line.partition(" : ")
            lines.append(f"* `{name}`: {kind}." if colon else f"* {line}")
        elif line.strip():
            lines.append(f"  {line.strip()}")
    return f"**{title}**\n\n" + "\n".join(lines)


def text_of(node):
    """Return a docstring as Markdown."""
    pieces = SECTION.split(ast.get_docstring(node) or "")
    made = [pieces[0].strip()]
    made += [section(title, body) for title, body in zip(pieces[1::2], pieces[2::2])]
    return "\n\n".join(part for part in made if part)


def fields(node, lines):
    """Return the documented fields of a class: those with a comment that begins with #:."""
    made, above = [], ""
    for number in range(node.lineno, node.end_lineno):
        line = lines[number].strip()
        found = re.match(r"(\w+): .*?(?:#: (.*))?$", line)
        if line.startswith("#: "):
            above = line[3:]
        elif found and (found.group(2) or above):
            made.append(f"* `{found.group(1)}`: {found.group(2) or above}")
            above = ""
    return "\n".join(made)


def document(prefix, node, lines):
    """Yield the Markdown of a function or a class."""
    if isinstance(node, ast.FunctionDef):
        yield f"### {prefix}{node.name}\n\n```python\n{signature(prefix + node.name, node)}\n```"
        yield text_of(node)
        return
    begin = [one for one in node.body if isinstance(one, ast.FunctionDef)
             and one.name == "__init__"]
    bases = [base.id for base in node.bases if isinstance(base, ast.Name)
             and base.id not in ("Unshared", "Opened", "NamedTuple")]
    yield f"### {prefix}{node.name}"
    if begin and "Error" not in " ".join(bases) and node.name not in (
            "Groups", "TeamFlock", "TeamGroups", "TeamHistogram", "StructureFactor", "DeviceArray",
            "View"):
        yield f"```python\n{signature(prefix + node.name, begin[0])}\n```"
    if bases:
        yield f"A kind of {', '.join(f'`{base}`' for base in bases)}."
    yield text_of(node)
    yield fields(node, lines)
    for one in node.body:
        if not isinstance(one, ast.FunctionDef) or one.name.startswith("_") or one.name in INSIDE:
            continue
        called = (one.name if decorated(one, "property")
                  else signature(f"{node.name}.{one.name}" if decorated(one, "classmethod")
                                 else one.name, one))
        called = " ".join(called.split())
        yield f"#### {called.replace('*', chr(92) + '*')}\n\n{text_of(one)}"


def made():
    """Return the whole text."""
    parts = [HEAD.rstrip()]
    for heading, module, names in PARTS:
        source = (HERE / "kith" / f"{module}.py").read_text(encoding="utf-8")
        tree = {node.name: node for node in ast.parse(source).body
                if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        prefix = "kith." + ("" if module.startswith("_") else module + ".")
        parts.append(f"## {heading}")
        for name in names:
            parts += [part for part in document(prefix, tree[name], source.split("\n")) if part]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    if "--check" in sys.argv:
        if TARGET.read_text(encoding="utf-8") != made():
            sys.exit("docs/python.md is not what python/reference.py makes: run it")
    else:
        TARGET.write_text(made(), encoding="utf-8")
