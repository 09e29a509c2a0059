// SPDX-License-Identifier: MIT
import Testing

/// Tests of the direction of imports, in the repository and in samples that must be caught.
struct ImportTests {
    @Test func importsRunDownward() throws {
        let files = try Repository.here.swiftFiles(under: "Sources", "Tests", "Fuzz", "Benchmarks")
        let violations = files.flatMap(ImportRule.violations)
        #expect(violations.isEmpty, "\(violations.report)")
    }

    @Test func everyModuleHasARow() throws {
        let folders = Set(try Repository.here.swiftFiles(under: "Sources").map { $0.folders[1] })
        let unknown = folders.subtracting(ImportRule.modules.map(\.name))
        #expect(unknown.isEmpty, "Sources: no row in ImportRule.modules for \(unknown.sorted())")
    }

    @Test(arguments: [
        ("import A", ["A"]), ("package import A", ["A"]), ("public import A\nimport B", ["A", "B"]),
        ("@testable import A", ["A"]), ("@_exported public import A", ["A"]), ("@_spi(X) import A", ["A"]),
        ("import struct A.B", ["A"]), ("import func A.b", ["A"]), ("import A.B.C", ["A"]),
        ("import A; import B", ["A", "B"]),
        ("import\n    A", ["A"]), ("// import A", []), ("let a = \"import A\"", []), ("a.import(b)", []),
        ("#if canImport(A)\nimport B\n#endif", ["B"]),
    ])
    func everySpellingIsRead(_ text: String, _ modules: [String]) {
        #expect(ImportRule.imports(of: SourceFile(path: "Sample.swift", text: text)).map(\.module) == modules)
    }

    @Test(arguments: [
        ("Sources/LupineHTTP/A.swift", "import Foundation", false),
        ("Sources/LupineHTTP/A.swift", "import Synchronization", false),
        ("Sources/LupineHTTP/A.swift", "import LupineCoding", false),
        ("Sources/LupineCoding/A.swift", "internal import CLupineZlib", true),
        ("Sources/LupineCoding/A.swift", "import LupineHTTP", false),
        ("Sources/LupineCoding/A.swift", "import Dispatch", false),
        ("Sources/LupineTLS/A.swift", "import FoundationEssentials", false),
        ("Sources/LupineTransport/Pool/A.swift", "package import LupineHTTP", true),
        ("Sources/LupineTransport/Pool/A.swift", "import LupineCoding", false),
        ("Sources/LupineTransport/Client/A.swift", "import LupineCoding", true),
        ("Sources/LupineTransport/Errors/A.swift", "import LupineCoding", true),
        ("Sources/LupineTransport/A.swift", "import LupineLoading", false),
        ("Sources/LupineTransport/A.swift", "import struct Foundation.URL", false),
        ("Sources/LupineLoading/A.swift", "import Foundation", true),
        ("Sources/LupineLoading/A.swift", "import FoundationNetworking", false),
        ("Sources/Lupine/A.swift", "@_exported public import LupineLoading", true),
        ("Sources/Lupine/A.swift", "import LupineTransport", true),
        ("Sources/Lupine/Request/A.swift", "import LupineTransport", false),
        ("Sources/Surprise/A.swift", "import Glibc", false),
        ("Tests/LupineTests/A.swift", "import FoundationNetworking", false),
        ("Tests/LupineTests/A.swift", "import Foundation", true),
        ("Benchmarks/Peers/A.swift", "import FoundationNetworking", true),
    ])
    func theTableIsEnforced(_ path: String, _ text: String, _ allowed: Bool) {
        let violations = ImportRule.violations(in: SourceFile(path: path, text: "\n\(text)\n"))
        #expect(violations.isEmpty == allowed, "\(violations.report)")
        #expect(violations.allSatisfy { $0.path == path && $0.line == 2 })
    }
}
