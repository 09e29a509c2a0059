// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `GettingStarted.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct GettingStartedSnippets {
    @Test func aFirstRequest() async throws {
        try await API.serve { api in
            struct Flower: Decodable, Sendable {
                let name: String
            }

            let flowers = try await AF.request("\(api)/flowers", parameters: ["colour": "blue"])
                .validate()
                .serializingDecodable([Flower].self)
                .value
            print(flowers.map(\.name))
            #expect(flowers.map(\.name) == ["lupine", "gentian", "cornflower"])
        }
    }

    @Test func aHandler() async throws {
        try await API.serve { api in
            let status: Int? = await handed { hand in
                AF.request("\(api)/get").responseString { response in
                    switch response.result {
                    case .success(let text): print("\(text.count) characters")
                    case .failure(let error): print(error)
                    }
                    hand(response.response?.statusCode)  // not on the page
                }
            }
            #expect(status == 200)
        }
    }

    @Test func aFailure() async throws {
        try await API.serve { api in
            let response = await AF.request("\(api)/status/404").validate().serializingData().response
            if let error = response.error {
                print(error.localizedDescription)
                print(error.responseCode ?? 0)
            }
            #expect(response.error?.responseCode == 404)
        }
    }
}
