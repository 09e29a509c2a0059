// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// Header fields of one request.
@Suite struct HeaderSnippets {
    @available(*, deprecated)
    @Test func headersAreADictionary() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Any> = await handed { hand in
                let headers: HTTPHeaders = [
                    "Authorization": "Basic VXNlcm5hbWU6UGFzc3dvcmQ=",
                    "Accept": "application/json",
                ]

                AF.request("\(httpbin)/headers", headers: headers).responseJSON { response in
                    debugPrint(response)
                    hand(response)
                }
            }
            #expect(sent("Authorization", in: response) == "Basic VXNlcm5hbWU6UGFzc3dvcmQ=")
            #expect(sent("Accept", in: response) == "application/json")
        }
    }

    @available(*, deprecated)
    @Test func headersAreAnArray() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Any> = await handed { hand in
                let headers: HTTPHeaders = [
                    .authorization(username: "Username", password: "Password"),
                    .accept("application/json"),
                ]

                AF.request("\(httpbin)/headers", headers: headers).responseJSON { response in
                    debugPrint(response)
                    hand(response)
                }
            }
            #expect(sent("Authorization", in: response) == "Basic VXNlcm5hbWU6UGFzc3dvcmQ=")
            #expect(sent("Accept", in: response) == "application/json")
            // The default fields of every request.
            #expect(sent("Accept-Encoding", in: response) == "br;q=1.0, gzip;q=0.9, deflate;q=0.8")
            #expect(sent("Accept-Language", in: response) == HTTPHeaders.default["Accept-Language"])
            #expect(sent("User-Agent", in: response)?.contains("/") == true)
        }
    }

    private func sent(_ name: String, in response: AFDataResponse<Any>) -> String? {
        let answer = response.value as? [String: Any]
        return (answer?["headers"] as? [String: Any])?[name] as? String
    }
}
