// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineOrigin
import Testing

/// The later guide's example of OAuth 2: a credential, its authenticator, and a request with both.
@Suite struct AuthenticatorSnippets {
    struct OAuthCredential: AuthenticationCredential {
        let accessToken: String
        let refreshToken: String
        let userID: String
        let expiration: Date

        // Require refresh if within 5 minutes of expiration
        var requiresRefresh: Bool { Date(timeIntervalSinceNow: 60 * 5) > expiration }
    }

    /// The guide's class, `final` because an `Authenticator` is `Sendable`, for a server that cannot revoke credentials. Where
    /// the guide has only a comment, `refresh` creates the next credential.
    final class OAuthAuthenticator: Authenticator {
        func apply(_ credential: OAuthCredential, to urlRequest: inout URLRequest) {
            urlRequest.headers.add(.authorization(bearerToken: credential.accessToken))
        }

        func refresh(
            _ credential: OAuthCredential,
            for session: Session,
            completion: @escaping (Result<OAuthCredential, Error>) -> Void
        ) {
            completion(.success(AuthenticatorSnippets.credential("a1")))
        }

        func didRequest(
            _ urlRequest: URLRequest,
            with response: HTTPURLResponse,
            failDueToAuthenticationError error: Error
        ) -> Bool {
            return false
        }

        func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: OAuthCredential) -> Bool {
            return true
        }
    }

    /// The same class with the lines that the guide has in comments: for a server that can revoke credentials.
    final class RevocableOAuthAuthenticator: Authenticator {
        func apply(_ credential: OAuthCredential, to urlRequest: inout URLRequest) {
            urlRequest.headers.add(.authorization(bearerToken: credential.accessToken))
        }

        func refresh(
            _ credential: OAuthCredential,
            for session: Session,
            completion: @escaping (Result<OAuthCredential, Error>) -> Void
        ) {
            completion(.success(AuthenticatorSnippets.credential("a1")))
        }

        func didRequest(
            _ urlRequest: URLRequest,
            with response: HTTPURLResponse,
            failDueToAuthenticationError error: Error
        ) -> Bool {
            return response.statusCode == 401
        }

        func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: OAuthCredential) -> Bool {
            let bearerToken = HTTPHeader.authorization(bearerToken: credential.accessToken).value
            return urlRequest.headers["Authorization"] == bearerToken
        }
    }

    private static func credential(_ token: String, for time: TimeInterval = 60 * 60) -> OAuthCredential {
        OAuthCredential(
            accessToken: token, refreshToken: "r0", userID: "u0",
            expiration: Date(timeIntervalSinceNow: time))
    }

    /// Runs `body` with a server that accepts only `a1`.
    private static func serve(_ body: (HTTPBin) async throws -> Void) async throws {
        try await HTTPBin.serve { httpbin in
            httpbin.origin.route("GET", "/example/user") { request throws(Refusal) in
                let isGood = request.field("Authorization") == "Bearer a1"
                return try OriginResponse(isGood ? 200 : 401, "text/plain", Array("user".utf8))
            }
            try await body(httpbin)
        }
    }

    @Test func aCredentialSaysWhenItIsToBeRefreshed() {
        for (time, requiresRefresh) in [(60.0 * 60, false), (60 * 4, true), (-1, true)] {
            let credential: AuthenticationCredential = Self.credential("a0", for: time)
            #expect(credential.requiresRefresh == requiresRefresh)
        }
    }

    @Test func anAuthenticatorRefreshes() async throws {
        // Refreshed before it expires; refreshed after the server refused it; refused without being recognized as an
        // authentication failure.
        let rows: [(RequestInterceptor, isServed: Bool)] = [
            (
                AuthenticationInterceptor(
                    authenticator: OAuthAuthenticator(), credential: Self.credential("a0", for: 60)), true
            ),
            (
                AuthenticationInterceptor(
                    authenticator: RevocableOAuthAuthenticator(), credential: Self.credential("a0")), true
            ),
            (
                AuthenticationInterceptor(
                    authenticator: OAuthAuthenticator(), credential: Self.credential("a0")), false
            ),
        ]
        for (interceptor, isServed) in rows {
            try await Self.serve { httpbin in
                let request = AF.request("\(httpbin)/example/user", interceptor: interceptor).validate()
                let response = await request.serializingString().response
                #expect(response.value == (isServed ? "user" : nil))
                #expect(response.error?.responseCode == (isServed ? nil : 401))
            }
        }
    }

    @Test func anInterceptorHasACredential() async throws {
        try await HTTPBin.serve { httpbin in
            // Generally load from keychain if it exists
            let credential = OAuthCredential(
                accessToken: "a0",
                refreshToken: "r0",
                userID: "u0",
                expiration: Date(timeIntervalSinceNow: 60 * 60))

            // Create the interceptor
            let authenticator = OAuthAuthenticator()
            let interceptor = AuthenticationInterceptor(
                authenticator: authenticator,
                credential: credential)

            // Execute requests with the interceptor
            let session = Session()
            let urlRequest = URLRequest(url: URL(string: "\(httpbin)/bearer")!)
            let request = session.request(urlRequest, interceptor: interceptor)

            let response = await request.serializingString().response
            #expect(response.response?.statusCode == 200)
            #expect(response.value?.contains("a0") == true)
        }
    }
}
