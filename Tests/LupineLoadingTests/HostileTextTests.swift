// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTransport
import Testing

@testable import LupineLoading

/// Texts that peers choose, where they are stored or compared: by octets, and with a limited length. `==` of strings takes
/// seconds for 100 KB of combining characters.
struct HostileTextTests {
    /// The same letter in one scalar and in two: equal strings, but not the same octets.
    private static let (composed, decomposed) = ("\u{E9}", "e\u{301}")
    /// A hundred combining characters on one letter.
    private static let heap = "e" + String(repeating: "\u{301}\u{316}", count: 50)
    private static let escapedHeap = "e" + String(repeating: "%CC%81%CC%96", count: 50)

    private func response(_ fields: [String: String], status: Int = 200) throws -> HTTPURLResponse {
        let url = try #require(URL(string: "http://h.test/a"))
        return try #require(
            HTTPURLResponse(url: url, statusCode: status, httpVersion: nil, headerFields: fields))
    }

    @Test("[U-10.1] the user of a redirect's target must be storable")
    func redirects() throws {
        let base = try #require(URL(string: "http://h.test/"))
        let long = String(repeating: "x", count: PeerText.maxStoredLength + 1)
        for user in ["\(Self.escapedHeap):p", "u:\(Self.escapedHeap)", "\(long):p", "u:\(long)", long] {
            let target = try RedirectTarget("http://\(user)@h.test/b", from: base, isWebSocket: false)
            #expect(target.credential == nil)
            #expect(target.url.absoluteString == "http://h.test/b")
        }
        let short = String(long.dropLast())
        let target = try RedirectTarget("http://u:\(short)@h.test/b", from: base, isWebSocket: false)
        #expect(target.credential?.password == short)
    }

    @Test("[U-11.4] a user of a URL that is slow to compare is not proposed")
    func proposals() throws {
        let requestURL = try #require(URL(string: "http://h.test/"))
        let space = URLProtectionSpace(
            host: "h.test", port: 80, protocol: NSURLProtectionSpaceHTTP, realm: "r",
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
        for (user, isTaken) in [
            ("u:p", true), ("u:\(Self.escapedHeap)", false), ("\(Self.escapedHeap):p", false),
        ] {
            let credentials = TaskCredentials(
                of: URLRequest(url: requestURL), storage: nil)
            let hop = URL(string: "http://\(user)@h.test/")
            #expect((credentials.proposedCredential(for: space, at: hop) != nil) == isTaken, "\(user)")
        }
    }

    @Test("[U-11.1] credentials and header fields are compared by octets")
    func octets() {
        let credentials = [Self.composed, Self.decomposed].map {
            URLCredential(user: "u", password: $0, persistence: .forSession)
        }
        #expect(credentials[0] != credentials[1] && Set(credentials).count == 2)
        #expect(credentials[0] == URLCredential(user: "u", password: Self.composed, persistence: .forSession))
        let fields = [Self.composed, Self.decomposed].map { HeaderList.Field(name: "X", value: $0) }
        #expect(fields[0] != fields[1] && Set(fields).count == 2)
        #expect(fields[0] == HeaderList.Field(name: "X", value: Self.composed))
    }

    @Test("[U-11.3] a challenge that is too long is ignored")
    func challenges() {
        let asker = AuthenticationCandidate.Challenger.server(host: "h", port: 80, scheme: "http")
        let long = String(repeating: "x", count: PeerText.maxStoredLength + 1)
        for line in [
            "Basic realm=\"\(long)\"", "Digest realm=\"\(long)\", nonce=\"n\", qop=\"auth\"",
            "Digest realm=\"r\", nonce=\"\(long)\", qop=\"auth\"",
            "Digest realm=\"r\", nonce=\"n\", opaque=\"\(long)\", qop=\"auth\"",
        ] {
            #expect(AuthenticationCandidate.candidates(in: [line], from: asker).isEmpty)
            let short = line.replacing(long, with: String(long.dropLast()))
            #expect(AuthenticationCandidate.candidates(in: [short], from: asker).count == 1)
        }
    }

    @Test("[U-12.8] a host that is longer than a name may be is refused")
    func hosts() throws {
        let long = String(repeating: "%CC%81", count: HostName.maxLength / 2 + 1)
        let url = try #require(URL(string: "http://x\(long)/"))
        #expect(url.host(percentEncoded: false) != nil && url.hostName == nil)
        #expect(WebOrigin(url) == nil && AuthenticationCandidate.Challenger.server(of: url) == nil)
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let fields = ["Location": "http://x\(long)/b", "Content-Location": "/c"]
        #expect(CacheRule.invalidatedURLs(by: request, response: try response(fields)) == [url])
        #expect(URL(string: "http://xn--bcher-kva.test/")?.hostName == "xn--bcher-kva.test")
    }

    @Test("[U-12.5] request fields named by Vary are compared by octets")
    func varying() throws {
        let url = try #require(URL(string: "http://h.test/a"))
        var requests = [Self.composed, Self.decomposed].map { value in
            var request = URLRequest(url: url)
            request.setValue(" a  b ,\(value)  , c", forHTTPHeaderField: "X-Kind")
            return request
        }
        let keys = requests.map { VaryKey(vary: "X-Kind", request: $0) }
        #expect(keys[0].values["x-kind"] == .plain("a b,\(Self.composed),c"))
        #expect(keys[0] != keys[1] && Set(keys).count == 2)
        #expect(keys[0].matches(requests[0]) && !keys[0].matches(requests[1]))
        // A comma separates list members, even if a combining mark follows it.
        requests[0].setValue("a ,\u{301}b", forHTTPHeaderField: "X-Kind")
        let key = VaryKey(vary: "X-Kind", request: requests[0])
        #expect(key.values["x-kind"] == .plain("a,\u{301}b"))
    }

    @Test("[U-12.13] ETags are compared by octets", arguments: ["ETag", "Last-Modified"])
    func versions(_ field: String) throws {
        let stored = try response([field: "\"\(Self.composed)\""])
        let other = try response([field: "\"\(Self.decomposed)\""], status: 304)
        #expect(!CacheRule.selects(other, stored))
        #expect(CacheRule.selects(try response([field: "\"\(Self.composed)\""], status: 304), stored))
        #expect(DownloadVersion(of: stored).difference(from: other, total: nil) != nil)
        #expect(DownloadVersion(of: stored).difference(from: stored, total: nil) == nil)
    }

    @Test("[U-2.4] a file name from the URL is as quick to compare as one from a field")
    func fileNames() throws {
        let url = try #require(URL(string: "http://h.test/\(Self.escapedHeap)"))
        let name = SuggestedFilename.from(url: url, mimeType: nil)
        #expect(name.isStreamSafe && !name.isEmpty)
        // The runs are separated by a tab, which no file name contains.
        let runs = String(repeating: String(repeating: "\u{301}", count: 30) + "\t", count: 3)
        #expect(SuggestedFilename.sanitised("e" + runs) == "Unknown")
        #expect(SuggestedFilename.sanitised("e\u{301}\tf") == "e\u{301}f")
        #expect(
            SuggestedFilename.from(url: URL(string: "http://h.test/%C3%A9"), mimeType: nil) == Self.composed)
    }

    @Test("[U-21.5] a field name that is slow to compare counts as secret")
    func secrets() {
        #expect(LogRedaction.isSecret(String(repeating: "\u{301}", count: 2_000)))
        #expect(!LogRedaction.isSecret("page"))
    }
}
