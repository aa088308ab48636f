#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Mutation testing: change one expression of the library at a time, and see whether a test fails.

    mutants.py                 run all mutants of mutants.toml
    mutants.py NAME|NUMBER...  run these only; a NAME may be the beginning of several
    mutants.py --resume --seconds 400
                               run those that have no result in build/mutants/results.json yet, and
                               start none after 400 seconds
    mutants.py --check         only see that the text of each mutant is found exactly once, and
                               count the results that mutants.toml records
    mutants.py --list          print the mutants

Everything happens in a copy of the tree in build/mutants. README.md says how mutants.toml is
written. Ends with 1 when a result is not the one that mutants.toml expects.
"""
import argparse
import filecmp
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build/mutants"
TREE = WORK / "tree"
BUILD = WORK / "build"
SOURCES = {".c", ".h", ".cu", ".cuh"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
PLACEHOLDER = re.compile(r"\$([a-z]\w*)")
TOKEN = re.compile(r"\$[a-z]\w*|\w+|\s+|\S")
# CMake quotes the name of a test as [=[name]=], from 4.4 on as "name".
ADD_TEST = re.compile(r'^add_test\((?:\[=*\[|")?([^\s\]"]+)(?:\]=*\]|")? "([^"]+)"', re.MULTILINE)
NAME = r"(?:[A-Za-z_]\w*(?:(?:->|\.)[A-Za-z_]\w*)*)"  # also the path of a field, as a->b.c
LIST = pathlib.Path(__file__).parent / "mutants.toml"
STATES = ("caught_by", "equivalent", "survives")
KEYS = {"name", "find", "replace", "under", "tests", "gpu", *STATES}


def fail(message):
    """Print a message and exit."""
    print(f"mutants.py: {message}")
    sys.exit(1)


def pattern_of(text):
    """Return the regular expression of a mutant's text: any white space between words and signs,
    and for each $x any name, everywhere the one that it matches first."""
    parts, seen, blank, last = [], set(), False, ""
    for token in TOKEN.findall(text.strip()):
        if token.isspace():
            blank = True
            continue
        if token[0] == "$" and token[1:] in seen:
            part = rf"(?P={token[1:]})(?!\w)"
        elif token[0] == "$":
            seen.add(token[1:])
            part = rf"(?<![\w.>])(?P<{token[1:]}>{NAME})(?!\w)"
        else:
            part = re.escape(token)
            part = rf"(?<!\w){part}(?!\w)" if re.match(r"\w", token) else part
        words = re.match(r"[\w$]", token) and re.match(r"[\w$]", last)
        parts.append((r"\s+" if blank and words else r"\s*" if parts else "") + part)
        blank, last = False, token
    return re.compile("".join(parts))


def without_comments(text):
    """Return a C text with blanks for its comments, of equal length."""
    return COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def places(mutant, tree):
    """Yield path and match of each place in src where a mutant's text is found."""
    pattern = pattern_of(mutant["find"])
    for path in sorted((tree / mutant.get("under", "src")).rglob("*")):
        on_gpu = "gpu" in path.relative_to(tree).parts
        if path.suffix in SOURCES and on_gpu == mutant.get("gpu", False):
            plain = without_comments(path.read_text(encoding="utf-8"))
            for match in pattern.finditer(plain):
                yield path, match


def find(mutant, tree):
    """Return path and match of a mutant's text, or a message that says why there is no such."""
    found = list(places(mutant, tree))
    if len(found) == 1:
        return found[0], None
    lines = [f"{path.relative_to(tree)}:{1 + match.string.count(chr(10), 0, match.start())}"
             for path, match in found[:4]]
    return None, (f"text found {len(found)} times: {', '.join(lines)}" if found else
                  "text not found: was it renamed? Mend mutants.toml")


def read_mutants():
    """Return the mutants, and the test patterns by their name."""
    data = tomllib.loads(LIST.read_text(encoding="utf-8"))
    names = set()
    for number, mutant in enumerate(data["mutant"], 1):
        mutant["number"] = number
        name = mutant.get("name", f"number {number}")
        unknown = mutant.keys() - KEYS - {"number"}
        missing = {"name", "find", "replace", "tests"} - mutant.keys()
        if unknown or missing or name in names:
            fail(f"mutants.toml: {name}: {unknown or missing or 'name used twice'}")
        if len(mutant.keys() & set(STATES)) > 1:
            fail(f"mutants.toml: {name}: more than one of {', '.join(STATES)}")
        unbound = set(PLACEHOLDER.findall(mutant["replace"])) - set(
            PLACEHOLDER.findall(mutant["find"]))
        if unbound:
            fail(f"mutants.toml: {name}: {unbound} in replace, but not in find")
        names.add(name)
    return data["mutant"], data["tests"]


def choose(mutants, wanted, gpu):
    """Return the mutants that the command line asks for."""
    for word in wanted:
        if not any(word == str(m["number"]) or m["name"].startswith(word) for m in mutants):
            fail(f"no mutant {word}")
    return [m for m in mutants if m.get("gpu", False) <= gpu and
            (not wanted or any(word == str(m["number"]) or m["name"].startswith(word)
                               for word in wanted))]


def copy_tree():
    """Bring the copy up to date; files that are as they should be keep their time of change."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                            check=True, stdout=subprocess.PIPE).stdout.decode().split("\0")
    names = {name for name in listed if name and (ROOT / name).is_file()}
    for name in sorted(names):
        to = TREE / name
        if not to.is_file() or not filecmp.cmp(ROOT / name, to, shallow=False):
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to)
    for path in [path for path in TREE.rglob("*") if path.is_file()]:
        if str(path.relative_to(TREE)) not in names:
            path.unlink()


def run(command, log):
    """Run a command with its output in the log. Return whether it succeeded, and its output."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    with open(log, "ab") as out:
        out.write(f"+ {' '.join(command)}\n".encode() + done.stdout)
    return done.returncode == 0, done.stdout.decode(errors="replace")


def configure(gpu, isas):
    """Configure the build of the copy; return its tests: name, and the target that each needs."""
    command = ["cmake", "-S", str(TREE), "-B", str(BUILD), "-DCMAKE_BUILD_TYPE=Release",
               "-DCMAKE_C_FLAGS_RELEASE=-O1 -DNDEBUG",  # compiles in half the time, to equal bits
               f"-DKITH_CUDA={'ON' if gpu else 'OFF'}", f"-DKITH_X86_ISAS={isas}",
               "-DKITH_WERROR=OFF"]
    if shutil.which("ninja") and not (BUILD / "CMakeCache.txt").exists():
        command += ["-G", "Ninja"]
    if shutil.which("ccache") and "CMAKE_C_COMPILER_LAUNCHER" not in os.environ:
        command += ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"]
    log = WORK / "configure.log"
    log.unlink(missing_ok=True)
    if not run(command, log)[0]:
        fail(f"cannot configure, see {log}")
    tests = {}  # ctest --show-only does not name the program of a test before it is built
    for file in BUILD.rglob("CTestTestfile.cmake"):
        for name, program in ADD_TEST.findall(file.read_text(encoding="utf-8")):
            if BUILD in pathlib.Path(program).parents:
                tests[name] = pathlib.Path(program).name
    return tests


def tests_of(mutant, topics, tests):
    """Return the names of a mutant's tests: of a topic of mutants.toml, or a pattern."""
    pattern = re.compile(topics.get(mutant["tests"], mutant["tests"]))
    chosen = [name for name in tests if pattern.search(name)]
    if not chosen:
        fail(f"{mutant['name']}: no test matches {pattern.pattern}")
    return chosen


def build(names, tests, jobs, log):
    """Build the programs of some tests. Return whether that succeeded."""
    targets = sorted({tests[name] for name in names})
    return run(["cmake", "--build", str(BUILD), "-j", str(jobs), "--target", *targets],
               log)[0]


def test(name, options, log):
    """Run a test. Return "passed", "failed" or "timeout"."""
    passed, output = run(["ctest", "--test-dir", str(BUILD), "-R", f"^{re.escape(name)}$",
                          "--timeout", str(options.timeout), "--no-tests=error"], log)
    return "passed" if passed else "timeout" if "***Timeout" in output else "failed"


def try_mutant(mutant, names, tests, options):
    """Apply a mutant, build and run its tests up to the first that fails, restore. Return the
    result and what is to be said of it. A test that ends by its time limit catches nothing."""
    found, why = find(mutant, TREE)
    if not found:
        return "lost", why
    path, match = found
    log = WORK / f"{mutant['name']}.log"
    log.unlink(missing_ok=True)
    replacement = PLACEHOLDER.sub(lambda name: match.group(name.group(1)), mutant["replace"])
    text = path.read_text(encoding="utf-8")
    path.write_text(text[:match.start()] + replacement + text[match.end():], encoding="utf-8")
    late = []
    try:
        for name in names:
            if not build([name], tests, options.jobs, log):
                return "broken", f"does not build, see {log.relative_to(ROOT)}"
            result = test(name, options, log)
            if result == "failed":
                return "caught", name
            late += [name] if result == "timeout" else []
        return ("timeout", ", ".join(late)) if late else ("survived", "")
    finally:
        path.write_text(text, encoding="utf-8")


def judge(mutant, result, said):
    """Compare a result with what mutants.toml expects. Return the word to count, what to print, and
    whether the list is wrong."""
    if "equivalent" in mutant:
        if result == "survived":
            return "equivalent", mutant["equivalent"], False
        return result, f"by {said}, but mutants.toml calls it equivalent", True
    if "survives" in mutant:
        if result == "survived":
            return result, mutant["survives"], False
        return result, f"by {said}, but mutants.toml says that it survives", True
    return result, said, result != "caught"


def record(name, test_name):
    """Write into mutants.toml which test caught a mutant."""
    text = LIST.read_text(encoding="utf-8")
    begin = text.index(f"\nname = '{name}'\n")
    end = text.find("\n\n", begin)
    end = end if end >= 0 else len(text.rstrip())
    block = re.sub(r"\ncaught_by = .*", "", text[begin:end])
    block += f"\ncaught_by = '{test_name}'"
    LIST.write_text(text[:begin] + block + text[end:], encoding="utf-8")


def print_count(count):
    """Print how many mutants have each result, and the share of those caught."""
    caught, other = count.get("caught", 0), sum(count.values()) - count.get("equivalent", 0)
    words = [f"{count[word]} {word}" for word in ("caught", "survived", "timeout", "equivalent",
                                                  "not run", "lost", "broken") if word in count]
    print(f"{', '.join(words)}: {100 * caught / max(other, 1):.1f} % of those not equivalent are "
          "caught")


def count_recorded(mutants):
    """Return how many mutants have each result by mutants.toml."""
    count = {}
    for mutant in mutants:
        word = ("caught" if "caught_by" in mutant else "equivalent" if "equivalent" in mutant else
                "survived" if "survives" in mutant else "not run")
        count[word] = count.get(word, 0) + 1
    return count


def seconds_unchanged(every, tests, options, known):
    """Build all tests without a mutation and run those whose seconds are not known. Return the
    seconds of each test."""
    log = WORK / "unchanged.log"
    log.unlink(missing_ok=True)
    if not build(every, tests, options.jobs, log):
        fail(f"does not build without a mutation, see {log.relative_to(ROOT)}")
    for name in every:
        if name not in known:
            begin = time.monotonic()
            if test(name, options, log) != "passed":
                fail(f"{name} fails without a mutation, see {log.relative_to(ROOT)}")
            known[name] = time.monotonic() - begin
    return known


def run_mutants(mutants, topics, options):
    """Run mutants and print the results. Return the exit status."""
    start = time.monotonic()
    WORK.mkdir(parents=True, exist_ok=True)
    results = WORK / "results.json"
    kept = {"seconds": {}, "mutants": {}}
    if options.resume and results.exists():
        kept = json.loads(results.read_text(encoding="utf-8"))
    mutants = [mutant for mutant in mutants if mutant["name"] not in kept["mutants"]]
    copy_tree()
    tests = configure(options.gpu, options.isas)
    names = [tests_of(mutant, topics, tests) for mutant in mutants]
    every = sorted({name for some in names for name in some})
    print(f"{len(mutants)} mutants, {len(every)} tests; first without a mutation", flush=True)
    seconds = seconds_unchanged(every, tests, options, kept["seconds"])
    count, wrong = {}, 0
    for mutant, some in zip(mutants, names):
        begin = time.monotonic()
        if begin - start > options.seconds:
            break
        # First the test that caught it before; else most mutants are caught by a short test.
        some = sorted(some, key=lambda name: (name != mutant.get("caught_by"), seconds[name]))
        result, said = try_mutant(mutant, some, tests, options)
        if options.record and result == "caught" and not mutant.keys() & {"equivalent", "survives"}:
            record(mutant["name"], said)
        word, said, is_wrong = judge(mutant, result, said)
        kept["mutants"][mutant["name"]] = [word, said]
        results.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        count[word] = count.get(word, 0) + 1
        wrong += is_wrong
        print(f"{mutant['number']:4d} {mutant['name']:28s} {word:10s} "
              f"{time.monotonic() - begin:4.0f} s  {said}", flush=True)
    print_count(count)
    return 1 if wrong else 0


def main():
    """Do what the arguments say. Return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wanted", nargs="*", metavar="NAME|NUMBER")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="jobs of a build")
    parser.add_argument("--timeout", type=int, default=120, help="seconds of one test")
    parser.add_argument("--isas", default="", help="instruction sets besides the baseline, as "
                                                   "KITH_X86_ISAS")
    parser.add_argument("--gpu", action="store_true", help="GPU mutants, too: needs a GPU")
    parser.add_argument("--record", action="store_true", help="write caught_by into mutants.toml")
    parser.add_argument("--resume", action="store_true", help="only those without a result yet")
    parser.add_argument("--seconds", type=float, default=float("inf"),
                        help="start no mutant after so many seconds")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    mutants, topics = read_mutants()
    mutants = choose(mutants, options.wanted, options.gpu or options.check or options.list)
    if options.list or options.check:
        lost = 0
        for mutant in mutants:
            found, why = find(mutant, ROOT)
            lost += not found
            where = why or f"{found[0].relative_to(ROOT)}"
            if options.list or why:
                print(f"{mutant['number']:4d} {mutant['name']:28s} {where}")
        print_count(count_recorded(mutants))
        return 1 if lost else 0

    return run_mutants(mutants, topics, options)


if __name__ == "__main__":
    sys.exit(main())
