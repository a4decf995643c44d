"""What runs inside a side's environment: reads questions, calls the side's functions, writes what they measured.

A side's function does its own preparation, times only what is compared, and returns (seconds, units, values).
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys


def main() -> None:
    # What a library prints must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    side = importlib.import_module(sys.argv[1])
    for line in sys.stdin:
        question = json.loads(line)
        seconds, units, values = getattr(side, question["function"])(**question["arguments"])
        versions = {"python": platform.python_version(), **side.versions()}
        answer = {"seconds": seconds, "units": units, "values": values, "versions": versions}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
