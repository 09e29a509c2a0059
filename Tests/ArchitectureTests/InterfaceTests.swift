// SPDX-License-Identifier: MIT
import Foundation
import Testing

/// Tests of the comparison of public interfaces (`Scripts/interface`), with interfaces of a few lines.
struct InterfaceTests {
    /// The interface of a module `M`, from which a symbol graph is made.
    struct Interface {
        var declarations: [(name: String, text: String)] = [
            ("Shape", "protocol Shape"), ("Shape.scale(by:)", "func scale(by factor: Int)"),
            ("Shape.area", "var area: Int { get }"),
        ]
        var requirements: Set = ["Shape.area"]
        var defaulted: Set<String> = []
        var conformances: [(type: String, protocol: String)] = []
        var deprecated: Set<String> = []

        /// Returns a changed copy.
        func with(_ change: (inout Interface) -> Void) -> Interface {
            var changed = self
            change(&changed)
            return changed
        }

        /// The symbol graph, in the format of `swift symbolgraph-extract`.
        var graph: Data {
            get throws {
                let symbols = declarations.map { name, text -> [String: Any] in
                    [
                        "identifier": ["precise": "s:\(name) \(text)"], "accessLevel": "public",
                        "pathComponents": name.split(separator: ".").map(String.init),
                        "declarationFragments": [["spelling": text]],
                        "availability": deprecated.contains(name)
                            ? [["isUnconditionallyDeprecated": true, "message": "Use another."]] : [],
                    ]
                }
                let relations = declarations.flatMap { name, text -> [[String: Any]] in
                    let symbol = "s:\(name) \(text)"
                    var found: [[String: Any]] = []
                    if requirements.contains(name) {
                        found.append([
                            "kind": "requirementOf", "source": symbol, "target": "s:Shape protocol Shape",
                        ])
                    }
                    if defaulted.contains(name) {
                        found.append([
                            "kind": "defaultImplementationOf", "source": "s:other", "target": symbol,
                        ])
                    }
                    for (type, other) in conformances where type == name {
                        found.append([
                            "kind": "conformsTo", "source": symbol, "target": "s:\(other)",
                            "targetFallback": "Swift.\(other)",
                        ])
                    }
                    return found
                }
                return try JSONSerialization.data(withJSONObject: [
                    "symbols": symbols, "relationships": relations,
                ])
            }
        }
    }

    struct Row: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let change: @Sendable (inout Interface) -> Void
        let lines: [String]
        var status: Int32 = 1
    }

    private static let breaks =
        "changes break programs. Where one is intended, CHANGELOG.md says what to write instead,"
        + " and Scripts/interface --write records it."
    private static let additions =
        "additions are not in the baseline: Scripts/interface --write records them."

    static let rows = [
        Row(testDescription: "equal", change: { _ in }, lines: [], status: 0),
        Row(
            testDescription: "removed", change: { $0.declarations.removeLast() },
            lines: ["M: removed: Shape.area\trequirement: var area: Int { get }", "1 \(breaks)"]),
        Row(
            testDescription: "changed", change: { $0.declarations[2].text = "var area: Double { get }" },
            lines: [
                "M: changed: Shape.area\trequirement: var area: Int { get }",
                "    to: requirement: var area: Double { get }", "1 \(breaks)",
            ]),
        Row(
            testDescription: "added", change: { $0.declarations.append(("Circle", "struct Circle")) },
            lines: ["M: added: Circle\tstruct Circle", "1 \(additions)"]),
        Row(
            testDescription: "an overload is added",
            change: { $0.declarations.append(("Shape.scale(by:)", "func scale(by factor: Double)")) },
            lines: ["M: added: Shape.scale(by:)\tfunc scale(by factor: Double)", "1 \(additions)"]),
        Row(
            testDescription: "one overload is replaced, and another one added",
            change: {
                $0.declarations[1].text = "func scale(by factor: Double)"
                $0.declarations.append(("Shape.scale(by:)", "func scale(by factor: Float)"))
            },
            lines: [
                "M: changed: Shape.scale(by:)\tfunc scale(by factor: Int)",
                "    to: func scale(by factor: Double)",
                "M: added: Shape.scale(by:)\tfunc scale(by factor: Float)", "1 \(breaks)", "1 \(additions)",
            ]),
        Row(
            testDescription: "a requirement is added to a protocol",
            change: {
                $0.declarations.append(("Shape.name", "var name: String { get }"))
                $0.requirements.insert("Shape.name")
            },
            lines: [
                "M: added, without a default: Shape.name\trequirement: var name: String { get }",
                "1 \(breaks)",
            ]),
        Row(
            testDescription: "a requirement with a default is added",
            change: {
                $0.declarations.append(("Shape.name", "var name: String { get }"))
                $0.requirements.insert("Shape.name")
                $0.defaulted = ["Shape.name"]
            },
            lines: [
                "M: added: Shape.name\trequirement: var name: String { get } (has a default)",
                "1 \(additions)",
            ]),
        Row(
            testDescription: "a protocol is added, with its requirements",
            change: {
                $0.declarations += [("Line", "protocol Line"), ("Line.end", "var end: Int { get }")]
                $0.requirements.insert("Line.end")
            },
            lines: [
                "M: added: Line\tprotocol Line", "M: added: Line.end\trequirement: var end: Int { get }",
                "2 \(additions)",
            ]),
        Row(
            testDescription: "a conformance is added",
            change: { $0.conformances = [("Shape", "Hashable"), ("Shape", "Copyable")] },
            lines: ["M: added: Shape\tconforms to Hashable", "1 \(additions)"]),
        Row(
            testDescription: "a name is deprecated", change: { $0.deprecated = ["Shape"] },
            lines: ["M: added: Shape\tdeprecated: Use another.", "1 \(additions)"]),
        Row(
            testDescription: "a case is added to an enumeration",
            change: { $0.declarations.append(("Shape.round", "case round")) },
            lines: ["M: added, to an enumeration that is no error: Shape.round\tcase round", "1 \(breaks)"]),
        Row(
            testDescription: "a case is added to an error, and one to a new enumeration",
            change: {
                $0.declarations += [
                    ("Shape.round", "case round"), ("Size", "enum Size"), ("Size.large", "case large"),
                ]
                $0.conformances = [("Shape", "Error")]
            },
            lines: [
                "M: added: Shape\tconforms to Error", "M: added: Shape.round\tcase round",
                "M: added: Size\tenum Size",
                "M: added: Size.large\tcase large", "4 \(additions)",
            ]),
        Row(
            testDescription: "a default value stands on a line of its own",
            change: { $0.declarations[2].text = "var area:\n    Int { get }" }, lines: [], status: 0),
    ]

    @Test(arguments: rows)
    func changesAreReported(_ row: Row) throws {
        let (status, output) = try Self.compare(Interface().with(row.change), with: Self.standard.get())
        #expect(output.split(separator: "\n").map(String.init) == row.lines)
        #expect(status == row.status)
    }

    @Test func anotherCompilersBaselineIsComparedByNames() throws {
        let before = Interface()
        let other = "M: Swift 6.3 has written the baseline; compared by names alone\n"
        let spelled = try Self.compare(
            before.with { $0.declarations[2].text = "var area : Int" }, with: Self.standard.get(), by: "6.4")
        #expect(spelled == (0, other))
        let removed = try Self.compare(
            before.with { $0.declarations.removeLast() }, with: Self.standard.get(), by: "6.4")
        #expect(removed == (1, other + "M: removed: Shape.area\n1 \(Self.breaks)\n"))
    }

    @Test func aModuleWithoutPublicNamesHasNoBaseline() throws {
        let nothing = Interface(declarations: [], requirements: [])
        #expect(try Self.record(nothing) == nil)
        #expect(try Self.compare(nothing, with: nil) == (0, ""))
        let (status, output) = try Self.compare(Interface(requirements: []), with: nil)
        #expect(status == 1 && output.hasSuffix("3 \(Self.additions)\n"))
    }

    /// Checks that the baseline has a file for each module, in order, and that each line has a name and a declaration.
    @Test func theBaselineHasAFileForEachModuleThatProgramsImport() throws {
        let modules = [
            "Lupine", "LupineCoding", "LupineHTTP", "LupineLoading", "LupineTLS", "LupineTesting",
            "LupineTransport",
        ]
        let paths = Repository.here.paths(under: "Documentation/Interface", endingIn: [""])
        #expect(Set(modules.map { "Documentation/Interface/\($0).txt" }).isSubset(of: paths))
        for path in paths {
            let lines = try Repository.here.text(path).split(separator: "\n").dropFirst()
            #expect(!lines.isEmpty && lines.allSatisfy { $0.split(separator: "\t").count == 2 }, "\(path)")
            #expect(
                lines.elementsEqual(lines.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }), "\(path)")
        }
    }

    /// The baseline of the interface that all rows begin with, recorded once.
    private static let standard = Result { try record(Interface()) }

    /// Returns the baseline of an interface; nil if no file is written.
    private static func record(_ interface: Interface) throws -> Data? {
        try inFolder { folder in
            try interface.graph.write(to: folder.appendingPathComponent("M.symbols.json"))
            #expect(try run("write", in: folder, by: "6.3") == (0, ""))
            return try? Data(contentsOf: folder.appendingPathComponent("M.txt"))
        }
    }

    /// Returns the exit status and output of the comparison of a changed interface with a baseline.
    private static func compare(
        _ after: Interface, with baseline: Data?, by compiler: String = "6.3"
    ) throws -> (status: Int32, output: String) {
        try inFolder { folder in
            try baseline?.write(to: folder.appendingPathComponent("M.txt"))
            try after.graph.write(to: folder.appendingPathComponent("M.symbols.json"))
            return try run("compare", in: folder, by: compiler)
        }
    }

    private static func run(
        _ command: String, in folder: URL, by compiler: String
    ) throws -> (status: Int32, output: String) {
        try Script.run(
            "python3", "-B", "Scripts/lib/interface.py", command, folder.path, folder.path, compiler, "M")
    }

    private static func inFolder<Value>(_ body: (URL) throws -> Value) throws -> Value {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "interface-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }
}
