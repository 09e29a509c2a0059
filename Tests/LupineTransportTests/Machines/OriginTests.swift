// SPDX-License-Identifier: MIT
import LupineHTTP
import LupineTLS
import Testing

@testable import LupineTransport

struct OriginTests {
    static let proxy = ProxyServer(
        kind: .http, host: "proxy", port: 3128, credentials: .init(user: [1], password: [2]))

    /// Each origin differs from the others in one respect that forbids sharing a connection.
    static let distinct = [
        Origin(scheme: .http, host: "a", port: 80),
        Origin(scheme: .https, host: "a", port: 80),
        Origin(scheme: .http, host: "b", port: 80),
        Origin(scheme: .http, host: "a", port: 81),
        Origin(scheme: .http, host: "a", port: 80, unixPath: "/s"),
        Origin(scheme: .http, host: "a", port: 80, proxy: proxy),
        Origin(
            scheme: .http, host: "a", port: 80, proxy: ProxyServer(kind: .http, host: "proxy", port: 3128)),
        Origin(
            scheme: .http, host: "a", port: 80, proxy: ProxyServer(kind: .socks5, host: "proxy", port: 3128)),
        Origin(scheme: .http, host: "a", port: 80, tls: TLSProfile(TLSConfiguration(), trust: .default)),
        Origin(scheme: .http, host: "a", port: 80, tls: TLSProfile(TLSConfiguration(), trust: .default)),
        Origin(scheme: .http, host: "a", port: 80, proxyTLS: TLSProfile(TLSConfiguration(), trust: .default)),
        Origin(scheme: .http, host: "a", port: 80, localBinding: "eth0"),
        Origin(scheme: .http, host: "FE80::a%eth0", port: 80),
        Origin(scheme: .http, host: "fe80::A%Eth0", port: 80),
    ]

    @Test func differencesKeepOriginsApart() {
        for (left, first) in Self.distinct.enumerated() {
            for (right, second) in Self.distinct.enumerated() {
                #expect((first == second) == (left == right))
            }
        }
        #expect(Set(Self.distinct).count == Self.distinct.count)
    }

    @Test func equalOriginsHaveEqualHashesWhateverTheCaseOfTheHost() {
        let first = Origin(scheme: .http, host: "ExAmple.TEST", port: 80, proxy: Self.proxy)
        let second = Origin(scheme: .http, host: "example.test", port: 80, proxy: Self.proxy)
        #expect(first == second && first.hashValue == second.hashValue && first.host == "example.test")
        #expect(Origin(scheme: .http, host: "FE80::A%Eth0", port: 80).host == "fe80::a%Eth0")
    }

    struct Hint: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var timeout: Int64?
        var maximum: Int?
    }

    @Test(arguments: [
        Hint(testDescription: "timeout=5, max=100", timeout: 5, maximum: 100),
        Hint(testDescription: "max=1,timeout=0", timeout: 0, maximum: 1),
        Hint(testDescription: "Timeout = 15 ; MAX=3", timeout: nil, maximum: 3),
        Hint(testDescription: "TIMEOUT=15", timeout: 15),
        Hint(testDescription: "timeout=5x, max=-1"),
        Hint(testDescription: "timeout=5 6"),
        Hint(testDescription: "timeout=, max"),
        Hint(testDescription: "=,=;;,"),
        Hint(testDescription: "timeout=1, timeout=2", timeout: 1),
        Hint(testDescription: "max=99999999999999999999999999", maximum: .max),
        Hint(testDescription: "wholly-unknown-parameter=1, max=7", maximum: 7),
        Hint(testDescription: ""),
    ])
    func aServersKeepAliveIsReadOrIgnored(_ row: Hint) {
        let hint = KeepAlive(fieldValue: Array(row.testDescription.utf8).span)
        #expect(hint == KeepAlive(timeout: row.timeout.map { .seconds($0) }, maximum: row.maximum))
    }

    @Test func absurdTimesSaturate() {
        #expect(
            KeepAlive(fieldValue: Array("timeout=99999999999999999999".utf8).span).timeout
                == Interval(nanoseconds: .max))
        #expect(Instant(nanoseconds: .max - 1) + .seconds(1) == .distantFuture)
        #expect(Instant(nanoseconds: .min) - Instant(nanoseconds: 1) == Interval(nanoseconds: .min))
        #expect(Interval(.seconds(Int64.max)) == Interval(nanoseconds: .max))
        #expect(Interval(.milliseconds(250)) == .milliseconds(250))
    }
}

/// The rule of replay: each combination of evidence, for each method.
struct ReplayRuleTests {
    @Test(arguments: [
        "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "POST", "PATCH", "CONNECT", "get", "QUERY",
    ])
    func aRequestThatMayHaveMetAClosingConnectionIsReplayedOnce(_ name: String) throws {
        let method = try Method(name)
        let isIdempotent = ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"].contains(name)
        for bits in 0..<16 {
            for replays in 0..<3 {
                let evidence = Self.evidence(bits, method, isUnprocessed: false, replays)
                let mayHaveMetAClose = bits & 1 != 0 && bits & 2 == 0 && replays == 0
                let isSafe = bits & 4 == 0 || isIdempotent && bits & 8 != 0
                #expect(ReplayRule.mayReplay(evidence) == (mayHaveMetAClose && isSafe), "\(evidence)")
            }
        }
    }

    @Test(arguments: [Method.get, .post])
    func anUnprocessedRequestIsReplayedUpToThreeTimesWithAnyMethod(_ method: Method) {
        for bits in 0..<16 {
            for replays in 0..<5 {
                let evidence = Self.evidence(bits, method, isUnprocessed: true, replays)
                let canBeSentAgain = bits & 4 == 0 || bits & 8 != 0
                #expect(
                    ReplayRule.mayReplay(evidence) == (bits & 2 == 0 && canBeSentAgain && replays < 3),
                    "\(evidence)")
            }
        }
    }

    /// Makes a failed attempt. In `bits`, 1 says that the connection was reused, 2 that the response began, 4 that the request
    /// began, 8 that the body is replayable.
    private static func evidence(
        _ bits: Int, _ method: Method, isUnprocessed: Bool, _ replays: Int
    ) -> ReplayRule.FailedAttempt {
        ReplayRule.FailedAttempt(
            connectionWasReused: bits & 1 != 0, responseBegan: bits & 2 != 0, requestBegan: bits & 4 != 0,
            method: method, bodyIsReplayable: bits & 8 != 0, isUnprocessed: isUnprocessed, replays: replays)
    }
}
