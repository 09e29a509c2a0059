# SPDX-License-Identifier: MIT
"""Compares symbol graphs with tables of public names: see Scripts/api-coverage.

A table has a row for each name: a mark, the kind, the name with the types that contain it, the types of the
parameters, the type of the result. For a row without types, only the name is compared.
"""

import json
import re
import sys

# Kinds that count as equal: programs use an enumeration's case like a static property, and an operator like a method.
SAME_KIND = {"enum.case": {"enum.case", "type.property"}, "func.op": {"func.op", "type.method", "method"}}

# The members that every subclass of NSObject inherits.
INHERITED = {
    "copy()": ("method", [], "Any"),
    "mutableCopy()": ("method", [], "Any"),
    "isEqual(_:)": ("method", ["Any?"], "Bool"),
    "hash": ("property", [], "Int"),
    "description": ("property", [], "String"),
    "debugDescription": ("property", [], "String"),
    "init()": ("init", [], ""),
}


def normal(text):
    """A type as it is compared: without spaces, attributes, labels and the types and modules that it is nested in."""
    text = re.sub(r"@\w+(\([^)]*\))?\s*", "", text)
    text = re.sub(r"\b(any|inout|sending|consuming|borrowing|__owned|nonisolated)\s+", "", text)
    text = re.sub(r"([(,]\s*)(?:\w+\s+)?\w+\s*:\s*", r"\1", text)
    text = re.sub(r"(?:\b\w+\.)+(?!Type\b)(\w+)", r"\1", text)
    text = re.sub(r"\b\w+<[^<>]*>\.(?=\w)", "", text)
    text = re.sub(r"\bVoid\b", "()", text)
    text = re.sub(r"\bAnyObject\.Type\b", "AnyClass", text)
    text = re.sub(r"\s+", "", text)
    while True:
        shorter = re.sub(r"\((\w+)\)(?=[?!])", r"\1", text)
        if shorter == text:
            break
        text = shorter
    return text.rstrip("!") + "?" if text.endswith("!") else text


def spelled(fragments):
    return "".join(fragment["spelling"] for fragment in fragments)


class Symbol:
    def __init__(self, graph_symbol):
        self.kind = graph_symbol["kind"]["identifier"].removeprefix("swift.")
        self.name = ".".join(graph_symbol["pathComponents"])
        self.types, self.result = [], ""
        signature = graph_symbol.get("functionSignature")
        if signature is not None and self.kind != "enum.case":
            for parameter in signature.get("parameters", []):
                text = spelled(parameter.get("declarationFragments", []))
                self.types.append(normal(text.split(":", 1)[1] if ":" in text else text))
            if self.kind != "init":
                self.result = normal(spelled(signature.get("returns", [])))
        elif self.kind in ("property", "type.property", "var"):
            text = spelled(graph_symbol.get("declarationFragments", []))
            found = re.search(r":\s*(.*?)\s*(\{[^{}]*\}\s*)?$", text, re.S)
            self.result = normal(found.group(1)) if found else ""

    def describes(self):
        return f"{self.kind} ({'; '.join(self.types)}) {self.result}".strip()


class Row:
    def __init__(self, fields):
        fields = fields + [""] * (5 - len(fields))
        _, self.kind, self.name, types, self.result = fields[:5]
        self.types = [normal(part) for part in types.split("; ")] if types else []
        self.result = normal(self.result) if self.result else ""
        if self.kind == "init":
            self.result = ""

    def accepts(self, symbol):
        if symbol.kind not in SAME_KIND.get(self.kind, {self.kind}):
            return False
        if self.kind in ("method", "type.method", "init", "func.op"):
            if self.types != symbol.types:
                return False
        # A struct's or an enum's `Self` is itself: the compiler says its name.
        owner = normal(self.name.split("(")[0].rpartition(".")[0])
        return self.result in ("", symbol.result) or (self.result == "Self" and owner == symbol.result)

    def describes(self):
        return f"{self.kind} ({'; '.join(self.types)}) {self.result}".strip()


def rows_of(text, prefix=""):
    """The rows of a table; a cell may span lines, a row begins with its mark: the module that it extends, or a dash."""
    rows = []
    for line in re.split(r"\n(?=(?:-|[A-Z]\w*)\t)", text.strip("\n")):
        row = Row([cell.strip() for cell in line.split("\t")])
        if row.name.startswith(prefix):
            rows.append(row)
    return rows


class Symbols:
    def __init__(self, graphs):
        self.by_name, names, self.parents = {}, {}, {}
        for graph in graphs:
            for entry in graph["symbols"]:
                if entry.get("accessLevel") not in ("public", "open"):
                    continue
                symbol = Symbol(entry)
                names[entry["identifier"]["precise"]] = symbol.name
                self.by_name.setdefault(symbol.name, []).append(symbol)
        for graph in graphs:
            for relation in graph.get("relationships", []):
                if relation["kind"] in ("inheritsFrom", "conformsTo") and relation["source"] in names:
                    parent = names.get(relation["target"]) or relation.get("targetFallback", "").split(".")[-1]
                    self.parents.setdefault(names[relation["source"]], set()).add(parent)

    def ancestors(self, name):
        seen, waiting = set(), [name]
        while waiting:
            for parent in self.parents.get(waiting.pop(), ()):
                if parent not in seen:
                    seen.add(parent)
                    waiting.append(parent)
        return seen

    def candidates(self, name):
        """What goes by that name: the symbol, and what its type inherits."""
        found = list(self.by_name.get(name, []))
        match = re.match(r"^(.*?)\.([^.(]+(?:\(.*\))?)$", name)
        if match:
            owner, member = match.groups()
            ancestors = self.ancestors(owner)
            for ancestor in ancestors:
                found += self.by_name.get(f"{ancestor}.{member}", [])
            if "NSObject" in ancestors and member in INHERITED:
                kind, types, result = INHERITED[member]
                symbol = Symbol({"kind": {"identifier": kind}, "pathComponents": [name]})
                symbol.types, symbol.result = types, result
                found.append(symbol)
        return found


def exemptions_of(text):
    exempt, faults = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, bar, reason = line.partition(" | ")
        if not bar or not reason.strip():
            faults.append(f"line {number} of the exemptions: a line is `name | reason`")
        else:
            exempt[name.strip()] = reason.strip()
    return exempt, faults


def compare(tables, symbols, exempt, lists_all=False):
    """The lines of the report, and whether everything is as it should be."""
    lines, unneeded, is_right = [], dict(exempt), True
    counts = []
    for title, rows in tables:
        there = exempted = 0
        for row in rows:
            found = symbols.candidates(row.name)
            if any(row.accepts(symbol) for symbol in found):
                there += 1
                if lists_all:
                    lines.append(f"there      {row.name}")
                continue
            unneeded.pop(row.name, None)
            if row.name in exempt:
                exempted += 1
            elif found:
                is_right = False
                shown = " or ".join(sorted({symbol.describes() for symbol in found}))
                lines.append(f"different  {row.name}: {row.describes()} is here {shown}")
            else:
                is_right = False
                lines.append(f"missing    {row.name} ({row.kind})")
        counts.append((title, len(rows), there, exempted))
    for name in unneeded:
        is_right = False
        known = any(row.name == name for _, rows in tables for row in rows)
        lines.append(f"exempt     {name}: {'it is there: remove it' if known else 'no table has it'}")
    for title, total, there, exempted in counts:
        missing = total - there - exempted
        share = 100 * (there + exempted) / total if total else 100
        lines.append(
            f"{title}: {there} of {total} names, {exempted} exempt, {missing} missing or different: {share:.1f} %")
    return lines, is_right


def self_test():
    def symbol(kind, name, access="public", types=None, result=None, declared=None):
        entry = {
            "kind": {"identifier": f"swift.{kind}"}, "pathComponents": name.split(".") if "(" not in name else
            name[: name.index("(")].split(".")[:-1] + [name[: name.index("(")].split(".")[-1] + name[name.index("("):]],
            "identifier": {"precise": f"s:{name}{types}"}, "accessLevel": access,
        }
        if types is not None:
            entry["functionSignature"] = {
                "parameters": [{"declarationFragments": [{"spelling": f"x: {text}"}]} for text in types],
                "returns": [{"spelling": result or "()"}],
            }
        if declared:
            entry["declarationFragments"] = [{"spelling": declared}]
        return entry

    graph = {
        "symbols": [
            symbol("class", "A"), symbol("class", "B"), symbol("enum", "A.Kind"), symbol("enum.case", "A.Kind.one"),
            symbol("property", "A.size", declared="var size: Int? { get set }"),
            symbol("property", "A.hidden", access="package", declared="var hidden: Int"),
            symbol("method", "A.load(_:)", types=["URLRequest"], result="(any B)?"),
            symbol("method", "A.load(_:)", types=["URL"], result="()"),
            symbol("method", "A.ask(_:)", types=["@escaping @Sendable (_ kind: A.Kind, B?) -> Void"]),
            symbol("method", "A.copy()", types=[], result="Any"),
            symbol("type.method", "A.Kind.first()", types=[], result="A.Kind"),
            symbol("type.method", "A.Kind.owner()", types=[], result="A"),
        ],
        "relationships": [
            {"kind": "inheritsFrom", "source": "s:BNone", "target": "s:ANone"},
            {"kind": "inheritsFrom", "source": "s:ANone", "target": "c:NSObject", "targetFallback": "Foundation.NSObject"},
        ],
    }
    symbols = Symbols([graph])
    cases = [
        # row, exemption, whether it passes
        ("-\tclass\tA\t\t", "", True),
        ("-\tstruct\tA\t\t", "", False),
        ("-\tenum.case\tA.Kind.one\t\t", "", True),
        ("-\tproperty\tA.size\t\tInt?", "", True),
        ("-\tproperty\tA.size\t\tInt", "", False),
        ("-\tproperty\tA.hidden\t\tInt", "", False),
        ("-\tmethod\tA.load(_:)\tURLRequest\tB?", "", True),
        ("-\tmethod\tA.load(_:)\tURL\t()", "", True),
        ("-\tmethod\tA.load(_:)\tData\t()", "", False),
        ("-\tmethod\tA.ask(_:)\t(Kind, (any B)?) -> ()\t()", "", True),
        ("-\tmethod\tA.ask(_:)\t(Kind) -> ()\t()", "", False),
        ("-\tmethod\tB.load(_:)\tURL\t()", "", True),
        ("-\tproperty\tB.hash\t\tInt", "", True),
        ("-\ttype.method\tA.Kind.first()\t\tSelf", "", True),
        ("-\ttype.method\tA.Kind.owner()\t\tSelf", "", False),
        ("-\tmethod\tA.gone()\t\t()", "", False),
        ("-\tmethod\tA.gone()\t\t()", "A.gone() | has no meaning here", True),
        ("-\tmethod\tA.gone()\t\t()", "A.gone()", False),
        ("-\tclass\tA\t\t", "A | not needed", False),
        ("-\tclass\tA\t\t", "C | no table has it", False),
        ("-\tmethod\tA.copy()\t\tAny\n-\tmethod\tA.ask(_:)\t(Kind,\n    B?) -> Void\t()", "", True),
    ]
    failures = []
    for table, exemption, passes in cases:
        exempt, faults = exemptions_of(exemption)
        lines, is_right = compare([("table", rows_of(table))], symbols, exempt)
        if (is_right and not faults) != passes:
            failures.append(f"{table!r} with {exemption!r}: {lines + faults}")
    if len(rows_of("-\tclass\tURLA\t\t\n-\tclass\tB\t\t", "URL")) != 1:
        failures.append("the prefix of a table is not kept to")
    for failure in failures:
        print(failure)
    print(f"{len(cases) + 1 - len(failures)} of {len(cases) + 1} cases")
    return not failures


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    reports = lists_all = False
    tables, exempt, faults, graphs = [], {}, [], []
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "--report":
            reports = True
        elif argument == "--all":
            lists_all = True
        elif argument == "--exempt":
            with open(next(waiting)) as file:
                exempt, faults = exemptions_of(file.read())
        elif argument == "--table":
            path, _, prefix = next(waiting).partition(":")
            with open(path) as file:
                tables.append((path.split("/")[-1], rows_of(file.read(), prefix)))
        else:
            with open(argument) as file:
                graphs.append(json.load(file))
    lines, is_right = compare(tables, Symbols(graphs), exempt, lists_all)
    for line in faults + lines:
        print(line)
    return reports or (is_right and not faults)


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
