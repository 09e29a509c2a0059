# SPDX-License-Identifier: MIT
"""Writes the public interface of modules as lines of text, and compares it with the recorded one: see Scripts/interface.

    interface.py compare BASELINE GRAPHS COMPILER MODULE...   prints how GRAPHS differ from BASELINE; exits with 1 if they do
    interface.py write BASELINE GRAPHS COMPILER MODULE...     writes BASELINE/MODULE.txt from GRAPHS, if MODULE has public names

BASELINE is a folder of text files, GRAPHS a folder of symbol graphs. A line is a name and, after a tab, its declaration, a
conformance, a superclass, or that it is deprecated. COMPILER is Swift's version, such as `6.3`: compilers print declarations in
different ways, so that only names are compared if another compiler has written the baseline.
"""

import json
import pathlib
import re
import subprocess
import sys

# Conformances that the compiler derives for every type; its versions derive different ones.
IMPLIED = {"Copyable", "Escapable", "BitwiseCopyable", "SendableMetatype"}
REQUIREMENT = "requirement: "
DEFAULTED = " (has a default)"
SIGNS = {"sameType": " == ", "conformance": ": ", "superclass": ": "}


def spelled(fragments):
    """The text of a declaration in one line: the compiler keeps the line breaks of default values."""
    text = "".join(fragment["spelling"] for fragment in fragments)
    return re.sub(r"\s+", " ", re.sub(r"\s*\n\s*(?=\.)", "", text)).strip()


def where(constraints):
    texts = sorted(c["lhs"] + SIGNS.get(c["kind"], " ? ") + c["rhs"] for c in constraints or [] if c["rhs"] not in IMPLIED)
    return " where " + ", ".join(texts) if texts else ""


def demangled(symbols):
    """The names of types of other packages, by their identifiers (`s:SS`)."""
    if not symbols:
        return {}
    mangled = "\n".join("$" + symbol.replace(":", "", 1) for symbol in symbols)
    names = subprocess.run(["swift", "demangle", "--compact"], input=mangled, capture_output=True, text=True, check=True)
    return dict(zip(symbols, names.stdout.split("\n")))


class Graphs:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.names = {}
        graphs = [json.loads(path.read_text()) for path in sorted(self.folder.glob("*.symbols.json"))]
        for graph in graphs:
            for symbol in graph["symbols"]:
                self.names[symbol["identifier"]["precise"]] = ".".join(symbol["pathComponents"])
        strangers = set()
        for graph in graphs:
            for relation in graph["relationships"]:
                if relation["kind"] in ("conformsTo", "inheritsFrom"):
                    if "targetFallback" in relation:
                        self.names.setdefault(relation["target"], self.without_module(relation["targetFallback"]))
                    strangers |= {relation["source"], relation["target"]}
        for symbol, name in demangled(sorted(strangers - self.names.keys())).items():
            self.names[symbol] = self.without_module(name)

    @staticmethod
    def without_module(name):
        return name.split(".", 1)[-1]

    def lines(self, module):
        """The interface of one module: its own declarations, and those that it adds to types of others."""
        symbols, relations = [], []
        for path in [self.folder / f"{module}.symbols.json", *self.folder.glob(f"{module}@*.symbols.json")]:
            graph = json.loads(path.read_text())
            symbols += graph["symbols"]
            relations += graph["relationships"]
        required = {relation["source"] for relation in relations if relation["kind"] == "requirementOf"}
        defaulted = {relation["target"] for relation in relations if relation["kind"] == "defaultImplementationOf"}
        found = set()
        for symbol in symbols:
            identifier, name = symbol["identifier"]["precise"], ".".join(symbol["pathComponents"])
            text = spelled(symbol["declarationFragments"])
            if symbol["accessLevel"] == "open":
                text = "open " + text
            text += where(symbol.get("swiftExtension", {}).get("constraints"))
            if identifier in required:
                text = REQUIREMENT + text + (DEFAULTED if identifier in defaulted else "")
            found.add((name, text))
            for availability in symbol.get("availability", []):
                if availability.get("isUnconditionallyDeprecated"):
                    advice = availability.get("message") or f"renamed to {availability.get('renamed')}"
                    found.add((name, f"deprecated: {advice}"))
        for relation in relations:
            words = {"conformsTo": "conforms to", "inheritsFrom": "inherits from"}.get(relation["kind"])
            target = self.names.get(relation["target"])
            if words and target not in IMPLIED:
                conditions = where(relation.get("swiftConstraints"))
                found.add((self.names[relation["source"]], f"{words} {target}{conditions}"))
        return sorted(found)


def read(path):
    """The compiler that wrote a baseline, and its lines."""
    if not path.exists():
        return None, []
    first, *lines = path.read_text().splitlines()
    compiler = re.search(r"Swift (\d+\.\d+)", first)
    return compiler and compiler.group(1), [tuple(line.split("\t", 1)) for line in lines if line]


def differences(before, after):
    """What is only before, what is only after, and what has one name on both sides, as (name, text, text)."""
    removed, added, changed = sorted(set(before) - set(after)), sorted(set(after) - set(before)), []
    for name, text in list(removed):
        twin = next((line for line in added if line[0] == name), None)
        if twin:
            changed.append((name, text, twin[1]))
            removed.remove((name, text))
            added.remove(twin)
    return removed, added, changed


def breaks_when_added(name, text, before, after):
    """Why a declaration that is new breaks programs, or nothing."""
    container = name.rpartition(".")[0]
    if not any(line[0] == container for line in before):
        return ""
    # Every type that conforms to the protocol would have to implement it.
    if text.startswith(REQUIREMENT) and not text.endswith(DEFAULTED):
        return "without a default"
    # A switch over all cases would have to handle it. A switch over errors has a default: see Versions.md.
    if re.match(r"(indirect )?case ", text):
        parts = container.split(".")
        outer = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
        if not any(line[0] in outer and line[1] == "conforms to Error" for line in after):
            return "to an enumeration that is no error"
    return ""


def compare(baseline, graphs, compiler, modules):
    breaks = additions = 0
    for module in modules:
        written_by, before = read(baseline / f"{module}.txt")
        after = graphs.lines(module)
        if written_by not in (None, compiler):
            print(f"{module}: Swift {written_by} has written the baseline; compared by names alone")
            before, after = ({(line[0], "") for line in lines} for lines in (before, after))
        removed, added, changed = differences(before, after)
        for name, text in removed:
            print(f"{module}: removed: {name}\t{text}".rstrip())
        for name, old, new in changed:
            print(f"{module}: changed: {name}\t{old}\n    to: {new}")
        for name, text in added:
            reason = breaks_when_added(name, text, before, after)
            breaks += bool(reason)
            additions += not reason
            print(f"{module}: added{', ' if reason else ''}{reason}: {name}\t{text}".rstrip())
        breaks += len(removed) + len(changed)
    if breaks:
        print(
            f"{breaks} changes break programs. Where one is intended, CHANGELOG.md says what to write instead,"
            " and Scripts/interface --write records it."
        )
    if additions:
        print(f"{additions} additions are not in the baseline: Scripts/interface --write records them.")
    return 1 if breaks or additions else 0


def write(baseline, graphs, compiler, modules):
    baseline.mkdir(parents=True, exist_ok=True)
    for old in baseline.glob("*.txt"):
        old.unlink()
    for module in modules:
        lines = "".join(f"{name}\t{text}\n" for name, text in graphs.lines(module))
        if not lines:
            continue
        head = f"# The public interface of {module}, as Swift {compiler} spells it. Scripts/interface --write writes it.\n"
        (baseline / f"{module}.txt").write_text(head + lines)
    return 0


def main(command, baseline, graphs, compiler, *modules):
    return {"compare": compare, "write": write}[command](pathlib.Path(baseline), Graphs(graphs), compiler, modules)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
