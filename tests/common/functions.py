# SPDX-License-Identifier: BSD-3-Clause
"""Run the functions test_* of a script, each of which raises an exception if it fails."""
import signal
import sys

import needs


def main(names):
    """Run them. Return the exit status: 77 if nothing ran, because all were skipped."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
    failed, ran = 0, 0
    for name, test in list(names.items()):
        if name.startswith("test_"):
            try:
                test()
                ran += 1
            except needs.Skip as reason:
                needs.tell(f"{name}: {reason}")
            except Exception:
                failed += 1
                print(f"{name}: failed", flush=True)
                sys.excepthook(*sys.exc_info())
    return 1 if failed else 0 if ran else needs.SKIPPED


def raises(kind, call, *words):
    """Return the exception that a call raises; its text has the words."""
    try:
        call()
    except kind as error:
        for word in words:
            assert word in str(error), (word, str(error))
        return error
    raise AssertionError(f"{kind} was not raised")
