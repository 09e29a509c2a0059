// SPDX-License-Identifier: MIT
import LupineOrigin
import Testing

/// Tests that a program with one product is linked against nothing but libc, the compiler's runtime, and our own few libraries.
///
/// These tests build a program, so they take longer than the others.
@Suite(.serialized)
struct LinkageTests {
    @Test(arguments: ["LupineTransport"])
    func aProgramWithAStaticRuntime(_ product: String) async throws {
        let unexpected = Linkage.unexpectedLibraries(
            in: try await fetch(product, staticRuntime: true), allowed: Linkage.expectedLibraries)
        #expect(
            unexpected.isEmpty, "Package.swift:1: a program on \(product) is linked against \(unexpected)")
    }

    @Test(arguments: ["LupineTransport"])
    func aProgramWithADynamicRuntime(_ product: String) async throws {
        let unexpected = Linkage.unexpectedLibraries(
            in: try await fetch(product, staticRuntime: false),
            allowed: Linkage.expectedLibraries + Linkage.runtimeLibraries)
        #expect(
            unexpected.isEmpty, "Package.swift:1: a program on \(product) is linked against \(unexpected)")
    }

    /// Checks that the engine and the parser of regular expressions are not linked: one call of a function of
    /// `_StringProcessing`, such as `contains` with a text, adds them to every program, 1.4 MB that the linker cannot remove.
    @Test func noRegularExpressionsAreLinked() async throws {
        let symbols = try await fetch("LupineTransport", staticRuntime: true, tool: "nm")
        let unexpected = symbols.split(separator: "\n").filter {
            $0.contains("_StringProcessing") || $0.contains("_RegexParser")
        }
        #expect(
            unexpected.isEmpty,
            "Package.swift:1: something below LupineTransport calls one of \(unexpected.prefix(5))")
    }

    /// Checks that README.md names all libraries that such a program is linked against, and no others.
    @Test func theReadmeNamesTheLibraries() async throws {
        let readme = try Repository.here.text("README.md").replacing("\n", with: " ")
        let listed = try #require(readme.firstMatch(of: /is then linked against (.*?) alone/)).1
        let libraries = [
            "OpenSSL": ["libssl", "libcrypto"], "zlib": ["libz"],
            "brotli": ["libbrotlidec", "libbrotlicommon"],
        ]
        let named = listed.replacing(" and ", with: ", ").split(separator: ", ").flatMap {
            libraries[String($0)] ?? [String($0)]
        }
        let listing = try await fetch("LupineTransport", staticRuntime: true)
        let linked = Linkage.unexpectedLibraries(in: listing, allowed: ["linux-vdso", "ld-linux"]).map {
            String($0.prefix { $0 != "." })
        }
        #expect(Set(named) == Set(linked))
    }

    /// Makes the program fetch something from an origin, and returns a tool's output about it.
    private func fetch(
        _ product: String, staticRuntime: Bool, tool: String = "ldd"
    ) async throws -> String {
        let content = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let sum = content.reduce(0) { ($0 &* 31 &+ Int($1)) % 1_000_003 }
        let origin = try Origin.start()
        origin.route("GET", "/content") { _ throws(Refusal) in
            try OriginResponse(200, "application/octet-stream", content)
        }
        let listing = Result {
            try Linkage.listing(
                by: tool, product: product, staticRuntime: staticRuntime,
                arguments: ["\(origin.url)/content"],
                expected: "\(product) fetched 200: \(content.count) bytes, sum \(sum)\n")
        }
        let requests = origin.counts.requests
        await origin.shutdown()
        #expect(requests == 1)
        return try listing.get()
    }

    @Test func unexpectedLibrariesAreFound() {
        let listing = """
            \tlinux-vdso.so.1 (0x00007ffc)
            \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)
            \tlibFoundation.so => /opt/libFoundation.so (0x00007f)
            \tlibcurl.so.4 => not found
            \t/lib64/ld-linux-x86-64.so.2 (0x00007f)
            \tlibswiftCore.so => /opt/libswiftCore.so (0x00007f)
            """
        #expect(
            Linkage.unexpectedLibraries(in: listing, allowed: Linkage.expectedLibraries) == [
                "libFoundation.so", "libcurl.so.4", "libswiftCore.so",
            ])
        let allowed = Linkage.expectedLibraries + Linkage.runtimeLibraries
        #expect(
            Linkage.unexpectedLibraries(in: listing, allowed: allowed) == [
                "libFoundation.so", "libcurl.so.4",
            ])
    }
}
