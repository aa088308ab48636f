# SPDX-License-Identifier: BSD-3-Clause
"""Run the functions test_* of a script, each of which raises an exception if it fails."""
import signal
import sys
import threading

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


def steps_of(call):
    """Return how many functions a call of Python and C enters, the second time: its time would
    depend on the machine."""
    call()
    events = []
    sys.setprofile(lambda frame, event, arg: events.append(event))
    call()
    sys.setprofile(None)
    return sum(event in ("call", "c_call") for event in events)


def in_threads(work, threads=4):
    """Do some work in several threads at once."""
    crowd = [threading.Thread(target=work) for _ in range(threads)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join()
