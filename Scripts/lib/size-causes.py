# SPDX-License-Identifier: MIT
"""Prints the octets that one program has more than another, by module and kind.

    size-causes.py LESS MORE

LESS and MORE are programs for x86-64, with symbols or without. The map file that GNU gold wrote for each must be in the same
folder, as PROGRAM.map. Counts what remains in a stripped file, and prints a Markdown table: a row for each library or module,
columns by kind.
"""

import bisect
import collections
import re
import struct
import sys

KINDS = ["code", "constants, data", "metadata", "unwinding", "relocations", "names"]
ARCHIVES = {
    "swiftCore": "Swift's standard library and runtime",
    "swift_Concurrency": "Swift's tasks, Dispatch",
    "dispatch": "Swift's tasks, Dispatch",
    "swiftDispatch": "Swift's tasks, Dispatch",
    "BlocksRuntime": "Swift's tasks, Dispatch",
    "swift_RegexParser": "regular expressions",
    "swift_StringProcessing": "regular expressions",
}


def owner(path):
    """The module or library that an input file belongs to."""
    module = re.search(r"/(\w+)\.build/", path)
    if module:
        return "`" + module.group(1).replace("lupine_command", "lupine-command") + "`"
    archive = re.search(r"/lib([\w+]+)\.a\(", path)
    if archive and ("Foundation" in archive.group(1) or archive.group(1).startswith("_CF")):
        return "Foundation"
    return ARCHIVES.get(archive.group(1), "the rest") if archive else "the rest"


def kind(section):
    """The column that a section's octets count in."""
    if section in (".eh_frame", ".eh_frame_hdr", ".gcc_except_table"):
        return "unwinding"
    if section.startswith(".rela"):
        return "relocations"
    if section in (".dynsym", ".dynstr") or section.startswith(".gnu.hash") or section.startswith(".gnu.version"):
        return "names"
    if section.startswith("swift5_"):
        return "metadata"
    return "code" if section in (".text", ".plt", ".init", ".fini") else "constants, data"


class Program:
    """A program's sections, and whose each address is."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.octets = file.read()
        if self.octets[:6] != b"\x7fELF\x02\x01":
            sys.exit(f"size-causes.py: {path} is no 64-bit little-endian ELF file")
        table, = struct.unpack_from("<Q", self.octets, 0x28)
        size, count, names = struct.unpack_from("<HHH", self.octets, 0x3A)
        headers = [struct.unpack_from("<IIQQQQ", self.octets, table + size * i) for i in range(count)]
        texts = headers[names][4]
        self.sections = {}
        for name, type_, flags, address, offset, length in headers:
            if flags & 2 and type_ != 8:  # in memory, and in the file
                end = self.octets.index(b"\0", texts + name)
                self.sections[self.octets[texts + name:end].decode()] = (address, offset, length)
        self.counts = collections.Counter()
        self.spans = []
        self.read_map(path + ".map")
        for name, (_, _, length) in self.sections.items():
            self.counts["the rest", kind(name)] += length - self.placed[name]
        self.share_unwinding()
        self.share_relocations()
        self.share_names()

    def read_map(self, path):
        with open(path, errors="replace") as file:
            text = file.read()
        if "\nMemory map\n" not in text:
            sys.exit(f"size-causes.py: {path} is no map of GNU gold")
        text = text[text.index("\nMemory map\n"):]
        text = re.sub(r"\n( ?\S+)\n\s+(0x)", r"\n\1 \2", text)
        self.placed = collections.Counter()
        section = ""
        for line in text.splitlines():
            if match := re.match(r"(\S+)\s+0x[0-9a-f]+\s+0x[0-9a-f]+$", line):
                section = match.group(1)
            elif match := re.match(r" [^*\s]\S*\s+0x([0-9a-f]+)\s+0x([0-9a-f]+) (.*)$", line):
                address, length = int(match.group(1), 16), int(match.group(2), 16)
                # The linker's own tables are shared out below.
                if section in self.sections and kind(section) in ("code", "constants, data", "metadata"):
                    self.placed[section] += length
                    self.counts[owner(match.group(3)), kind(section)] += length
                # Sections that are not in memory begin at 0, and say nothing.
                if length and section in self.sections:
                    self.spans.append((address, address + length, owner(match.group(3))))
        self.spans.sort()
        self.starts = [span[0] for span in self.spans]

    def whose(self, address):
        index = bisect.bisect_right(self.starts, address) - 1
        return self.spans[index][2] if index >= 0 and address < self.spans[index][1] else "the rest"

    def move(self, whose, kind, count):
        self.counts["the rest", kind] -= count
        self.counts[whose, kind] += count

    def share_unwinding(self):
        """By the search table: each function's entry there, and its description."""
        if ".eh_frame_hdr" not in self.sections:
            return
        base, offset, _ = self.sections[".eh_frame_hdr"]
        frames, frames_offset, _ = self.sections[".eh_frame"]
        count, = struct.unpack_from("<I", self.octets, offset + 8)
        for index in range(count):
            function, description = struct.unpack_from("<ii", self.octets, offset + 12 + 8 * index)
            length, = struct.unpack_from("<I", self.octets, frames_offset + base + description - frames)
            self.move(self.whose(base + function), "unwinding", 8 + 4 + length)

    def share_relocations(self):
        _, offset, length = self.sections[".rela.dyn"]
        for index in range(length // 24):
            place, = struct.unpack_from("<Q", self.octets, offset + 24 * index)
            self.move(self.whose(place), "relocations", 24)

    def share_names(self):
        """A symbol's entry, its hash, its version and its name. Equal constants are one, and nobody's: their names say the module."""
        _, offset, length = self.sections[".dynsym"]
        names = self.sections[".dynstr"][1]
        for index in range(length // 24):
            name, _, _, section, value, _ = struct.unpack_from("<IBBHQQ", self.octets, offset + 24 * index)
            if section:
                text = self.octets[names + name:self.octets.index(b"\0", names + name)].decode(errors="replace")
                module = re.match(r"\$s(\d+)(\w+)", text)
                whose = "`" + module.group(2)[:int(module.group(1))] + "`" if module else self.whose(value)
                self.move(whose, "names", 24 + 4 + 2 + len(text) + 1)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    less, more = Program(sys.argv[1]).counts, Program(sys.argv[2]).counts
    difference = {key: more[key] - less[key] for key in less.keys() | more.keys()}
    totals = collections.Counter()
    for (whose, _), count in difference.items():
        totals[whose] += count
    print("| octets of | " + " | ".join(KINDS) + " | together |")
    print("|---|" + "---:|" * (len(KINDS) + 1))
    for whose, total in sorted(totals.items(), key=lambda item: (item[0] == "the rest", -item[1])):
        cells = [difference.get((whose, kind), 0) for kind in KINDS]
        print(f"| {whose} | " + " | ".join(f"{cell:,}" for cell in [*cells, total]) + " |")
    sums = [sum(count for (_, column), count in difference.items() if column == kind) for kind in KINDS]
    print("| together | " + " | ".join(f"{cell:,}" for cell in [*sums, sum(sums)]) + " |")


if __name__ == "__main__":
    main()
