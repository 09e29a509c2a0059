# SPDX-License-Identifier: MIT
"""Prints the instructions of a request by layer, from the difference of two callgrind profiles.

    shares.py LESS MORE REQUESTS [FUNCTIONS]

LESS is the profile of a short run, MORE that of a run with REQUESTS more requests, both made with --demangle=no. The difference
leaves out the start and the end of the program. Prints a Markdown table, and the FUNCTIONS (default: none) with the most
instructions.
"""

import collections
import re
import sys

MODULE = re.compile(r"(?:(?<=^\$s)|(?<=\D))(6Lupine|13LupineLoading|15LupineTransport|9LupineTLS|10LupineHTTP|11LupineHTTP2|12LupineCoding)(?=[A-Z0-9])")
HEAP = re.compile(r"^_?_?(libc_)?(malloc|free|calloc|realloc|memalign|posix_memalign|aligned_alloc|int_malloc|int_free|unlink_chunk)|^_int_(malloc|free|realloc)|tcache|^malloc_consolidate|^sysmalloc")
COUNTING = re.compile(r"^_?swift_(retain|release|bridgeObject|unknownObject|weak|unowned|nonatomic|isUniquelyReferenced)|RefCount")
EXCLUSIVITY = re.compile(r"^_?swift_(beginAccess|endAccess)|AccessSet|SwiftTLSContext|^__tls_get_addr")
OBJECTS = re.compile(r"^_?swift_(alloc|dealloc|slowAlloc|slowDealloc|initStack|arrayDestroy|arrayInit|arrayAssign|once|destroy)")


def profile(path):
    """Instructions of each function itself, by object and name."""
    names = {"ob": {}, "fn": {}}
    costs = collections.Counter()
    current = {"ob": "?", "fn": "?"}
    skips = False
    # "ob=(1) /path", "fn=(7)", "calls=..." with the inclusive cost on the line after it, and "12 345" for costs.
    with open(path, errors="replace") as file:
        for line in file:
            kind, separator, rest = line.rstrip("\n").partition("=")
            if separator and kind in names:
                number, _, name = rest.partition(" ")
                if name:
                    names[kind][number] = name
                current[kind] = names[kind].get(number, number)
            elif separator and kind in ("cob", "cfn"):
                number, _, name = rest.partition(" ")
                if name:
                    names[kind[1:]][number] = name
            elif separator and kind == "calls":
                skips = True
            elif line[:1] in "0123456789+-*":
                if skips:
                    skips = False
                else:
                    costs[current["ob"], current["fn"]] += int(line.split()[1])
    return costs


LAYERS = {
    "6Lupine": "Lupine: the pipeline",
    "13LupineLoading": "LupineLoading: the URL loading system",
    "15LupineTransport": "LupineTransport: pool, connections, loops",
    "10LupineHTTP": "LupineHTTP: the codec",
    "11LupineHTTP2": "LupineHTTP2: frames, HPACK, streams",
    "12LupineCoding": "LupineCoding: content codings",
    "9LupineTLS": "LupineTLS: the engine",
}


def layer(item):
    """The layer that a function of an object belongs to."""
    path, function = item
    library = path.rsplit("/", 1)[-1]
    if HEAP.search(function):
        return "the heap"
    if COUNTING.search(function):
        return "reference counting"
    if EXCLUSIVITY.search(function):
        return "checks of exclusive access"
    if OBJECTS.search(function):
        return "objects made and ended"
    module = MODULE.search(function)
    if module:
        return LAYERS[module.group(1)]
    for part, name in (
        ("libFoundation", "Foundation"),
        ("lib_Foundation", "Foundation"),
        ("libdispatch", "Dispatch: the queues"),
        ("libswift_Concurrency", "Swift's tasks"),
        ("libcrypto", "OpenSSL"),
        ("libssl", "OpenSSL"),
        ("libswift", "Swift's standard library and runtime"),
        ("libc.", "the C library"),
        ("libc-", "the C library"),
        ("ld-", "the C library"),
        ("libm", "the C library"),
        ("vgpreload", "the heap"),
    ):
        if library.startswith(part):
            return name
    # What of the standard library was compiled into the program for types of the program's.
    return "Swift's standard library and runtime" if function.startswith("$s") else "the rest"


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    less, more = profile(sys.argv[1]), profile(sys.argv[2])
    requests = int(sys.argv[3])
    costs = {item: (more[item] - less[item]) / requests for item in more}
    whole = sum(costs.values())
    layers = collections.Counter()
    for item, cost in costs.items():
        layers[layer(item)] += cost
    print("| layer | instructions per request | share |\n|---|---:|---:|")
    for name, cost in layers.most_common():
        if cost >= 1:
            print(f"| {name} | {cost:,.0f} | {100 * cost / whole:.1f} % |")
    print(f"| together | {whole:,.0f} | |")
    if len(sys.argv) == 5:
        print()
        for (path, function), cost in sorted(costs.items(), key=lambda item: -item[1])[: int(sys.argv[4])]:
            print(f"{cost:10,.0f}  {function}  ({path.rsplit('/', 1)[-1]})")


main()
