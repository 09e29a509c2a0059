// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import Testing

/// A program's file imports Foundation and this module, without `@testable`; the names that both have mean this module's types.
struct ShadowingTests {
    @Test func foundationTypesAreShadowed() throws {
        let url = try #require(URL(string: "http://example.org/"))
        var request = URLRequest(url: url)
        request.httpMethod = "post"
        #expect(request.httpMethod == "POST")
        #expect(String(reflecting: URLRequest.self) == "LupineLoading.URLRequest")
    }
}
