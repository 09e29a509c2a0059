// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport
import Testing

@testable import LupineLoading

@Suite(.timeLimit(.minutes(10)))
struct DriverChallengeTests {
    static let challenging = ScriptedAnswer.status(401, [("WWW-Authenticate", "Basic realm=\"r\"")], "who?")
    static let user = URLCredential(user: "u", password: "p", persistence: .forSession)
    static let field = "Basic dTpw"

    static func answering(
        _ answer: @escaping RecordingClient.Challenged, isSlow: Bool = false
    ) -> RecordingClient.Answers {
        var answers = RecordingClient.Answers()
        answers.challenge = answer
        answers.isSlow = isSlow
        return answers
    }

    @Test(
        "[U-11.6, U-5.7, U-19.2] an answered challenge repeats the hop, with method and body",
        arguments: [false, true])
    func answered(isSlow: Bool) async throws {
        let script = HopScript([Self.challenging, .status(200, [], "in")])
        let load = DriverLoad(
            try DriverLoad.request("http://h/a", "PUT", body: "body"), script,
            Self.answering({ _ in (.useCredential, Self.user) }, isSlow: isSlow))
        let notes = await load.run()
        #expect(notes.log == ["sends", "challenge", "sends", "response 200", "data", "end"])
        #expect(notes.data == Data("in".utf8) && notes.error == nil)
        #expect(script.sent.map { $0.value(forHTTPHeaderField: "Authorization") } == [nil, Self.field])
        #expect(script.sent.map(\.httpBody) == [Data("body".utf8), Data("body".utf8)])
        #expect(script.sent.map(\.httpMethod) == ["PUT", "PUT"])
        // The request that the program sees contains no credentials.
        #expect(notes.current.allSatisfy { $0.value(forHTTPHeaderField: "Authorization") == nil })
        #expect(notes.metrics?.transactionMetrics.count == 2 && notes.metrics?.redirectCount == 0)
        let challenge = try #require(notes.challenges.first)
        #expect(challenge.previousFailureCount == 0 && challenge.protectionSpace.realm == "r")
        #expect((challenge.failureResponse as? HTTPURLResponse)?.statusCode == 401)
    }

    static let dispositions:
        [(
            summary: String, disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?,
            hops: Int, code: URLError.Code?
        )] = [
            ("a credential", .useCredential, user, 2, nil), ("none", .useCredential, nil, 1, nil),
            ("the default, without a proposal", .performDefaultHandling, nil, 1, nil),
            ("cancel", .cancelAuthenticationChallenge, nil, 1, .cancelled),
            ("another space, of which there is none", .rejectProtectionSpace, nil, 1, nil),
        ]

    @Test("[U-11.4, U-11.5] each disposition", arguments: dispositions)
    func eachDisposition(
        summary: String, disposition: URLSession.AuthChallengeDisposition, credential: URLCredential?,
        hops: Int,
        code: URLError.Code?
    ) async throws {
        let script = HopScript([Self.challenging, .status(200)])
        let load = DriverLoad(
            try DriverLoad.request(), script, Self.answering { _ in (disposition, credential) })
        let notes = await load.run()
        #expect(script.hops.count == hops && notes.error?.code == code, "\(summary)")
        if hops == 1, code == nil {
            #expect(
                HTTPURLResponse.of(notes)?.statusCode == 401 && notes.data == Data("who?".utf8), "\(summary)")
        }
    }

    @Test("[U-11.4] default handling uses the URL's user, once")
    func addressesWithUsers() async throws {
        let script = HopScript([Self.challenging])
        let load = DriverLoad(try DriverLoad.request("http://u:p@h/a"), script)
        let notes = await load.run()
        #expect(script.sent.map { $0.value(forHTTPHeaderField: "Authorization") } == [nil, Self.field])
        #expect(notes.challenges.map(\.previousFailureCount) == [0, 1])
        #expect(notes.challenges.map { $0.proposedCredential != nil } == [true, false])
        #expect(HTTPURLResponse.of(notes)?.statusCode == 401)
    }

    @Test("[U-10.2, U-11.4] the user in a redirect's target is proposed for that target only")
    func redirectsWithUsers() async throws {
        let script = HopScript([
            .redirect("http://u:p@g/x"), Self.challenging, .redirect("http://h/"), Self.challenging,
        ])
        let notes = await DriverLoad(try DriverLoad.request(), script).run()
        #expect(
            script.sent.map { $0.value(forHTTPHeaderField: "Authorization") } == [nil, nil, Self.field, nil])
        #expect(script.sent.dropFirst().first?.url?.absoluteString == "http://g/x")
        #expect(notes.challenges.map { $0.proposedCredential?.user } == ["u", nil])
    }

    @Test("[U-11.7] after 20 challenges the next one is delivered")
    func tooMany() async throws {
        let script = HopScript([Self.challenging])
        let load = DriverLoad(
            try DriverLoad.request(), script,
            Self.answering { challenge in
                (
                    .useCredential,
                    URLCredential(
                        user: "u\(challenge.previousFailureCount)", password: "p", persistence: .none)
                )
            })
        let notes = await load.run()
        #expect(notes.challenges.count == 20 && script.hops.count == 21)
        #expect(HTTPURLResponse.of(notes)?.statusCode == 401 && notes.error == nil)
    }

    @Test("[U-11.6] after a redirect and a challenge the redirect's target is requested again")
    func theCurrentHop() async throws {
        let script = HopScript([.redirect("/b"), Self.challenging, .redirect("/c"), .status(200)])
        let load = DriverLoad(
            try DriverLoad.request(), script, Self.answering { _ in (.useCredential, Self.user) })
        let notes = await load.run()
        #expect(script.sent.map { $0.url?.path } == ["/a", "/b", "/b", "/c"])
        #expect(notes.metrics?.redirectCount == 2 && notes.metrics?.transactionMetrics.count == 4)
    }

    @Test("[U-11.15, 20.3] a known credential is sent unasked, in the same session, for the same user")
    func preemptive() async throws {
        let script = HopScript([Self.challenging, .status(200), .status(200)])
        let context = DriverLoad.context(script)
        let answers = Self.answering { _ in (.useCredential, Self.user) }
        _ = await DriverLoad(try DriverLoad.request(), script, context: context, answers).run()
        let notes = await DriverLoad(
            try DriverLoad.request("http://u:p@h/b"), script, context: context, answers
        ).run()
        #expect(
            notes.challenges.isEmpty
                && script.sent.last?.value(forHTTPHeaderField: "Authorization") == Self.field)
        let other = HopScript([.status(200)])
        _ = await DriverLoad(try DriverLoad.request(), other).run()
        #expect(other.sent.last?.value(forHTTPHeaderField: "Authorization") == nil)
    }

    @Test("[U-11.6, U-7.5] a streamed body is requested again")
    func streams() async throws {
        var answers = Self.answering { _ in (.useCredential, Self.user) }
        answers.stream = { BodyStream(InputStream(data: Data("x".utf8))) }
        let load = DriverLoad(
            try DriverLoad.request("http://h/a", "POST"), kind: .upload, body: .streamed,
            HopScript([Self.challenging, .status(200)]), answers)
        let notes = await load.run()
        #expect(notes.log.filter { $0 == "stream" }.count == 2 && notes.error == nil)
    }

    static let refused = ScriptedAnswer.failure(
        .cannotConnectToHost,
        TransportError.tunnel(
            proxy: "proxy:3128",
            .authenticationRequired(
                ResponseHead(
                    status: Status(407),
                    fields: {
                        var fields = Fields()
                        try? fields.append(.proxyAuthenticate, "Basic realm=\"p\"")
                        return fields
                    }()))))

    static func proxied(_ script: HopScript) -> SessionContext {
        DriverLoad.context(
            script,
            DriverLoad.configuration {
                $0.connectionProxyDictionary = [
                    "HTTPSEnable": 1, "HTTPSProxy": "proxy", "HTTPSPort": 3128, "HTTPEnable": 1,
                    "HTTPProxy": "proxy",
                    "HTTPPort": 3128,
                ]
            })
    }

    @Test("[U-11.17] a refused tunnel is requested again, with an answer for the proxy only")
    func tunnels() async throws {
        let script = HopScript([Self.refused, .status(200)])
        let load = DriverLoad(
            try DriverLoad.request("https://h/a"), script, context: Self.proxied(script),
            Self.answering { _ in (.useCredential, Self.user) })
        let notes = await load.run()
        #expect(
            notes.error == nil
                && notes.log == ["sends", "challenge", "sends", "response 200", "caches", "end"])
        #expect(notes.challenges.first?.protectionSpace.isProxy() == true)
        let hop = try #require(script.hops.last)
        #expect(hop.request.tunnelAuthorizer?.source.authorization(forTunnelTo: "h:443") == Self.field)
        #expect(hop.request.request.allHTTPHeaderFields == nil && hop.request.proxyAuthorization == nil)
    }

    @Test("[U-11.17] an unanswered challenge gives the tunnel's error")
    func refusedTunnels() async throws {
        let script = HopScript([Self.refused])
        let load = DriverLoad(try DriverLoad.request("https://h/a"), script, context: Self.proxied(script))
        let notes = await load.run()
        #expect(notes.error?.code == .cannotConnectToHost && notes.log == ["sends", "challenge", "end"])
        let cancelled = HopScript([Self.refused])
        let other = await DriverLoad(
            try DriverLoad.request("https://h/a"), cancelled, context: Self.proxied(cancelled),
            Self.answering { _ in (.cancelAuthenticationChallenge, nil) }
        ).run()
        #expect(other.error?.code == .cancelled)
    }

    @Test("[U-11.17] a forwarding proxy is answered in the request")
    func plainProxies() async throws {
        let challenging = ScriptedAnswer.status(407, [("Proxy-Authenticate", "Basic realm=\"p\"")])
        let script = HopScript([challenging, .status(200)])
        let load = DriverLoad(
            try DriverLoad.request(), script, context: Self.proxied(script),
            Self.answering { _ in (.useCredential, Self.user) })
        let notes = await load.run()
        #expect(notes.error == nil && script.hops.map(\.request.proxyAuthorization) == [nil, Self.field])
    }
}
