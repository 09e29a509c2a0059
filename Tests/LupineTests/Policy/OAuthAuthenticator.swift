// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import Synchronization

@testable import Lupine

/// A credential of OAuth 2.0 (RFC 6749): an access token, and a refresh token to get the next one.
struct OAuthCredential: AuthenticationCredential, Equatable {
    var accessToken: String
    var refreshToken: String
    var requiresRefresh = false
}

/// Sends the token in `Authorization` (RFC 6750), and refreshes it at the server with a separate session.
final class OAuthAuthenticator: Authenticator {
    struct NoToken: Error {}

    let tokens: Session
    let tokenURL: String

    init(tokens: Session, tokenURL: String) {
        self.tokens = tokens
        self.tokenURL = tokenURL
    }

    func apply(_ credential: OAuthCredential, to urlRequest: inout URLRequest) {
        urlRequest.headers.add(.authorization(bearerToken: credential.accessToken))
    }

    func refresh(
        _ credential: OAuthCredential, for session: Session,
        completion: @escaping @Sendable (Result<OAuthCredential, any Error>) -> Void
    ) {
        struct Answer: Decodable, Sendable {
            let accessToken: String
            let refreshToken: String

            enum CodingKeys: String, CodingKey {
                case accessToken = "access_token"
                case refreshToken = "refresh_token"
            }
        }
        let form = ["grant_type": "refresh_token", "refresh_token": credential.refreshToken]
        tokens.request(tokenURL, method: .post, parameters: form).validate()
            .responseDecodable(of: Answer.self) { response in
                completion(
                    response.result
                        .map { OAuthCredential(accessToken: $0.accessToken, refreshToken: $0.refreshToken) }
                        .mapError { $0 as any Error })
            }
    }

    func didRequest(
        _ urlRequest: URLRequest, with response: HTTPURLResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool {
        response.statusCode == 401
    }

    func isRequest(_ urlRequest: URLRequest, authenticatedWith credential: OAuthCredential) -> Bool {
        let bearer = HTTPHeader.authorization(bearerToken: credential.accessToken).value
        return urlRequest.headers["Authorization"] == bearer
    }
}

/// An OAuth 2.0 server: it issues `token-1`, `token-2` and so on, accepts only the newest one, and counts.
final class OAuthServer: Sendable {
    struct State {
        var generation = 0
        /// The number of requests that the first token is accepted for; nil for no limit.
        var uses: Int?
        var refreshes = 0
        var refused = 0
        var served = 0
    }

    let state: Protected<State>

    init(uses: Int? = nil) { state = Protected(State(uses: uses)) }

    func serve(at origin: LupineOrigin.Origin) {
        origin.route("POST", "/token") { [state] _ throws(Refusal) in
            let generation = state.write { state in
                state.refreshes += 1
                state.generation += 1
                state.uses = nil
                return state.generation
            }
            let json = #"{"access_token": "token-\#(generation)", "refresh_token": "refresh-\#(generation)"}"#
            return try OriginResponse(200, "application/json", Array(json.utf8))
        }
        origin.route("GET", "/resource") { [state] request throws(Refusal) in
            let isGood = state.write { state in
                let isGood =
                    request.field("Authorization") == "Bearer token-\(state.generation)" && state.uses != 0
                if let uses = state.uses, isGood { state.uses = uses - 1 }
                if isGood { state.served += 1 } else { state.refused += 1 }
                return isGood
            }
            return try OriginResponse(isGood ? 200 : 401, "text/plain", Array("ok".utf8))
        }
    }
}
