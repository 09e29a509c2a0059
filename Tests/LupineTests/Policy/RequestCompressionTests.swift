// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineLoading
import Testing

@testable import Lupine

@Suite struct RequestCompressionTests {
    /// The coding of a compressor.
    enum Kind: String, CaseIterable, Sendable {
        case deflate
        case gzip

        func compressor(
            _ behavior: DeflateRequestCompressor.DuplicateHeaderBehavior = .error,
            shouldCompress: @escaping @Sendable (Data) -> Bool = { _ in true }
        ) -> any RequestInterceptor {
            switch self {
            case .deflate:
                .deflateCompressor(duplicateHeaderBehavior: behavior, shouldCompressBodyData: shouldCompress)
            case .gzip:
                .gzipCompressor(duplicateHeaderBehavior: behavior, shouldCompressBodyData: shouldCompress)
            }
        }

        func decoded(_ data: Data) throws -> Data {
            let stream = CodingStream(try ContentCoding.list(rawValue))
            var result = Data()
            try stream.push(data.span) { piece in
                for index in piece.indices { result.append(piece[index]) }
            }
            try stream.finish()
            return result
        }
    }

    /// Adapts a request; these adapters complete synchronously.
    private func adapted(_ request: URLRequest, by adapter: any RequestAdapter) throws -> URLRequest {
        let session = Session()
        let answer = Protected<Result<URLRequest, any Error>?>(nil)
        adapter.adapt(request, for: session) { result in answer.write { $0 = result } }
        return try #require(answer.read { $0 }).get()
    }

    private func post(_ body: Data?, encoding: String? = nil) throws -> URLRequest {
        var request = try EncodedRequest.plain("POST")
        request.httpBody = body
        request.setValue(encoding, forHTTPHeaderField: "content-encoding")
        return request
    }

    @Test("[E-9.1] a request without body data is unchanged", arguments: Kind.allCases)
    func noBody(kind: Kind) throws {
        let bare = try post(nil, encoding: "br")
        #expect(try adapted(bare, by: kind.compressor()) == bare)
        var stream = try post(nil)
        stream.httpBodyStream = InputStream(data: Data("body".utf8))
        let result = try adapted(stream, by: kind.compressor())
        #expect(result.value(forHTTPHeaderField: "Content-Encoding") == nil && result.httpBodyStream != nil)
    }

    @Test("[E-9.2] a request whose body is not to be compressed is unchanged", arguments: Kind.allCases)
    func notWorthIt(kind: Kind) throws {
        let request = try post(Data("abc".utf8), encoding: "br")
        let compressor = kind.compressor { $0.count > 3 }
        #expect(try adapted(request, by: compressor) == request)
        let longer = try post(Data("abcd".utf8))
        #expect(try adapted(longer, by: compressor).httpBody != longer.httpBody)
    }

    @Test("[E-9.3] an existing Content-Encoding is an error, kept or replaced", arguments: Kind.allCases)
    func duplicates(kind: Kind) throws {
        let request = try post(Data("abc".utf8), encoding: "br")
        #expect(throws: DeflateRequestCompressor.DuplicateHeaderError.self) {
            try adapted(request, by: kind.compressor())
        }
        #expect(try adapted(request, by: kind.compressor(.skip)) == request)
        let replaced = try adapted(request, by: kind.compressor(.replace))
        #expect(replaced.value(forHTTPHeaderField: "Content-Encoding") == kind.rawValue)
        #expect(try kind.decoded(try #require(replaced.httpBody)) == Data("abc".utf8))
    }

    @Test("[E-9.4] the body is compressed and Content-Encoding is set", arguments: Kind.allCases)
    func compressed(kind: Kind) throws {
        for size in [0, 1, 63, 64, 65, 1000, 65_535, 65_536, 65_537, 1_000_000] {
            let body = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7 ^ $0) })
            let result = try adapted(try post(body), by: kind.compressor())
            #expect(result.value(forHTTPHeaderField: "Content-Encoding") == kind.rawValue)
            #expect(try kind.decoded(try #require(result.httpBody)) == body)
        }
    }

    @Test(
        "[E-9.5] the exact bytes of zlib streams",
        arguments: [
            ([0], [0x78, 0x5E, 0x63, 0, 0, 0, 1, 0, 1]), ([], [0x78, 0x5E, 3, 0, 0, 0, 0, 1]),
            ([0x61, 0x62, 0x63], [0x78, 0x5E, 0x4B, 0x4C, 0x4A, 6, 0, 2, 0x4D, 1, 0x27]),
        ] as [([UInt8], [UInt8])])
    func bytes(plain: [UInt8], expected: [UInt8]) throws {
        let compressor = DeflateRequestCompressor()
        #expect(Array(try compressor.deflate(Data(plain))) == expected)
        let sliced = Data([9, 9] + plain + [9]).dropFirst(2).dropLast()
        #expect(Array(try compressor.deflate(sliced)) == expected)
    }

    @Test("[E-9.5] a zlib stream ends with the checksum of its input")
    func trailer() throws {
        let compressor = DeflateRequestCompressor()
        let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 % 251) })
        let stream = try compressor.deflate(body)
        let sum = stream.suffix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        #expect(sum == compressor.adler32Checksum(of: body))
    }

    @Test("[E-9.6] Adler-32 checksums")
    func checksum() {
        let compressor = DeflateRequestCompressor()
        #expect(compressor.adler32Checksum(of: Data("abc".utf8)) == 38_600_999)
        #expect(compressor.adler32Checksum(of: Data()) == 1)
        #expect(compressor.adler32Checksum(of: Data(repeating: 0xFF, count: 1_000_000)) == 0x3843_E1BE)
    }

    @Test("the static accessors, also with a trailing closure")
    func accessors() throws {
        let all: [any RequestInterceptor] = [
            .deflateCompressor, .deflateCompressor { $0.count > 1024 }, .gzipCompressor,
            .gzipCompressor { $0.isEmpty },
            .deflateCompressor(duplicateHeaderBehavior: .skip),
        ]
        let request = try post(Data("abc".utf8))
        let fields = try all.map {
            try adapted(request, by: $0).value(forHTTPHeaderField: "Content-Encoding") ?? "none"
        }
        #expect(fields == ["deflate", "none", "gzip", "none", "deflate"])
    }
}
