// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// Credentials, for servers that send a challenge and for those that do not.
@Suite struct AuthenticationSnippets {
    @available(*, deprecated)
    @Test func basicAuthentication() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Any> = await handed { hand in
                let user = "user"
                let password = "password"

                AF.request("\(httpbin)/basic-auth/\(user)/\(password)")
                    .authenticate(username: user, password: password)
                    .responseJSON { response in
                        debugPrint(response)
                        hand(response)
                    }
            }
            #expect(isWelcome(response))
        }
    }

    @available(*, deprecated)
    @Test func authenticationWithACredential() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Any> = await handed { hand in
                let user = "user"
                let password = "password"

                let credential = URLCredential(user: user, password: password, persistence: .forSession)

                AF.request("\(httpbin)/basic-auth/\(user)/\(password)")
                    .authenticate(with: credential)
                    .responseJSON { response in
                        debugPrint(response)
                        hand(response)
                    }
            }
            #expect(isWelcome(response))
            // Two requests were sent: one that was challenged, and one with the credential.
            #expect(httpbin.origin.counts.requests == 2)
        }
    }

    @available(*, deprecated)
    @Test func authenticationByHand() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Any> = await handed { hand in
                let user = "user"
                let password = "password"

                let headers: HTTPHeaders = [.authorization(username: user, password: password)]

                AF.request("\(httpbin)/basic-auth/user/password", headers: headers)
                    .responseJSON { response in
                        debugPrint(response)
                        hand(response)
                    }
            }
            #expect(isWelcome(response))
            #expect(httpbin.origin.counts.requests == 1)
        }
    }

    private func isWelcome(_ response: AFDataResponse<Any>) -> Bool {
        response.response?.statusCode == 200
            && (response.value as? [String: Any])?["authenticated"] as? Bool == true
    }
}
