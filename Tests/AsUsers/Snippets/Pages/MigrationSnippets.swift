// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of the pages on migration, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct MigrationSnippets {
    @Test func publishers() async throws {
        try await API.serve { api in
            // AF.request(url).publishDecodable(type: Echo.self).value()
            let echo = try await AF.request("\(api)/get").serializingDecodable(Echo.self).value
            #expect(echo.url == "\(api)/get")
        }
    }

    @Test func alamofire4() async throws {
        try await API.serve { api in
            // Alamofire.request(url, parameters: ["a": "b"]).validate().responseData { response in ... }
            let response = await AF.request("\(api)/get", parameters: ["a": "b"])
                .validate()
                .serializingData()
                .response
            #expect(response.response?.statusCode == 200)
        }
    }

    @Test func urlSession() async throws {
        try await API.serve { api in
            let url = try #require(URL(string: "\(api)/get"))
            let configuration = URLSessionConfiguration.default
            configuration.timeoutIntervalForRequest = 10
            let session = URLSession(configuration: configuration)
            let (data, response) = try await session.data(from: url)
            print((response as? HTTPURLResponse)?.statusCode ?? 0, data.count)
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
        }
    }

    @Test func urlSessionAsARequest() async throws {
        try await API.serve { api in
            let url = try #require(URL(string: "\(api)/get"))
            let response = await AF.request(url, requestModifier: { $0.timeoutInterval = 10 })
                .serializingData()
                .response
            print(response.response?.statusCode ?? 0, response.data?.count ?? 0)
            #expect(response.response?.statusCode == 200)
        }
    }
}
