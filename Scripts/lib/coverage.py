# SPDX-License-Identifier: MIT
"""Prints the shares of lines that were run, from a file in lcov's format: by module, by state machine, and the smallest of files.

Scripts/coverage calls it with the root and the file. A line counts once, even if it is in several functions; it was run if any
of them was run. Exits with 1 if a share is below its bound.
"""

import collections
import os
import re
import sys

STRICT, WHOLE = 90.0, 85.0
STRICT_MODULES = ["LupineHTTP", "LupineCoding", "LupineTLS"]


def is_machine(path):
    """The state machines are the files that say so, and a connection's place in the pool."""
    name = os.path.basename(path).removesuffix(".swift").split("+")[0]
    return name.endswith("Machine") or name == "ConnectionSlot"


def read(root, path):
    """The lines of each file of Sources: number -> how often it was run."""
    files = collections.defaultdict(dict)
    sources, lines = os.path.join(root, "Sources") + "/", None
    with open(path, encoding="utf-8") as report:
        for row in report:
            if row.startswith("SF:"):
                name = row[3:].strip()
                lines = files[name[len(root) + 1:]] if name.startswith(sources) and name.endswith(".swift") else None
            elif row.startswith("DA:") and lines is not None:
                number, count = row[3:].split(",")[:2]
                lines[int(number)] = max(lines.get(int(number), 0), int(count))
    return {name: lines for name, lines in files.items() if lines}


def traps(root, name):
    """The lines of the cases that do nothing but trap: their patterns, and the one statement behind these.

    A case that does anything else, and a trap in the midst of other code, is none.
    """
    with open(os.path.join(root, name), encoding="utf-8") as file:
        text = [line.strip() for line in file]
    found = set()
    for number, line in enumerate(text):
        if re.fullmatch(r"case [^:]*: preconditionFailure\(.*\)", line):
            found.add(number + 1)
        if not re.fullmatch(r"preconditionFailure\(.*\)", line) or not re.match(r"(case\b|\}$)", text[number + 1]):
            continue
        first = number - 1
        if not text[first].endswith(":"):
            continue
        while text[first - 1].endswith(",") and not text[first].startswith("case "):
            first -= 1
        if text[first].startswith("case "):
            found.update(range(first + 1, number + 2))
    return found


def share(files):
    """How many lines there are, and how many percent of them were run."""
    total = sum(len(lines) for lines in files)
    run = sum(1 for lines in files for count in lines.values() if count)
    return total, 100.0 * run / total if total else 0.0


def main():
    root, path = sys.argv[1:3]
    files, failed = read(root, path), []
    if not files:
        sys.exit("coverage: error: no file of Sources is in the report")

    def row(name, members, bound, note=""):
        total, percent = share(members)
        mark = note if bound is None or percent >= bound else f"{note}  below {bound:g} %"
        if mark != note:
            failed.append(name)
        print(f"{name:<44} {total:>6} lines  {percent:6.2f} %{mark}")

    modules = collections.defaultdict(list)
    for name, lines in files.items():
        modules[name.split("/")[1]].append(lines)
    for name in sorted(modules):
        row(name, modules[name], STRICT if name in STRICT_MODULES else None)
    row("all", list(files.values()), WHOLE)
    print("\nstate machines, without the lines of cases that only trap: what cannot happen has no test")
    for name in sorted(name for name in files if is_machine(name)):
        trapping = traps(root, name) & files[name].keys()
        rest = {number: count for number, count in files[name].items() if number not in trapping}
        note = f"  {share([files[name]])[1]:6.2f} % with {len(trapping)} that trap" if trapping else ""
        row(name.removeprefix("Sources/"), [rest], STRICT, note)
    print("\nleast covered")
    worst = sorted(files, key=lambda name: share([files[name]])[1])[:15]
    for name in worst:
        row(name.removeprefix("Sources/"), [files[name]], None)
    for name in failed:
        print(f"failed: {name}")
    sys.exit(1 if failed else 0)


main()
