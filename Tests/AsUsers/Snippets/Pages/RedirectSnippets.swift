// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Redirects.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct RedirectSnippets {
    @Test func notFollowed() async throws {
        try await API.serve { api in
            let response = await AF.request("\(api)/redirect/3")
                .redirect(using: .doNotFollow)
                .serializingData(emptyResponseCodes: [302])
                .response
            print(response.response?.headers["Location"] ?? "")
            #expect(response.response?.statusCode == 302)
        }
    }

    @Test func changed() async throws {
        try await API.serve { api in
            let session = Session(
                redirectHandler: Redirector.modify { _, request, _ in
                    var request = request
                    request.headers.add(name: "X-Redirected", value: "yes")
                    return request
                })
            let echo = try await session.request("\(api)/redirect/1").serializingDecodable(Echo.self).value
            #expect(echo.headers["X-Redirected"] == "yes")
        }
    }

    @Test func careful() async throws {
        try await API.serve { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.lupine.sensitiveFields.insert("X-Tenant-Secret")
            configuration.lupine.followsInsecureRedirects = false
            let careful = Session(configuration: configuration)
            let headers: HTTPHeaders = ["X-Tenant-Secret": "yes"]
            let echo = try await careful.request("\(api)/redirect/1", headers: headers)
                .serializingDecodable(Echo.self).value
            #expect(echo.headers["X-Tenant-Secret"] == "yes")
        }
    }
}
