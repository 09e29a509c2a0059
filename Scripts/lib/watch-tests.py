# SPDX-License-Identifier: MIT
"""Runs `swift test`, and ends a run that hangs.

    watch-tests.py SECONDS swift test ...

The tests write to a file when they begin and end. If nothing was added to it for SECONDS, this program lists the running tests,
with the stacks of their process if a debugger is installed. It then ends all processes, and exits with 1. Otherwise it exits as
the command does.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time


def tests_under_way(path):
    """The tests that run, oldest first, as (name and arguments, when it began).

    All tests start at once and wait for their turns; it is their cases that run.
    """
    begun = {}
    with open(path, encoding="utf-8", errors="replace") as events:
        for line in events:
            try:
                event = json.loads(line)
            except ValueError:
                continue  # The last line may be half written.
            payload = event.get("payload", {})
            if event.get("kind") != "event" or not payload.get("kind", "").startswith("testCase"):
                continue
            case = payload.get("_testCase") or {}
            name = " ".join(filter(None, (payload.get("testID"), case.get("displayName"))))
            if payload["kind"] == "testCaseStarted":
                begun[name] = payload["instant"]["since1970"]
            else:
                begun.pop(name, None)
    return sorted(begun.items(), key=lambda row: row[1])


def parent_of(process):
    """The process that started it, or None when it has ended."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            # The name in parentheses may contain any characters; the state and the parent follow it.
            return int(file.read().rpartition(")")[2].split()[1])
    except OSError:
        return None


def descendants(process):
    """The process and all that it has started, itself first.

    `swift test` runs the tests in a process group of their own, so a group is not enough to find them by.
    """
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        children.setdefault(parent_of(int(entry)), []).append(int(entry))
    found = [process]
    for one in found:
        found += children.get(one, [])
    return found


def runs_tests(process):
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return file.read().split(b"\0")[0].endswith(b".xctest")
    except OSError:
        return False


def show_stacks(process):
    debugger = shutil.which("gdb")
    if debugger is None:
        print("(no gdb here to show the stacks of the process)", flush=True)
        return
    command = [debugger, "-p", str(process), "-batch", "-ex", "thread apply all backtrace 24"]
    try:
        shown = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return
    text = shown.stdout.decode("utf-8", "replace")
    print(text[-60_000:], flush=True)


def end(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main():
    limit, command = float(sys.argv[1]), sys.argv[2:]
    folder = tempfile.mkdtemp(prefix="lupine-tests-")
    events = os.path.join(folder, "events")
    open(events, "wb").close()
    command += ["--event-stream-output-path", events, "--event-stream-version", "0"]
    child = subprocess.Popen(command, process_group=0)

    def pass_on(number, _):
        os.killpg(child.pid, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    try:
        size, since = 0, time.monotonic()
        while True:
            try:
                code = child.wait(timeout=1)
                return code if code >= 0 else 128 - code
            except subprocess.TimeoutExpired:
                pass
            now = os.path.getsize(events)
            # Nothing is added to the file during a build, either.
            if now != size or now == 0:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > limit:
                # The line break first ends a line of output that a test may have begun.
                print(f"\nno test has begun or ended for {limit:.0f} s", flush=True)
                for name, at in tests_under_way(events):
                    print(f"under way for {time.time() - at:.0f} s: {name[:300]}", flush=True)
                processes = descendants(child.pid)
                for process in filter(runs_tests, processes):
                    show_stacks(process)
                for process in processes:
                    end(process)
                child.wait()
                return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
