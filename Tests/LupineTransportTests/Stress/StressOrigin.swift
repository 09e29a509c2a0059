// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTestKit
import LupineTransport

@testable import LupineOrigin

/// The server; the transport has a type of the same name.
typealias OriginServer = LupineOrigin.Origin

/// A checksum that is fast even without optimization (64-bit FNV-1a).
struct CheckSum: Hashable, Sendable {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    init() {}

    init(_ bytes: [UInt8]) { update(bytes.span) }

    /// Computes the checksum of the content that `/bytes` and similar paths send for a seed.
    init(seed: UInt64, count: Int) { self.init(Self.octets(seed: seed, count: count)) }

    mutating func update(_ bytes: Span<UInt8>) {
        var value = value
        for index in bytes.indices { value = (value ^ UInt64(bytes[index])) &* 0x100_0000_01b3 }
        self.value = value
    }

    static func octets(seed: UInt64, count: Int) -> [UInt8] {
        var source = SeededOctets(seed: seed)
        var octets: [UInt8] = []
        source.append(count, to: &octets)
        return octets
    }
}

/// Runs `body` with an origin that also answers `/sum` with the checksum of the request's content.
func withStressOrigin<Result>(_ body: (OriginServer) async throws -> Result) async throws -> Result {
    var configuration = OriginConfiguration()
    configuration.ownLoops = 2
    // On a slow machine a connection may wait long to be served, which must not count as silence of the client.
    configuration.idleTimeout = .seconds(600)
    let origin = try OriginServer.start(configuration: configuration)
    origin.route("POST", "/sum") { request throws(Refusal) in
        try OriginResponse(200, "text/plain", Array(String(CheckSum(request.body).value).utf8))
    }
    do {
        let result = try await body(origin)
        await origin.shutdown()
        return result
    } catch {
        await origin.shutdown()
        throw error
    }
}

extension OriginServer {
    /// Returns once no client is connected; the origin notices a little later that a client has closed.
    func waitUntilEmpty() async {
        while counts.connectionsOpen > 0 { await Task.yield() }
    }
}
