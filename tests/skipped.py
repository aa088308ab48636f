#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Say what a run of the tests left out, and how to get what was missing: skipped.py JUNIT_FILE

Prints the reasons that the tests printed, with the tests that each reason stopped. Ends with 1 if a
test was skipped without a reason."""
import sys
import xml.etree.ElementTree

WORD = "skipped: "


def reasons(case):
    """The reasons that a test printed, and whether ctest has it as skipped."""
    lines = (case.findtext("system-out") or "").splitlines()
    told = [line.split(WORD, 1)[1].strip() for line in lines if WORD in line]
    return told, case.find("skipped") is not None


def main():
    """Print each reason once."""
    tests, silent = {}, []
    for case in xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"):
        told, skipped = reasons(case)
        name = case.get("name")
        for reason in dict.fromkeys(told):
            tests.setdefault(reason, []).append(name if skipped else f"a part of {name}")
        if skipped and not told:
            silent.append(name)
    for reason, names in tests.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        print(f"Skipped: {', '.join(names[:3])}{more}: {reason}")
    for name in silent:
        print(f"Skipped without a reason: {name}")
    return 1 if silent else 0


sys.exit(main())
