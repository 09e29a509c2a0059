// SPDX-License-Identifier: MIT
import Testing

@testable import LupineTransport

/// Whole conversations with a SOCKS5 proxy, with each message also cut at every byte.
struct SocksMachineTests {
    static let credentials = ProxyServer.Credentials(user: Array("me".utf8), password: Array("pw!".utf8))
    static let name = SocksMachine.Destination.name("a.test")
    static let connectByName: [UInt8] = [5, 1, 0, 3, 6] + Array("a.test".utf8) + [0x1F, 0x90]

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var destination = SocksMachineTests.name
        var credentials: ProxyServer.Credentials?
        /// The proxy's messages, and the client's answer to each.
        var messages: [(proxy: [UInt8], answer: [UInt8])]
        var error: SocksError?
        /// The number of bytes in the last message that belong to the destination.
        var surplus = 0
    }

    static let accepted: [UInt8] = [5, 0, 0, 1, 127, 0, 0, 1, 0, 80]

    static func refusal(_ code: UInt8, _ error: SocksError) -> Row {
        Row(
            testDescription: "reply \(code)",
            messages: [([5, 0], connectByName), ([5, code, 0, 1, 0, 0, 0, 0, 0, 0], [])],
            error: error)
    }

    static let rows = [
        Row(
            testDescription: "a name, no authentication",
            messages: [([5, 0], connectByName), (accepted, [])]),
        Row(
            testDescription: "the destination speaks at once",
            messages: [([5, 0], connectByName), (accepted + [72, 73], [])],
            surplus: 2),
        Row(
            testDescription: "an IPv4 address", destination: .ip(.v4(IPv4Address(rawValue: 0x0A01_0203))),
            messages: [([5, 0], [5, 1, 0, 1, 10, 1, 2, 3, 0x1F, 0x90]), (accepted, [])]),
        Row(
            testDescription: "an IPv6 address, an IPv6 reply",
            destination: .ip(.v6(IPv6Address(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C_0D0E_0F10))),
            messages: [
                ([5, 0], [5, 1, 0, 4] + Array(1...16) + [0x1F, 0x90]),
                ([5, 0, 0, 4] + [UInt8](repeating: 9, count: 18), []),
            ]),
        Row(
            testDescription: "a reply with a name",
            messages: [([5, 0], connectByName), ([5, 0, 0, 3, 3, 97, 98, 99, 0, 1], [])]),
        Row(
            testDescription: "a reply with an empty name",
            messages: [([5, 0], connectByName), ([5, 0, 0, 3, 0, 0, 1], [])]),
        Row(
            testDescription: "user and password", credentials: credentials,
            messages: [
                ([5, 2], [1, 2, 109, 101, 3, 112, 119, 33]), ([1, 0], connectByName), (accepted, []),
            ]),
        Row(
            testDescription: "the proxy wants no password after all", credentials: credentials,
            messages: [([5, 0], connectByName), (accepted, [])]),
        Row(
            testDescription: "an authentication answer with version 5", credentials: credentials,
            messages: [
                ([5, 2], [1, 2, 109, 101, 3, 112, 119, 33]), ([5, 0], connectByName), (accepted, []),
            ]),
        Row(
            testDescription: "a wrong password", credentials: credentials,
            messages: [([5, 2], [1, 2, 109, 101, 3, 112, 119, 33]), ([1, 7], [])],
            error: .authenticationRefused(status: 7)),
        Row(
            testDescription: "an authentication answer of another protocol", credentials: credentials,
            messages: [([5, 2], [1, 2, 109, 101, 3, 112, 119, 33]), ([9], [])],
            error: .unexpectedVersion(9, offset: 2)),
        Row(testDescription: "SOCKS4", messages: [([0, 90], [])], error: .unexpectedVersion(0, offset: 0)),
        Row(
            testDescription: "an HTTP server", messages: [(Array("HTTP/1.1 400".utf8), [])],
            error: .unexpectedVersion(0x48, offset: 0)),
        Row(
            testDescription: "no acceptable method", messages: [([5, 0xFF], [])], error: .noAcceptableMethod),
        Row(testDescription: "GSSAPI, not offered", messages: [([5, 1], [])], error: .unofferedMethod(1)),
        Row(
            testDescription: "a password that was not offered", messages: [([5, 2], [])],
            error: .unofferedMethod(2)),
        refusal(1, .generalFailure), refusal(2, .notAllowed), refusal(3, .networkUnreachable),
        refusal(4, .hostUnreachable), refusal(5, .connectionRefused), refusal(6, .timeToLiveExpired),
        refusal(7, .commandNotSupported), refusal(8, .addressTypeNotSupported), refusal(9, .unknownReply(9)),
        refusal(255, .unknownReply(255)),
        Row(
            testDescription: "a reply of another version", messages: [([5, 0], connectByName), ([4], [])],
            error: .unexpectedVersion(4, offset: 2)),
        Row(
            testDescription: "a reserved byte that is set",
            messages: [([5, 0], connectByName), ([5, 0, 1], [])],
            error: .reservedByteSet(1)),
        Row(
            testDescription: "an address of no known type",
            messages: [([5, 0], connectByName), ([5, 0, 0, 2], [])],
            error: .unknownAddressType(2)),
    ]

    @Test(arguments: rows)
    func conversation(_ row: Row) throws {
        let longest = row.messages.map(\.proxy.count).max() ?? 0
        for cut in 0...longest { try converse(row, pieces: { [$0.prefix(cut), $0.dropFirst(cut)] }) }
        try converse(row, pieces: { bytes in bytes.indices.map { bytes[$0..<($0 + 1)] } })
    }

    private func converse(_ row: Row, pieces: ([UInt8]) -> [ArraySlice<UInt8>]) throws {
        var machine = try SocksMachine(destination: row.destination, port: 8080, credentials: row.credentials)
        #expect(machine.start() == (row.credentials == nil ? [5, 1, 0] : [5, 2, 0, 2]))
        var error: SocksError?
        var established = false
        for (message, answer) in row.messages where error == nil {
            var answered: [UInt8] = []
            var fedCount = 0
            for piece in pieces(message) where error == nil && !established {
                do throws(SocksError) {
                    switch try machine.receive(Array(piece).span) {
                    case .needsMore: break
                    case .send(let bytes): answered += bytes
                    case .established(let consumed):
                        established = true
                        #expect(message.count - fedCount - consumed == row.surplus)
                    }
                } catch let caught {
                    error = caught
                    #expect(machine.receivedEnd() == caught, "the first error stays")
                }
                fedCount += piece.count
            }
            #expect(answered == answer)
        }
        #expect(error == row.error)
        #expect(established == (row.error == nil))
    }

    @Test func aReplyBeforeTheRequestIsRefused() throws {
        var machine = try SocksMachine(destination: Self.name, port: 80)
        _ = machine.start()
        #expect(throws: SocksError.unsolicitedBytes(offset: 2)) {
            _ = try machine.receive(([5, 0] + Self.accepted).span)
        }
    }

    @Test func aProxyThatCloses() throws {
        var machine = try SocksMachine(destination: Self.name, port: 80)
        _ = machine.start()
        _ = try machine.receive([5].span)
        #expect(machine.receivedEnd() == .closed(received: 1))
        #expect(throws: SocksError.closed(received: 1)) { _ = try machine.receive([0].span) }
    }

    @Test func lengthLimits() throws {
        func text(_ length: Int) -> String { String(repeating: "a", count: length) }
        func bytes(_ length: Int) -> [UInt8] { [UInt8](repeating: 1, count: length) }
        for length in [1, 255] {
            _ = try SocksMachine(
                destination: .name(text(length)), port: 1,
                credentials: .init(user: bytes(length), password: bytes(256 - length)))
        }
        for length in [0, 256] {
            #expect(throws: SocksError.unusableHost(length: length)) {
                _ = try SocksMachine(destination: .name(text(length)), port: 1)
            }
            #expect(throws: SocksError.unusableCredentials(userLength: length, passwordLength: 1)) {
                _ = try SocksMachine(
                    destination: Self.name, port: 1,
                    credentials: .init(user: bytes(length), password: bytes(1)))
            }
            #expect(throws: SocksError.unusableCredentials(userLength: 1, passwordLength: length)) {
                _ = try SocksMachine(
                    destination: Self.name, port: 1,
                    credentials: .init(user: bytes(1), password: bytes(length)))
            }
        }
    }
}
