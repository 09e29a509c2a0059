// SPDX-License-Identifier: MIT

import Lupine
import LupineTransport

/// Three concurrent requests are refused for a stale token: the token is refreshed once, and all three are retried.
enum RefreshAct: DemoAct {
    static let title = "A token that has to be refreshed"
    static let code = """
        let stale = Token(value: "stale")
        let interceptor = AuthenticationInterceptor(authenticator: oauth, credential: stale)
        let me = { @Sendable in
            try await session.request("\\(root)/me", interceptor: interceptor)
                .validate().serializingString().value
        }
        async let first = me()
        async let second = me()
        async let third = me()
        let names = try await [first, second, third]
        """

    /// A token whose expiry only the server knows.
    struct Token: AuthenticationCredential, Sendable {
        let value: String
        var requiresRefresh: Bool { false }
    }

    /// Adds the token to requests, recognizes its refusal, and fetches a new one.
    final class OAuth: Authenticator {
        private let root: String
        private let refreshes = Lock(0)
        /// The number of refreshes so far.
        var refreshCount: Int { refreshes.withLock { $0 } }

        init(_ root: String) { self.root = root }

        func apply(_ credential: Token, to urlRequest: inout URLRequest) {
            urlRequest.headers.update(.authorization(bearerToken: credential.value))
        }

        func refresh(
            _ credential: Token, for session: Session,
            completion: @escaping @Sendable (Result<Token, any Error>) -> Void
        ) {
            refreshes.withLock { $0 += 1 }
            session.request("\(root)/token", method: .post).validate().responseString { response in
                // `mapError` only converts the type of the error, `AFError`, to `any Error`.
                completion(response.result.map { Token(value: $0) }.mapError { $0 })
            }
        }

        func didRequest(
            _ urlRequest: URLRequest, with response: HTTPURLResponse,
            failDueToAuthenticationError error: any Error
        ) -> Bool { response.statusCode == 401 }

        func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Token) -> Bool {
            urlRequest.headers["Authorization"] == "Bearer \(credential.value)"
        }
    }

    static func run(in demo: DemoContext) async throws {
        let (session, root) = (demo.session, demo.root)
        let oauth = OAuth(root)
        let stale = Token(value: "stale")
        let interceptor = AuthenticationInterceptor(authenticator: oauth, credential: stale)
        let me = { @Sendable in
            try await session.request("\(root)/me", interceptor: interceptor)
                .validate().serializingString().value
        }
        async let first = me()
        async let second = me()
        async let third = me()
        let names = try await [first, second, third]
        demo.printResult("\(names.joined(separator: ", ")): three answers, \(oauth.refreshCount) refresh")
        try demo.require(
            names == ["Ada", "Ada", "Ada"] && oauth.refreshCount == 1, "one refresh serves all three")
    }
}
