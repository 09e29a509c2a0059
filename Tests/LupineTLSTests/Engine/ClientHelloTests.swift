// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTLS

/// Tests of the extensions and compression methods of the ClientHello.
@Suite struct ClientHelloTests {
    /// The contents of a ClientHello (RFC 8446 §4.1.2).
    struct Hello {
        var compressions: [UInt8] = []
        var extensions: [Int: [UInt8]] = [:]

        init(_ record: [UInt8]) throws {
            var unread = record[...]
            func read(_ count: Int) throws -> [UInt8] {
                try #require(unread.count >= count)
                defer { unread = unread.dropFirst(count) }
                return Array(unread.prefix(count))
            }
            /// Reads a vector whose length is in its first `width` octets.
            func vector(_ width: Int) throws -> [UInt8] {
                try read(try read(width).reduce(0) { $0 << 8 | Int($1) })
            }
            try #require(try read(5)[0] == 22)
            try #require(try read(4)[0] == 1)
            _ = try read(2 + 32)
            _ = try vector(1)
            _ = try vector(2)
            compressions = try vector(1)
            unread = try vector(2)[...]
            while !unread.isEmpty {
                let kind = try read(2).reduce(0) { $0 << 8 | Int($1) }
                extensions[kind] = try vector(2)
            }
        }
    }

    private static func hello(_ configuration: TLSConfiguration, host: String = "good.test") throws -> Hello {
        let pair = try EnginePair(configuration, host: host)
        _ = try pair.client.handshake()
        return try Hello(pair.toServer.log)
    }

    @Test(
        "[H-14.3] neither compression nor post-handshake authentication is offered",
        arguments: TLSVersion.tested)
    func notOffered(_ version: TLSVersion) throws {
        for configuration in [TLSConfiguration.test, .test(version)] {
            let hello = try Self.hello(configuration)
            #expect(hello.compressions == [0])
            // post_handshake_auth
            #expect(hello.extensions[49] == nil)
        }
    }

    @Test("[H-14.4] SNI names the server, and ALPN offers HTTP/2") func names() throws {
        let hello = try Self.hello(.test)
        let name = Array("good.test".utf8)
        #expect(hello.extensions[0] == [0, UInt8(name.count + 3), 0, 0, UInt8(name.count)] + name)
        let protocols = [[2] + Array("h2".utf8), [8] + Array("http/1.1".utf8)].flatMap { $0 as [UInt8] }
        #expect(hello.extensions[16] == [0, UInt8(protocols.count)] + protocols)
        #expect(try Self.hello(.test, host: "127.0.0.1").extensions[0] == nil)
    }
}
