// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Validation.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct ValidationSnippets {
    @Test func automatic() async throws {
        try await API.serve { api in
            let response = await AF.request("\(api)/status/500").validate().serializingData().response
            #expect(response.error?.isResponseValidationError == true)
        }
    }

    @Test func byHand() async throws {
        try await API.serve { api in
            let response = await AF.request("\(api)/get")
                .validate(statusCode: 200..<300)
                .validate(contentType: ["image/*"])
                .serializingData()
                .response
            guard
                case .responseValidationFailed(.unacceptableContentType(_, "application/json")) = response
                    .error
            else {
                Issue.record("\(String(describing: response.error))")
                return
            }
        }
    }

    @Test func own() async throws {
        try await API.serve { api in
            struct TooLong: Error {}

            let response = await AF.request("\(api)/bytes/2000")
                .validate { _, _, data in
                    (data?.count ?? 0) <= 1000 ? .success(()) : .failure(TooLong())
                }
                .serializingData()
                .response
            #expect(response.error?.underlyingError is TooLong)
        }
    }
}
