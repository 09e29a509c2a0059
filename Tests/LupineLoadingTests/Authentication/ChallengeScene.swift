// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import Testing

@testable import LupineLoading

/// Drives the `Authenticator` of one task as `TaskDriver` and a delegate do, without a network.
struct ChallengeScene {
    var authenticator: Authenticator
    /// The challenges so far.
    var challenges: [URLAuthenticationChallenge] = []
    /// The fields of the requests sent so far.
    var sent: [AuthenticationFields] = []

    /// - Parameters:
    ///   - own: The credential that the task was given.
    ///   - request: The request that the task was created with.
    init(
        _ memory: AuthenticationMemory = AuthenticationMemory(), storage: URLCredentialStorage? = nil,
        own: URLCredential? = nil, for request: URLRequest? = nil
    ) {
        authenticator = Authenticator(memory: memory, storage: storage, request: request)
        authenticator.taskCredential = own
    }

    static let credential = URLCredential(
        user: "Mufasa", password: "Circle of Life", persistence: .forSession)
    static let basic = "Basic realm=\"r\""

    static func digest(_ nonce: String = "n", _ more: String = "") -> String {
        "Digest realm=\"r\", nonce=\"\(nonce)\", qop=\"auth\"" + (more.isEmpty ? "" : ", " + more)
    }

    static func request(
        _ url: String = "http://origin.test/a/b", _ change: (inout URLRequest) -> Void = { _ in }
    )
        throws -> URLRequest
    {
        var request = URLRequest(url: try #require(URL(string: url)))
        change(&request)
        return request
    }

    static func response(_ status: Int, _ lines: [String] = [], _ name: String = "WWW-Authenticate") throws
        -> HTTPURLResponse
    {
        var fields = Fields()
        for line in lines { try fields.append(FieldName(name), line) }
        let head = ResponseHead(status: Status(status), fields: fields)
        return HTTPURLResponse(
            url: try #require(URL(string: "http://origin.test/")), head: head, isDecoded: false)
    }

    /// Sends a request, and returns the authentication fields that it gets.
    @discardableResult
    mutating func send(
        _ request: URLRequest, body: TaskDefinition.Body = .request, proxy: AuthenticationProxy? = nil
    ) throws -> AuthenticationFields {
        let url = try #require(request.url)
        authenticator.begin(AuthenticationMessage(request, body: body, url: url, proxy: proxy))
        var hashes: [MessageDigest: [UInt8]] = [:]
        if let work = authenticator.contentHash {
            #expect(!work.content.isStream)
            // Short content is hashed synchronously.
            let made = LockedValue<[MessageDigest: [UInt8]]>([:])
            work.compute { made.set($0) }
            hashes = made.value
        }
        let fields = authenticator.fields(hashes)
        sent.append(fields)
        return fields
    }

    /// Passes a response to the authenticator, and returns its verdict.
    mutating func receive(_ status: Int, _ lines: String...) throws -> String {
        record(authenticator.receive(try Self.response(status, lines)))
    }

    /// Passes the delegate's answer to the authenticator, and returns its verdict.
    mutating func answer(_ answer: Authenticator.Answer) -> String {
        record(authenticator.receiveAnswer(answer))
    }

    /// Records the challenge of a verdict, and returns the verdict as text.
    mutating func record(_ verdict: Authenticator.Verdict) -> String {
        switch verdict {
        case .deliver: return "deliver"
        case .resend: return "resend"
        case .cancel: return "cancel"
        case .ask(let challenge):
            challenges.append(challenge)
            return "ask"
        }
    }

    var lastChallenge: URLAuthenticationChallenge? { challenges.last }

    /// Sends a request, answers its challenge, sends it again and receives 200.
    mutating func authenticate(
        _ url: String, _ line: String, as credential: URLCredential = Self.credential
    ) throws {
        let request = try Self.request(url)
        try send(request)
        #expect(try receive(401, line) == "ask")
        #expect(answer(.use(credential)) == "resend")
        try send(request)
        #expect(try receive(200) == "deliver")
    }
}
