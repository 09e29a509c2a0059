// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import LupineTransport
import Testing

/// Squid demands authentication, by Basic and by Digest, for forwarded requests and for tunnels; the session answers with
/// credentials of its delegate or storage.
@Suite struct SquidAuthenticationTests {
    enum Scheme: String, CaseIterable, Sendable {
        case basic, digest

        var squid: SquidServer {
            switch self {
            case .basic: SquidServer(credentials: TestUser.forSquid)
            case .digest: SquidServer(digest: (TestUser.name, "s3cret"))
            }
        }
        var credential: URLCredential {
            let password = self == .basic ? TestUser.password : "s3cret"
            return URLCredential(user: TestUser.name, password: password, persistence: .forSession)
        }
        var method: String {
            self == .basic ? NSURLAuthenticationMethodHTTPBasic : NSURLAuthenticationMethodHTTPDigest
        }
    }

    /// Trusts every server, and answers a proxy's challenges with one credential after the other.
    private final class Answering: NSObject, URLSessionTaskDelegate {
        let asked = Lock<[(space: URLProtectionSpace, failures: Int)]>([])
        private let answers: [URLCredential]

        init(_ answers: [URLCredential]) { self.answers = answers }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler:
                @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            if let trust = challenge.protectionSpace.serverTrust {
                completionHandler(.useCredential, URLCredential(trust: trust))
                return
            }
            let count = asked.withLock { asked in
                asked.append((challenge.protectionSpace, challenge.previousFailureCount))
                return asked.count
            }
            if count <= answers.count {
                completionHandler(.useCredential, answers[count - 1])
            } else {
                completionHandler(.performDefaultHandling, nil)
            }
        }
    }

    /// Runs `body` with squid, a session that goes through it and an origin.
    private func converse(
        _ scheme: Scheme, secure: Bool, _ delegate: Answering, storage: URLCredentialStorage? = nil,
        _ body: (URLSession, LupineOrigin.Origin, ServerProcess) async throws -> Void
    ) async throws {
        var serving = OriginConfiguration()
        if secure {
            let identity = try TLSIdentity(pemChain: PKI.text("good-chain.pem"), pemKey: PKI.text("good.key"))
            serving.tls = TLSServerConfiguration(identities: [TLSServerIdentity(identity)])
        }
        let origin = try LupineOrigin.Origin.start(configuration: serving)
        let result: Result<Void, any Error>
        do {
            try await ServerProcess.with(scheme.squid) { squid in
                let configuration = URLSessionConfiguration.ephemeral
                let port = Int(squid.place.port)
                configuration.connectionProxyDictionary = [
                    "HTTPEnable": 1, "HTTPProxy": "127.0.0.1", "HTTPPort": port,
                    "HTTPSEnable": 1, "HTTPSProxy": "127.0.0.1", "HTTPSPort": port,
                ]
                if let storage { configuration.urlCredentialStorage = storage }
                let session = URLSession(
                    configuration: configuration, delegate: delegate, delegateQueue: nil)
                defer { session.invalidateAndCancel() }
                try await body(session, origin, squid)
            }
            result = .success(())
        } catch { result = .failure(error) }
        await origin.shutdown()
        try result.get()
    }

    private func url(_ origin: LupineOrigin.Origin, _ scheme: String, _ path: String) throws -> URL {
        try #require(URL(string: "\(scheme)://127.0.0.1:\(origin.port)\(path)"))
    }

    @Test(
        "[U-11.17] the delegate's answer opens the proxy, for each task that it is given to",
        .timeLimit(.minutes(10)), arguments: Scheme.allCases, [false, true])
    func byDelegate(_ scheme: Scheme, secure: Bool) async throws {
        let delegate = Answering([scheme.credential, scheme.credential, scheme.credential])
        try await converse(scheme, secure: secure, delegate) { session, origin, squid in
            for count in 1...3 {
                let url = try url(origin, secure ? "https" : "http", "/bytes/\(count)")
                let (data, response) = try await session.data(from: url)
                #expect(data.count == count && (response as? HTTPURLResponse)?.statusCode == 200)
            }
            let asked = delegate.asked.withLock { $0 }
            let space = try #require(asked.first?.space)
            #expect(asked.map(\.failures) == [0, 0, 0])
            #expect(space.isProxy() && space.realm == "lupine" && space.port == Int(squid.place.port))
            #expect(space.authenticationMethod == scheme.method)
        }
    }

    @Test(
        "[U-11.17] a web socket's tunnel is opened alike", .timeLimit(.minutes(10)),
        arguments: Scheme.allCases, [false, true])
    func webSocket(_ scheme: Scheme, secure: Bool) async throws {
        let delegate = Answering([scheme.credential])
        try await converse(scheme, secure: secure, delegate) { session, origin, _ in
            let task = session.webSocketTask(with: try url(origin, secure ? "wss" : "ws", "/websocket"))
            task.resume()
            try await task.send(.string("through squid"))
            guard case .string("through squid") = try await task.receive() else {
                Issue.record("something else came back")
                return
            }
            #expect(delegate.asked.withLock { $0.count } == 1)
            task.cancel()
        }
    }

    @Test(
        "[U-11.17] a wrong answer is asked about once more, with its failure counted",
        .timeLimit(.minutes(10)), arguments: Scheme.allCases, [false, true])
    func wrongAtFirst(_ scheme: Scheme, secure: Bool) async throws {
        let wrong = URLCredential(user: TestUser.name, password: "wrong", persistence: .none)
        let delegate = Answering([wrong, scheme.credential])
        try await converse(scheme, secure: secure, delegate) { session, origin, _ in
            let (data, _) = try await session.data(from: url(origin, secure ? "https" : "http", "/bytes/7"))
            #expect(data.count == 7)
            #expect(delegate.asked.withLock { $0.map(\.failures) } == [0, 1])
        }
    }

    @Test(
        "[U-11.17] what the storage holds for the proxy goes out without asking", .timeLimit(.minutes(10)),
        arguments: Scheme.allCases, [false, true])
    func byStorage(_ scheme: Scheme, secure: Bool) async throws {
        /// Filled below: the protection space contains squid's port.
        let storage = URLCredentialStorage()
        let delegate = Answering([])
        try await converse(scheme, secure: secure, delegate, storage: storage) { session, origin, squid in
            storage.setDefaultCredential(
                scheme.credential,
                for: URLProtectionSpace(
                    proxyHost: "127.0.0.1", port: Int(squid.place.port),
                    type: secure ? NSURLProtectionSpaceHTTPSProxy : NSURLProtectionSpaceHTTPProxy,
                    realm: "lupine", authenticationMethod: scheme.method))
            let (data, _) = try await session.data(from: url(origin, secure ? "https" : "http", "/bytes/9"))
            #expect(data.count == 9)
            #expect(delegate.asked.withLock { $0.allSatisfy { $0.failures == 0 } })
        }
    }
}
