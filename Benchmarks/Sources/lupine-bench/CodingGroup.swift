// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import LupineCoding

/// The content codings compared with zlib and brotli in a C loop: same input, output in pieces of 64 KiB.
enum CodingGroup {
    /// The size of the output pieces, for every entry.
    static let piece = 64 * 1024

    static var group: BenchmarkGroup {
        BenchmarkGroup("coding", "gzip and br decoding against plain zlib and brotli loops") {
            let large = try SampleDocument(size: 1 << 20)
            let small = try SampleDocument(size: 4096)
            return [
                gzip("gzip-1m", large), gzip("gzip-4k", small), brotli("br-1m", large),
                brotli("br-4k", small),
            ]
        }
    }

    private static func gzip(_ name: String, _ document: SampleDocument) -> BenchmarkCase {
        BenchmarkCase(
            name, unit: "document", bytes: document.plain.count,
            entries: [
                peer("zlib (reset)", document.plain.count) { piece, times in
                    CodingLoops.inflate(document.gzip, into: &piece, reuse: true, times: times)
                },
                peer("zlib (fresh)", document.plain.count) { piece, times in
                    CodingLoops.inflate(document.gzip, into: &piece, reuse: false, times: times)
                },
                Decoding.entry(.gzip, document.gzip, length: document.plain.count, reuse: true),
                Decoding.entry(.gzip, document.gzip, length: document.plain.count, reuse: false),
            ])
    }

    private static func brotli(_ name: String, _ document: SampleDocument) -> BenchmarkCase {
        BenchmarkCase(
            name, unit: "document", bytes: document.plain.count,
            entries: [
                peer("brotli", document.plain.count) { piece, times in
                    CodingLoops.brotli(document.brotli, into: &piece, times: times)
                },
                Decoding.entry(.br, document.brotli, length: document.plain.count, reuse: true),
            ])
    }

    /// Returns an entry that decodes into pieces, and checks the number of decoded bytes.
    private static func peer(
        _ name: String, _ length: Int, _ decode: @escaping (_ piece: inout [UInt8], _ times: Int) -> UInt64
    ) -> Entry {
        Entry(
            name,
            .loop { times in
                var output = [UInt8](repeating: 0, count: piece)
                try WrongResult.check(name, decode(&output, times), each: UInt64(length), times: times)
            })
    }
}
