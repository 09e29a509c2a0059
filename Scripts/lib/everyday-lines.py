# SPDX-License-Identifier: MIT
"""Runs everyday lines of curl and HTTPie with lupine and with the program that they were written for, and compares.

    everyday-lines.py --lupine PROGRAM [--write] [--jobs N] [--verbose] [PATTERN...]

It compares the requests on the wire, the exit of the program, and the results that each row of
Tests/Fixtures/EverydayLines/lines.tsv names. The page Documentation/EverydayLines.md is generated from the same table: --write
writes it; without --write it must be equal to the generated text. With PATTERNs, only lines that contain one of them are run,
and the page is neither checked nor written. Exits with 1 if a line differs."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

import wire_recorder

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "Tests/Fixtures/EverydayLines"
PAGE = ROOT / "Documentation/EverydayLines.md"
PKI = ROOT / "Tests/Fixtures/PKI"

# Fields that name the program, what it can decode and how it frames a message; they are compared only if a row names them.
NEUTRAL = {"user-agent", "accept", "accept-encoding", "connection", "proxy-connection", "expect"}
# The ports in the lines, and the relay that replaces each.
PORTS = {"8080": "plain", "8443": "TLS", "3128": "proxy", "1080": "SOCKS"}
# The modification time of a line's files: Tue, 02 Jan 2024 03:04:05 GMT.
WRITTEN = 1_704_164_645
# The seconds after which a program that has not ended is stopped, and its line fails.
GUARD = 300
# The results that a row can compare in addition to the requests, with their names on the page.
SHOWN = {
    "out": "output", "message": "output", "files": "files", "mtime": "time of the file", "exit": "exit code", "cookies": "cookie file",
    "parts": "parts", "fails": "that it fails",
}

HIDDEN = ("-", "any-order", "terminal")

Row = collections.namedtuple("Row", "section line lupine text tokens program")
Outcome = collections.namedtuple("Outcome", "code output errors requests files times")


def read_table(name):
    """The rows of a table as (section, line number, columns). `# ` begins a section, `;` a comment."""
    section = ""
    for number, line in enumerate((FIXTURES / name).read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("# "):
            section = line[2:]
        elif line and not line.startswith(";"):
            yield section, number, [column for column in line.split("\t") if column]


def read_lines():
    rows = []
    for section, number, columns in read_table("lines.tsv"):
        if len(columns) != 4:
            sys.exit(f"lines.tsv:{number}: {len(columns)} columns; line, lupine's line or =, text, what is compared")
        line, lupine, text, tokens = columns
        program = "curl" if re.search(r"\bcurl ", line) else "http"
        rows.append(Row(section, line, line if lupine == "=" else lupine, text, tokens.split(), program))
    return rows


class Runner:
    """Runs lines, several at a time, each with relays of its own in front of one origin."""

    def __init__(self, lupine, port, folder):
        self.lupine, self.port, self.folder = lupine, port, folder
        self.peers = {"curl": shutil.which("curl"), "http": shutil.which("http")}
        self.pin = subprocess.run(
            "openssl x509 -in good.pem -noout -pubkey | openssl pkey -pubin -outform der |"
            " openssl dgst -sha256 -binary | base64",
            shell=True, cwd=PKI, check=True, capture_output=True, text=True).stdout.strip()

    def outcomes(self, row, number):
        """What lupine and the peer make of a line; the peer's is None where it is not installed."""
        folder = self.folder / str(number)
        folder.mkdir()
        socket = folder / "s"
        # The path of a socket is short, and the folder may be deep: only for lines that use it.
        uses_socket = "flowers.sock" in row.line + row.lupine
        recorder = wire_recorder.Recorder(
            self.port, PKI / "good-chain.pem", PKI / "good.key", PKI / "client-root.pem", str(socket) if uses_socket else None)
        try:
            found = []
            for program in ("lupine", row.program):
                if program == "lupine" or self.peers[program]:
                    found.append(self.run(row, program, folder / program, socket, recorder))
                else:
                    found.append(None)
            return found
        finally:
            recorder.close()
            shutil.rmtree(folder)

    def run(self, row, program, folder, socket, recorder):
        self.fill(folder, row.line)
        before = self.contents(folder)
        line = row.lupine if program == "lupine" else row.line
        for typed, way in PORTS.items():
            line = re.sub(rf"(?<=:){typed}\b", str(recorder.ports[way]), line)
        line = line.replace("PIN", self.pin).replace("flowers.sock", str(socket))
        variables = {
            "HOME": str(folder), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TMPDIR": str(self.folder),
            "HTTPIE_CONFIG_DIR": str(folder / ".config"), "TERM": "dumb", **profile(),
        }
        words = ["/bin/sh", "-c", self.functions(program, line) + line]
        done = (on_terminal if "terminal" in row.tokens else in_pipes)(words, folder, variables)
        after = self.contents(folder)
        changed = {name: content for name, content in after.items() if before.get(name) != content}
        times = {name: int((folder / name).stat().st_mtime) for name in changed}
        return Outcome(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), recorder.take(), changed, times)

    def functions(self, program, line):
        """What the names of the programs mean to the shell that a line is run by."""
        names = {"curl": "curl", "http": "http", "https": "http", "lupine": "lupine"}
        takes_input = "|" in line or " < " in line
        text = ""
        for name, peer in names.items():
            words = [f"'{self.lupine}'" if program == "lupine" else f"'{self.peers.get(peer) or 'false'}'"]
            if program != "lupine" and peer == "curl":
                words.append("-q --http1.1")
            if name == "https":
                words.append("--default-scheme=https")
            if peer != "curl" and not takes_input:
                words.append("--ignore-stdin")
            text += f'{name}() {{ {" ".join(words)} "$@"; }}\n'
        return text

    @staticmethod
    def fill(folder, line):
        """The files that lines name, the same for every run."""
        folder.mkdir()
        files = {
            "flower.json": '{"name": "lupin", "petals": 5}\n', "notes.txt": "one\ntwo\n", "part.txt": "abcde",
            "fields.txt": "X-One: 1\nX-Two: 2\n", ".netrc": "machine localhost login me password pw\n",
            "logins.txt": "machine localhost login you password wp\n", "etag.txt": '"lupin"\n',
            "jar.txt": "# Netscape HTTP Cookie File\n\nlocalhost\tFALSE\t/\tFALSE\t4102444800\tcolour\tblue\n",
        }
        # HTTPie reads it always.
        if " -n " not in line and "netrc" not in line:
            del files[".netrc"]
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
        for name, fixture in {
            "roots.pem": "root.pem", "client.pem": "client-ecdsa-chain.pem", "client.key": "client-ecdsa.key",
            "identity.pem": "client-ecdsa-identity.pem",
        }.items():
            shutil.copy(PKI / fixture, folder / name)
        for path in folder.iterdir():
            os.utime(path, (WRITTEN, WRITTEN))
        # HTTPie would ask the internet for its newest version.
        (folder / ".config").mkdir()
        (folder / ".config/config.json").write_text('{"disable_update_warnings": true}\n')

    @staticmethod
    def contents(folder):
        """Its files, but for those in which programs keep what is their own."""
        paths = {str(path.relative_to(folder)): path for path in folder.rglob("*") if path.is_file()}
        return {name: path.read_bytes() for name, path in paths.items() if not name.startswith((".config/", ".local/"))}


def profile():
    """Where a build that notes which lines are run writes that down: one file for all runs of one program."""
    pattern = os.environ.get("LLVM_PROFILE_FILE")
    return {"LLVM_PROFILE_FILE": os.path.join(os.path.dirname(pattern), "lines-%m.profraw")} if pattern else {}


class Guarded(subprocess.Popen):
    """A program in a process group of its own, all of which is ended when it has not ended by itself after GUARD seconds."""

    def __init__(self, words, folder, variables, output, errors):
        super().__init__(
            words, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True)
        self.has_expired = False
        self.guard = threading.Timer(GUARD, self.expire)
        self.guard.daemon = True
        self.guard.start()

    def expire(self):
        self.has_expired = True
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:  # it has ended just now
            pass

    def ended(self, output, errors):
        """What became of it, once its output has ended."""
        code = self.wait()
        self.guard.cancel()
        if self.has_expired:
            raise subprocess.TimeoutExpired(self.args, GUARD)
        return subprocess.CompletedProcess(self.args, code, output, errors)


def in_pipes(words, folder, variables):
    process = Guarded(words, folder, variables, subprocess.PIPE, subprocess.PIPE)
    return process.ended(*process.communicate())


def on_terminal(words, folder, variables):
    """The same with a terminal as output, which is not looked at."""
    leader, follower = os.openpty()
    process = Guarded(words, folder, variables, follower, follower)
    os.close(follower)
    said = b""
    try:
        while piece := os.read(leader, 1 << 16):
            said += piece
    except OSError:  # EIO: nobody has the other end any more
        pass
    finally:
        os.close(leader)
    return process.ended(b"", said)


# The comparison.

def differences(row, ours, theirs):
    """Says in what the two outcomes of a row differ; without the peer's, what can be seen in lupine's alone."""
    tokens = row.tokens
    for name, outcome in (("", ours), (f"{row.program} ", theirs)):
        if outcome and (outcome.code == 0) == ("fails" in tokens):
            yield f"{name}ends with {outcome.code}"
    if not theirs:
        return
    if (ours.code == 0) != (theirs.code == 0) or ("exit" in tokens and ours.code != theirs.code):
        yield f"ends with {ours.code}, {row.program} with {theirs.code}"
    mine, yours = list(ours.requests), list(theirs.requests)
    if "any-order" in tokens:
        mine.sort(key=lambda request: request.target)
        yours.sort(key=lambda request: request.target)
    if len(mine) != len(yours):
        yield f"{told(mine)} are sent, by {row.program} {told(yours)}"
    named = {token.lower() for token in tokens}
    for left, right in zip(mine, yours):
        yield from request_differences(left, right, named)
    if "out" in tokens and plain(ours.output) != plain(theirs.output):
        yield f"prints {plain(ours.output)[:600]!r}, {row.program} {plain(theirs.output)[:600]!r}"
    if "message" in tokens and message(ours.output) != message(theirs.output):
        yield f"prints {message(ours.output)}, {row.program} {message(theirs.output)}"
    if "files" in tokens and (left := saved(ours)) != (right := saved(theirs)):
        yield f"saves {left}, {row.program} {right}"
    if "mtime" in tokens and ours.times != theirs.times:
        yield f"saves at {ours.times}, {row.program} {theirs.times}"
    if "cookies" in tokens and (left := cookies(ours)) != (right := cookies(theirs)):
        yield f"keeps {left}, {row.program} {right}"


def told(requests):
    return f"{len(requests)} requests ({', '.join(f'{r.way}: {r.method} {r.target}' for r in requests)})"


def request_differences(left, right, named):
    for what in ("way", "method", "target"):
        if even(getattr(left, what)) != even(getattr(right, what)):
            yield f"{what} {getattr(left, what)!r}, expected {getattr(right, what)!r}"
    forms = [wire_recorder.parts(request) for request in (left, right)]
    if None in forms and left.body != right.body:
        yield f"body {left.body[:400]!r}, expected {right.body[:400]!r}"
    elif forms[0] != forms[1]:
        yield f"parts {forms[0]}, expected {forms[1]}"
    names = {name.lower() for request in (left, right) for name, _ in request.fields} | {"content-type"}
    for name in sorted(names):
        if name in NEUTRAL and name not in named:
            continue
        if name == "content-length" and None not in forms:
            continue
        if name == "content-length" and not left.body and not right.body:
            continue
        values = [[field(name, value, named) for value in request.values(name)] for request in (left, right)]
        if name == "cookie":
            values = [sorted("; ".join(value).split("; ")) for value in values]
        if values[0] != values[1]:
            yield f"{name} {values[0]}, expected {values[1]}"


def even(target):
    """A target as it is compared: a blank is a plus sign or %20, brackets stand as they are or percent-encoded."""
    return target.replace("+", "%20").replace("[", "%5B").replace("]", "%5D")


def field(name, value, named):
    """A value as it is compared: boundaries and the nonces of Digest are each program's own."""
    if name == "content-type":
        return re.sub(r'boundary=("[^"]*"|\S+)', "boundary=", value)
    if name == "authorization" and value.startswith("Digest "):
        pairs = dict(re.findall(r'(\w+)="?([^",]*)', value))
        return {key: value for key, value in pairs.items() if key not in ("cnonce", "nonce", "response", "opaque", "nc")}
    return value


def plain(output):
    return re.sub(rb"(?mi)^date: .*\r?$", b"date:", output)


def message(output):
    """A printed message, in which the order of fields means nothing."""
    found = []
    for line in output.decode("utf-8", "replace").splitlines():
        name = line.partition(":")[0].lower()
        if line.strip() and name not in NEUTRAL | {"date"}:
            found.append(line.strip())
    return sorted(found)


def saved(outcome):
    return {name: plain(content) for name, content in outcome.files.items()}


def cookies(outcome):
    """The cookies in files that were written: domain, path, secure, expiry in days, name, value."""
    found = []
    for content in outcome.files.values():
        for line in content.decode().replace("#HttpOnly_", "").splitlines():
            columns = line.split("\t")
            if len(columns) == 7:
                found.append((columns[0].lstrip("."), *columns[2:4], int(columns[4]) // 86_400, *columns[5:]))
    return sorted(found)


# The options that `lupine` does not accept: its message must name the option to use instead.

def answers(lupine):
    """The options that are not taken, with what the command says about each, and what is wrong with that."""
    rows, wrong = [], []
    for section, number, (shown, line) in read_table("not-taken.tsv"):
        variables = {"HOME": "/nonexistent", "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **profile()}
        done = in_pipes(["/bin/sh", "-c", f"'{lupine}' --ignore-stdin {line}"], None, variables)
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("lupine: ")
        advice = re.sub(r"^\S+ is not taken: ", "", said)
        if done.returncode != 2 or "\n" in said or "there is no option" in said:
            wrong.append(f"not-taken.tsv:{number}: lupine {line}: ends with {done.returncode} and says {said!r}")
        rows.append((section, shown, advice))
    return rows, wrong


# The page.

INTRODUCTION = """\
# Everyday lines of curl and HTTPie

Lines as people type them for curl and HTTPie: {curl} and {http} of them. Where the second column says "the same", `lupine` takes
the words as they stand; else it has the words that mean the same. `Scripts/test` runs every line against `LupineOrigin`, with
`lupine` and with the program that it was written for, Debian's `curl` (with `--http1.1`) or `httpie`, and compares the two.
`Scripts/everyday-lines --write` makes this page of `Tests/Fixtures/EverydayLines`.

Compared are the number of requests, the way they go (TLS, client certificate, proxy, socket), method, target, body and header
fields, and whether the program succeeds. The fields `User-Agent`, `Accept`, `Accept-Encoding`, `Connection` and `Expect` say what a
program is and can do, and are compared where a row names them; in a query a blank may be `+` or `%20`, and a bracket may be
percent-encoded. What else a row compares stands in its last column.

In the lines `localhost:8080` is the origin, `localhost:8443` the same over TLS, `localhost:3128` a proxy, `localhost:1080` a SOCKS
proxy. [The command](Command.md) has what differs from curl on purpose.
"""

NOT_TAKEN = """\
## Not taken

Each of these ends with 2, and the command says what stands here.
"""


def code(line):
    return "`` " + line.replace("|", "\\|") + " ``" if "`" in line else "`" + line.replace("|", "\\|") + "`"


def page(rows, refused):
    pieces = [INTRODUCTION.format(**collections.Counter(row.program for row in rows))]
    for section in dict.fromkeys(row.section for row in rows):
        pieces.append(f"## {section}\n")
        table = ["| line | `lupine` | what it does | compared besides |", "|---|---|---|---|"]
        for row in rows:
            if row.section == section:
                same = "the same" if row.lupine == row.line else code(row.lupine)
                besides = ", ".join(SHOWN.get(token, f"`{token}`") for token in row.tokens if token not in HIDDEN)
                table.append(f"| {code(row.line)} | {same} | {row.text} | {besides} |")
        pieces.append("\n".join(table) + "\n")
    pieces.append(NOT_TAKEN)
    for section in dict.fromkeys(section for section, _, _ in refused):
        pieces.append(f"### {section}\n")
        table = ["| option | what `lupine` says |", "|---|---|"]
        table += [f"| {shown} | {escaped(advice)} |" for name, shown, advice in refused if name == section]
        pieces.append("\n".join(table) + "\n")
    return "\n".join(pieces)


def escaped(text):
    return re.sub(r"([|<>*_])", r"\\\1", text)


# The run.

def origin(lupine, folder):
    """Starts the origin and waits until it says where it is."""
    process = subprocess.Popen(
        [lupine, "serve", "--port", "0"], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, cwd=folder)
    guard = threading.Timer(GUARD, process.kill)
    guard.daemon = True
    guard.start()
    match = re.search(r"Serving at http://[^:]+:(\d+)", process.stdout.readline())
    guard.cancel()
    if not match:
        process.kill()
        process.wait()
        sys.exit("lupine serve did not say where it serves")
    return process, int(match.group(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lupine", required=True, type=os.path.abspath)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rows = read_lines()
    chosen = [row for row in rows if not options.patterns or any(part in row.line for part in options.patterns)]
    wrong = []
    with tempfile.TemporaryDirectory(prefix="lupine-lines.") as name:
        process, port = origin(options.lupine, name)
        try:
            runner = Runner(options.lupine, port, pathlib.Path(name))
            for program, path in runner.peers.items():
                if not path:
                    print(f"everyday-lines: {program} is not installed: its lines are run by lupine alone")

            ends = {}

            def judge(number):
                row = chosen[number]
                try:
                    ours, theirs = runner.outcomes(row, number)
                except Exception as error:  # whatever it is, the line is named
                    return [f"{type(error).__name__}: {error}"]
                found = list(differences(row, ours, theirs))
                if options.verbose:
                    ends[number] = f"{ours.code} {told(ours.requests)}"
                if found:
                    found += [f"lupine says: {ours.errors.strip()}"] if ours.errors.strip() else []
                    found += [f"{row.program} says: {theirs.errors.strip()[-600:]}"] if theirs and theirs.errors.strip() else []
                return found

            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                for number, found in enumerate(pool.map(judge, range(len(chosen)))):
                    row = chosen[number]
                    if options.verbose:
                        print(f"{'DIFFERS' if found else 'ok     '} {row.line}\n        ends with {ends.get(number)}")
                    if found:
                        line = row.line if row.lupine == row.line else f"{row.line}  ({row.lupine})"
                        wrong.append(f"{line}: {'; '.join(found)}")
        finally:
            process.terminate()
            try:
                process.wait(GUARD)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                wrong.append(f"lupine serve did not end within {GUARD} s")
            process.stdout.close()
    if not options.patterns:
        refused, more = answers(options.lupine)
        wrong += more
        text = page(rows, refused)
        if options.write:
            PAGE.write_text(text, encoding="utf-8")
        elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
            wrong.append("Documentation/EverydayLines.md is not what its tables make: Scripts/everyday-lines --write")
    for finding in wrong:
        # One line each, with the word by which .ci/run finds it.
        print(f"everyday-lines: error: {' '.join(finding.split())}")
    count = collections.Counter(row.program for row in chosen)
    print(f"{len(chosen)} lines ({count['curl']} of curl, {count['http']} of HTTPie), {len(wrong)} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
