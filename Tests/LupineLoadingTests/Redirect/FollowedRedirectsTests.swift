// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

struct FollowedRedirectsTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The answer of the program: its URL and its method.
        var url = "https://other/b"
        var method = "POST"
        var move = RedirectMove.toOtherOrigin
        var hasCredential = true
        var keepsBody = true
    }

    /// The answers to a proposal of POST to `https://user:secret@other/b`, with the body of the request to `https://h/a`.
    static let rows = [
        Row(testDescription: "the proposal"),
        Row(testDescription: "another path", url: "https://other/c"),
        Row(testDescription: "another method", method: "GET", keepsBody: false),
        Row(testDescription: "another host", url: "https://third/b", hasCredential: false),
        Row(testDescription: "another port", url: "https://other:444/b", hasCredential: false),
        Row(
            testDescription: "without TLS", url: "http://other/b", move: .toInsecureOrigin,
            hasCredential: false),
        Row(testDescription: "back", url: "https://h/b", move: .withinOrigin, hasCredential: false),
        Row(
            testDescription: "not a web origin", url: "data:,x", move: .toInsecureOrigin, hasCredential: false
        ),
    ]

    @Test("[U-10.8] what follows from the request that the program approves", arguments: rows)
    func eachAnswer(row: Row) throws {
        let credential = URLCredential(user: "user", password: "secret", persistence: .none)
        let proposal = RedirectRule.Proposal(
            request: try RedirectRuleTests.request("POST", "https://other/b"), credential: credential,
            keepsBody: true)
        let redirect = ApprovedRedirect(
            to: try RedirectRuleTests.request(row.method, row.url), insteadOf: proposal,
            from: URL(string: "https://h/a"))
        #expect(redirect.request.url?.absoluteString == row.url)
        #expect(redirect.move == row.move)
        #expect(redirect.credential == (row.hasCredential ? credential : nil))
        #expect(redirect.keepsBody == row.keepsBody)
    }

    @Test("a proposal that drops the body, and the redirect of a URLProtocol, which keeps it")
    func bodies() throws {
        let request = try RedirectRuleTests.request("GET", "http://h/b")
        let proposal = RedirectRule.Proposal(request: request, credential: nil, keepsBody: false)
        let from = URL(string: "http://h/a")
        #expect(!ApprovedRedirect(to: request, insteadOf: proposal, from: from).keepsBody)
        #expect(ApprovedRedirect(to: request, insteadOf: nil, from: from).keepsBody)
    }

    @Test("the farthest move stays, the credential is that of the last redirect")
    func several() throws {
        let credential = URLCredential(user: "user", password: "secret", persistence: .none)
        var redirects = FollowedRedirects()
        var last = URL(string: "https://h/a")
        let chain: [(url: String, credential: URLCredential?, farthest: RedirectMove, shown: String)] = [
            ("https://h/b", nil, .withinOrigin, "https://h/b"),
            ("http://h/c", credential, .toInsecureOrigin, "http://user:secret@h/c"),
            ("http://h/d", nil, .toInsecureOrigin, "http://h/d"),
        ]
        for (index, step) in chain.enumerated() {
            let request = try RedirectRuleTests.request("GET", step.url)
            let proposal = RedirectRule.Proposal(
                request: request, credential: step.credential, keepsBody: true)
            redirects.add(ApprovedRedirect(to: request, insteadOf: proposal, from: last))
            last = request.url
            #expect(redirects.count == index + 1)
            #expect(redirects.farthestMove == step.farthest)
            #expect(redirects.url(of: request)?.absoluteString == step.shown)
        }
    }

    @Test("[U-10.6, U-17.6] the fields that the driver has added do not go along with a protocol's redirect")
    func addedFields() throws {
        let original = try RedirectRuleTests.request("GET", "http://h/a", ["X-Own": "1"])
        let added = ["X-Own": "1", "Cookie": "a=b", "Authorization": "Basic x", "X-Session": "2"]
        let sent = try RedirectRuleTests.request("GET", "http://h/a", added)
        var fields = added
        fields["X-Session"] = "changed"
        fields["X-New"] = "3"
        let target = try RedirectRuleTests.request("GET", "http://h/b", fields)
        #expect(
            target.removingFields(addedTo: original, in: sent).allHTTPHeaderFields
                == ["X-Own": "1", "X-Session": "changed", "X-New": "3"])
    }
}
