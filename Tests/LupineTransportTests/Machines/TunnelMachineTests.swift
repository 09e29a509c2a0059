// SPDX-License-Identifier: MIT
import LupineHTTP
import Testing

@testable import LupineTransport

/// The responses of an HTTP proxy to CONNECT, each cut at every byte.
struct TunnelMachineTests {
    enum Outcome: Hashable {
        case established(Int)
        case authenticationRequired(String?)
        case refused(Int)
        case http(HTTPError)
        case needMore
    }

    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var answer: String
        /// The number of bytes that belong to the destination.
        var surplus = 0
        var outcome: Outcome
    }

    static let rows = [
        Row(testDescription: "a tunnel", answer: "HTTP/1.1 200 OK\r\n\r\n", outcome: .established(200)),
        Row(
            testDescription: "a tunnel from a proxy of HTTP/1.0",
            answer: "HTTP/1.0 200 Connection established\r\nProxy-Agent: x\r\n\r\n",
            outcome: .established(200)),
        Row(
            testDescription: "Content-Length is ignored in a 2xx response",
            answer: "HTTP/1.1 204 X\r\nContent-Length: 5\r\n\r\nhello", surplus: 5, outcome: .established(204)
        ),
        Row(
            testDescription: "the destination speaks at once", answer: "HTTP/1.1 200 OK\r\n\r\nSSH-2.0\r\n",
            surplus: 9,
            outcome: .established(200)),
        Row(
            testDescription: "an interim head first",
            answer: "HTTP/1.1 103 Early\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
            outcome: .established(200)),
        Row(
            testDescription: "a challenge",
            answer: "HTTP/1.1 407 X\r\nProxy-Authenticate: Basic realm=\"p\"\r\nContent-Length: 0\r\n\r\n",
            outcome: .authenticationRequired("Basic realm=\"p\"")),
        Row(testDescription: "forbidden", answer: "HTTP/1.1 403 Forbidden\r\n\r\n", outcome: .refused(403)),
        Row(
            testDescription: "a redirect", answer: "HTTP/1.1 302 X\r\nLocation: /\r\n\r\n",
            outcome: .refused(302)),
        Row(
            testDescription: "bad gateway", answer: "HTTP/1.1 502 X\r\n\r\n<html>", surplus: 6,
            outcome: .refused(502)),
        Row(
            testDescription: "an upgrade", answer: "HTTP/1.1 101 X\r\n\r\n",
            outcome: .http(.unexpectedUpgrade)),
        Row(testDescription: "no HTTP", answer: "\u{5}", outcome: .http(.notHTTP(octet: 5, offset: 0))),
        Row(testDescription: "half a head", answer: "HTTP/1.1 200 OK\r\n", outcome: .needMore),
    ]

    @Test(arguments: rows)
    func everyCutGivesTheSameAnswer(_ row: Row) throws {
        let bytes = Array(row.answer.utf8)
        for cut in 0...bytes.count {
            var machine = TunnelMachine(to: try Authority(host: "a.test", port: 443))
            _ = try machine.start()
            var outcome = Outcome.needMore
            var unreadCount = bytes.count
            for piece in [bytes[..<cut], bytes[cut...]] where outcome == .needMore && !piece.isEmpty {
                do throws(TunnelError) {
                    switch try machine.receive(Array(piece).span) {
                    case .needMore: unreadCount -= piece.count
                    case .established(let head, let consumed):
                        unreadCount -= consumed
                        outcome = .established(Int(head.status.code))
                    }
                } catch {
                    switch error {
                    case .authenticationRequired(let head):
                        outcome = .authenticationRequired(head.fields[.proxyAuthenticate])
                    case .refused(let head): outcome = .refused(Int(head.status.code))
                    case .http(let cause): outcome = .http(cause)
                    case .colonInUser: Issue.record("no user was given")
                    }
                    #expect(machine.receivedEnd() == error, "the first error stays")
                }
            }
            #expect(outcome == row.outcome, "cut at \(cut)")
            if case .established = outcome { #expect(unreadCount == row.surplus, "cut at \(cut)") }
        }
    }

    @Test(arguments: [
        ("me", "pw", "Basic bWU6cHc="), ("a", "b", "Basic YTpi"),
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ("", "", "Basic Og=="), ("test", "123\u{A3}", "Basic dGVzdDoxMjPCow=="),
        ("u", "\u{FF}>?", "Basic dTrDvz4/"),
    ])
    func theRequestCarriesTheCredentials(_ user: String, _ password: String, _ value: String) throws {
        let credentials = ProxyServer.Credentials(user: Array(user.utf8), password: Array(password.utf8))
        var machine = TunnelMachine(to: try Authority(host: "a.test", port: 443), credentials: credentials)
        #expect(
            String(decoding: try machine.start(), as: UTF8.self)
                == "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nProxy-Authorization: \(value)\r\n\r\n")
    }

    @Test func addressesAreInBracketsAndFieldsAreSent() throws {
        var fields = Fields()
        try fields.append(.userAgent, "x")
        var machine = TunnelMachine(to: try Authority(host: "::1", port: 80), fields: fields)
        #expect(
            String(decoding: try machine.start(), as: UTF8.self)
                == "CONNECT [::1]:80 HTTP/1.1\r\nHost: [::1]:80\r\nUser-Agent: x\r\n\r\n")
    }

    @Test func aUserWithAColonIsRefused() throws {
        let credentials = ProxyServer.Credentials(user: [0x61, 0x3A], password: [])
        var machine = TunnelMachine(to: try Authority(host: "a", port: 1), credentials: credentials)
        #expect(throws: TunnelError.colonInUser) { _ = try machine.start() }
    }

    @Test func aProxyThatCloses() throws {
        var machine = TunnelMachine(to: try Authority(host: "a", port: 1))
        _ = try machine.start()
        _ = try machine.receive(Array("HTTP/1.1 2".utf8).span)
        #expect(machine.receivedEnd() == .http(.truncated(.insideHead(received: 10))))
        var silentMachine = TunnelMachine(to: try Authority(host: "a", port: 1))
        _ = try silentMachine.start()
        #expect(silentMachine.receivedEnd() == .http(.truncated(.beforeHead)))
    }

    @Test func headsAndInterimHeadsAreLimited() throws {
        var limits = TunnelMachine.defaultLimits
        limits.headBytes = 64
        limits.interimHeads = 2
        var machine = TunnelMachine(to: try Authority(host: "a", port: 1), limits: limits)
        _ = try machine.start()
        #expect(throws: TunnelError.http(.limitExceeded(.headBytes, allowed: 64))) {
            _ = try machine.receive(
                Array(("HTTP/1.1 200 OK\r\nA: " + String(repeating: "x", count: 64)).utf8).span)
        }
        var secondMachine = TunnelMachine(to: try Authority(host: "a", port: 1), limits: limits)
        _ = try secondMachine.start()
        #expect(throws: TunnelError.http(.limitExceeded(.interimHeads, allowed: 2))) {
            for _ in 0..<3 { _ = try secondMachine.receive(Array("HTTP/1.1 100 C\r\n\r\n".utf8).span) }
        }
    }
}
