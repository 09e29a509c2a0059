// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import Testing

/// The snippets of `Authentication.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct AuthenticationSnippets {
    @Test func challenges() async throws {
        try await API.serve { api in
            let response = await AF.request("\(api)/digest-auth/auth/lupin/secret")
                .authenticate(username: "lupin", password: "secret")
                .serializingData()
                .response
            #expect(response.response?.statusCode == 200)
        }
    }

    @Test func unasked() async throws {
        try await API.serve { api in
            let headers: HTTPHeaders = [.authorization(username: "lupin", password: "secret")]
            let response = await AF.request("\(api)/basic-auth/lupin/secret", headers: headers)
                .serializingData()
                .response
            #expect(response.response?.statusCode == 200)
        }
    }
    struct Token: AuthenticationCredential, Sendable {
        let value: String
        let expiry: Date
        /// Also when it is about to expire.
        var requiresRefresh: Bool { expiry < Date(timeIntervalSinceNow: 60) }
    }

    final class TokenAuthenticator: Authenticator {
        let address: String

        init(address: String) { self.address = address }

        func apply(_ credential: Token, to urlRequest: inout URLRequest) {
            urlRequest.headers.add(.authorization(bearerToken: credential.value))
        }

        func refresh(
            _ credential: Token, for session: Session,
            completion: @escaping @Sendable (Result<Token, any Error>) -> Void
        ) {
            AF.request(address, method: .post).validate().responseString { response in
                completion(
                    response.result
                        .map { Token(value: $0, expiry: Date(timeIntervalSinceNow: 3600)) }
                        .mapError { $0 as any Error })
            }
        }

        func didRequest(
            _ urlRequest: URLRequest, with response: HTTPURLResponse,
            failDueToAuthenticationError error: any Error
        ) -> Bool {
            response.statusCode == 401
        }

        func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: Token) -> Bool {
            urlRequest.headers["Authorization"] == "Bearer \(credential.value)"
        }
    }

    @Test func tokens() async throws {
        try await API.serve { api in
            api.origin.route("POST", "/token") { _ throws(Refusal) in
                try OriginResponse(200, "text/plain", Array("fresh".utf8))
            }
            api.origin.route("GET", "/private") { request throws(Refusal) in
                guard request.field("Authorization") == "Bearer fresh" else { throw Refusal(401, "no") }
                return try OriginResponse(200, "text/plain", Array("welcome".utf8))
            }
            let interceptor = AuthenticationInterceptor(
                authenticator: TokenAuthenticator(address: "\(api)/token"),
                credential: Token(value: "stale", expiry: .distantFuture))
            let session = Session(interceptor: interceptor)
            let text = try await session.request("\(api)/private").validate().serializingString().value
            #expect(text == "welcome")
            #expect(interceptor.credential?.value == "fresh")
        }
    }
}
