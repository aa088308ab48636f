# SPDX-License-Identifier: BSD-3-Clause
"""The reference pages are those of the docstrings, name all that is public, and their examples run;
the package passes mypy --strict."""
import doctest
import importlib
import inspect
import pathlib
import pkgutil
import re
import subprocess
import sys

import numpy as np

import functions
import kith
import needs

ROOT = pathlib.Path(__file__).resolve().parents[2]


def modules():
    """Yield the package's modules; those whose package is missing are told."""
    for found in pkgutil.iter_modules(kith.__path__, "kith."):
        try:
            yield importlib.import_module(found.name)
        except ImportError as error:
            needs.tell(f"{found.name}: {needs.missing(error.name) if error.name else error}")


def test_reference():
    subprocess.run([sys.executable, "-B", ROOT / "python" / "reference.py", "--check"], check=True)
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for name in kith.__all__:
        if name != "rdf":
            assert f"### kith.{name}\n" in text, f"docs/python.md lacks {name}"


def test_docstrings():
    """All that is public has a docstring."""
    for module in modules():
        for name, one in vars(module).items():
            if name.startswith("_") or getattr(one, "__module__", "") != module.__name__:
                continue
            if not inspect.isclass(one) and not inspect.isfunction(one):
                continue
            if "_abi" in module.__name__:
                continue
            assert one.__doc__, f"{module.__name__}.{name}"
            for inner, method in vars(one).items() if inspect.isclass(one) else ():
                if not inner.startswith("_") and (inspect.isfunction(method)
                                                  or isinstance(method, property)):
                    assert method.__doc__ or one.__base__ is not object, f"{name}.{inner}"


def test_examples():
    ran = 0
    for module in modules():
        failed, tried = doctest.testmod(module, extraglobs={"kith": kith, "np": np})
        assert failed == 0, module.__name__
        ran += tried
    assert ran > 20, ran


def test_readme():
    """The Python of README runs."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    names = {}
    exec(compile(block, "README.md", "exec"), names)
    assert len(names["g"]) == 100 and len(names["i"]) == len(names["S"]) > 0


def test_types():
    needs.module("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir=/dev/null",
                           "python/kith"], cwd=ROOT, text=True, stdout=subprocess.PIPE,
                          check=False)
    assert done.returncode == 0, done.stdout
    assert (pathlib.Path(kith.__file__).parent / "py.typed").exists()


if __name__ == "__main__":
    sys.exit(functions.main(globals()))
