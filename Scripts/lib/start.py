# SPDX-License-Identifier: MIT
"""Measures for `Scripts/bench start` how long lupine and curl take to start and to fetch a page, and the time of each phase.

start.py WORK RUNS START-COST URL ROOT LUPINE CURL: WORK is a folder for files, START-COST the program of Benchmarks/Peers, URL
the page to fetch, ROOT the authority of its server in PEM.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys

work, runs, start_cost, url, root, lupine, curl = sys.argv[1:8]
programs = {"lupine": lupine, "curl": curl}
# The programs get only these variables: some variables of the environment name roots.
clean = {"PATH": os.environ["PATH"], "HOME": work, "LC_ALL": "C", "no_proxy": "*"}
fetch = ["-s", "-o", f"{work}/page"]
bundles = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"]
# The measured runs: a name, assignments of variables, arguments.
cases = [
    ("--version", [], ["--version"]),
    ("-k", [], ["-k"]),
    ("--cacert one.pem", [], ["--cacert", root]),
    ("the system's roots in a bundle", [f"SSL_CERT_FILE={work}/roots.pem"], []),
    ("the same in a folder", [f"SSL_CERT_DIR={work}/certs"], []),
]


def make_roots():
    """The system's roots and the server's, as a bundle and as a folder with hashes; how many they are."""
    text = ""
    for path in [root] + [path for path in bundles if os.path.exists(path)][:1]:
        with open(path) as file:
            text += file.read()
    with open(f"{work}/roots.pem", "w") as file:
        file.write(text)
    os.makedirs(f"{work}/certs", exist_ok=True)
    blocks = re.findall("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n", text, re.S)
    for number, block in enumerate(blocks):
        with open(f"{work}/certs/{number}.pem", "w") as file:
            file.write(block)
    subprocess.run(["openssl", "rehash", f"{work}/certs"], check=True, stderr=subprocess.DEVNULL)
    return len(blocks)


def words(path, arguments):
    return [path] + (arguments if arguments == ["--version"] else fetch + arguments + [url])


def costs():
    """By case and program: median time and its quartiles, processor time, memory; all commands in turn."""
    with open(f"{work}/commands", "w") as file:
        for name, assignments, arguments in cases:
            for program, path in programs.items():
                file.write(f"{name}/{program}\t{' '.join(assignments + words(path, arguments))}\n")
    text = subprocess.run(
        [start_cost, runs, f"{work}/commands"], check=True, stdout=subprocess.PIPE, text=True, env=clean).stdout
    measured = {}
    for line in text.splitlines():
        name, *figures = line.split("\t")
        measured[name] = [int(figure) for figure in figures]
    return measured


def print_costs(measured):
    print("| | lupine ms | curl ms | apart | beyond `--version` | CPU ms | curl's | apart | beyond | MiB | curl's |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    first = None
    for name, _, _ in cases:
        own, other = measured[f"{name}/lupine"], measured[f"{name}/curl"]
        apart = [(own[index] - other[index]) / 1000 for index in (0, 3)]
        first = first or apart
        cells = []
        for place, index in enumerate((0, 3)):
            cells += [f"{own[index] / 1000:.1f}", f"{other[index] / 1000:.1f}", f"{apart[place]:+.1f}"]
            cells.append(f"{apart[place] - first[place]:+.1f}" if name != "--version" else "")
        cells += [f"{own[4] / 1024:.1f}", f"{other[4] / 1024:.1f}"]
        print(f"| {name} | {' | '.join(cells)} |")


stages = ["loading", "set-up", "dial", "handshake", "response", "end"]


def trace(path, assignments, arguments):
    """The milliseconds of each stage of one run; strace adds some to all of them."""
    log = f"{work}/trace"
    calls = "execve,munmap,connect,sendto,write,sendmsg,recvfrom,read,recvmsg,exit_group"
    subprocess.run(
        ["strace", "-f", "--seccomp-bpf", "-ttt", "-yy", "-e", f"trace={calls}", "-o", log] + words(path, arguments),
        check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=clean | dict(assignment.split("=", 1) for assignment in assignments))
    borders, sent = {}, 0
    with open(log) as file:
        for line in file:
            parts = re.match(r"\d+ +(\d+\.\d+) (<\.\.\. )?(\w+)(.*)", line)
            if not parts:
                continue
            time, call, rest = float(parts[1]), parts[3], parts[4]
            is_wire = re.match(r"\(\d+<TCP:", rest) is not None
            if call == "execve":
                borders.setdefault("start", time)
            elif call == "munmap":
                # The loader's last action: it unmaps the cache of library names.
                borders.setdefault("loading", time)
            elif call == "connect" and "AF_INET" in rest and "htons(0)" not in rest:
                borders["set-up"] = time
            elif call in ("sendto", "write", "sendmsg") and is_wire and not parts[2]:
                # The client's hello, its Finished, and the request.
                sent += 1
                borders.setdefault({1: "dial", 3: "handshake"}.get(sent, "more"), time)
            elif call in ("recvfrom", "read", "recvmsg") and is_wire and "handshake" in borders:
                if not re.search(r"= (0|-1 .*)$", rest):
                    borders["response"] = time
            elif call == "exit_group":
                borders["end"] = time
    times = [borders["start"]] + [borders[stage] for stage in stages]
    return [(after - before) * 1000 for before, after in zip(times, times[1:])]


def print_stages():
    rounds = max(3, int(runs) // 3)
    print(f"\nms by stage under strace, medians of {rounds} runs")
    print(f"| | {' | '.join(stages)} |")
    print("|---|" + "---:|" * len(stages))
    measured = {}
    for _ in range(rounds):
        for name, assignments, arguments in cases[1:]:
            for program, path in programs.items():
                measured.setdefault(f"{program} {name}", []).append(trace(path, assignments, arguments))
    for name in sorted(measured, key=lambda name: (name.startswith("curl"))):
        medians = [statistics.median(column) for column in zip(*measured[name])]
        print(f"| {name} | {' | '.join(f'{median:.1f}' for median in medians)} |")


print(f"{make_roots()} roots; medians of {runs} runs, all commands in turn")
print_costs(costs())
if shutil.which("strace"):
    print_stages()
