// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineHTTP
import LupineLoading
import LupineOrigin
import Testing

@testable import Lupine

/// A limit, with a response that exceeds it and the error that follows.
enum Limit: CaseIterable, CustomTestStringConvertible {
    /// A body of as many bytes as may be collected.
    case fits
    /// A body of one byte more, whose length is announced.
    case announced
    /// The same body in chunks.
    case chunked
    /// The same body with a content coding, in fewer bytes.
    case coded
    /// The same body in a response with an error status.
    case refusal
    /// A head with too many bytes.
    case head
    /// A body that expands too much when decoded.
    case ratio
    /// One redirect too many.
    case redirects

    /// The number of bytes that the sessions of these tests collect.
    static let collected = 1_000

    var testDescription: String { "\(self)" }

    var path: String { self == .redirects ? "/redirect/21" : "/limit/\(self)" }

    /// Returns the error code of the transfer, or nil if it succeeds.
    ///
    /// - Parameter collects: Whether the consumer collects the body in memory.
    func code(whoCollects collects: Bool) -> URLError.Code? {
        switch self {
        case .fits: nil
        case .announced, .chunked, .coded, .refusal: collects ? .dataLengthExceedsMaximum : nil
        case .head: .dataLengthExceedsMaximum
        case .ratio: .cannotDecodeRawData
        case .redirects: .httpTooManyRedirects
        }
    }

    /// Whether the limit is `collectedBodyLimit`.
    var isOfCollecting: Bool {
        switch self {
        case .announced, .chunked, .coded, .refusal: true
        case .fits, .head, .ratio, .redirects: false
        }
    }

    /// Sets limits that are small enough for a test.
    static func set(_ configuration: URLSessionConfiguration) {
        configuration.lupine.collectedBodyLimit = collected
        configuration.lupine.parserLimits.headBytes = 4 << 10
        configuration.lupine.expansionLimit = ExpansionLimit(ratio: 4, ratioFloor: 500)
    }

    /// Returns a JSON text of `count` bytes, which no coding makes much shorter.
    static func text(_ count: Int) -> [UInt8] {
        var (number, text) = (UInt32(1), [UInt8(ascii: "\"")])
        while text.count < count - 1 {
            number = number &* 1_664_525 &+ 1_013_904_223
            text.append(UInt8(ascii: "A") + UInt8(number >> 27))
        }
        return text.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "a") : $0 } + [UInt8(ascii: "\"")]
    }

    /// Returns the bytes in gzip.
    static func gzip(_ bytes: [UInt8]) throws -> [UInt8] {
        let encoder = try DeflateEncoder(.gzip)
        var room = [UInt8](repeating: 0, count: bytes.count + 1_000)
        var output = room.mutableSpan
        let step = encoder.encode(bytes.span, into: &output)
        var rest = output._mutatingExtracting(droppingFirst: step.produced)
        let last = encoder.finish(into: &rest)
        return Array(room.prefix(step.produced + last.produced))
    }

    /// Sets the origin's response at `path`, for any method.
    func serve(at origin: LupineOrigin.Origin) throws {
        let long = Self.text(Self.collected + 1)
        switch self {
        case .fits: answer(at: origin, Self.text(Self.collected))
        case .announced: answer(at: origin, long)
        case .chunked:
            origin.route(nil, path) { _ throws(Refusal) in
                var left = long[...]
                var response = OriginResponse(
                    body: .stream(length: nil) { piece, _ in
                        piece += left.prefix(100)
                        left = left.dropFirst(100)
                        return left.isEmpty ? .end(trailers: .init()) : .more
                    })
                try response.add(.contentType, "application/json")
                return response
            }
        case .coded: answer(at: origin, try Self.gzip(long), coding: "gzip")
        case .refusal: answer(at: origin, long, status: 500)
        case .head:
            let long = String(repeating: "a", count: 5 << 10)
            // The status 200, and the field `a` of 5 KiB (RFC 7541 §6.2.2), whatever limit the client has announced.
            let block = [0x88, 0x00, 0x01, UInt8(ascii: "a"), 0x7F, 0x81, 0x27] + Array(long.utf8)
            let raw = StreamScript([.frame(type: 1, flags: 0x05, .own, block)])
            origin.route(
                nil, path,
                .chosen { request throws(Refusal) in
                    if request.head.version == .http2 { return .perform(raw) }
                    var response = try OriginResponse(200, "application/json", Self.text(10))
                    try response.add(.server, long)
                    return .respond(response)
                })
        case .ratio:
            let zeros = [UInt8](repeating: UInt8(ascii: "a"), count: 100_000)
            answer(at: origin, try Self.gzip(zeros), coding: "gzip")
        case .redirects: break
        }
    }

    private func answer(
        at origin: LupineOrigin.Origin, _ body: [UInt8], status: Int = 200, coding: String? = nil
    ) {
        origin.route(nil, path) { _ throws(Refusal) in
            var response = try OriginResponse(status, "application/json", body)
            if let coding { try response.add(.contentEncoding, coding) }
            return response
        }
    }
}

/// Returns the error of the loading system that underlies a request's error.
func loadingError(in error: (any Error)?) -> URLError? {
    if let error = error as? URLError { return error }
    return (error as? AFError)?.underlyingError.flatMap { loadingError(in: $0) }
}
