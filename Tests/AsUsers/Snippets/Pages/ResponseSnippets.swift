// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `HandlingResponses.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct ResponseSnippets {
    @Test func handlers() async throws {
        try await API.serve { api in
            let counts = await withTaskGroup(of: Int.self) { _ in
                await handed { (hand: @escaping @Sendable (Int?) -> Void) in
                    let queue = DispatchQueue(label: "org.example.responses")
                    AF.request("\(api)/encoding/utf8")
                        .responseData(queue: queue) { response in print(response.value?.count ?? 0) }
                        .responseString { response in print(response.value ?? "") }
                        .response { response in
                            debugPrint(response)
                            hand(response.data?.count)  // not on the page
                        }
                }
            }
            #expect((counts ?? 0) > 0)
        }
    }

    @Test func decoding() async throws {
        try await API.serve { api in
            api.answer("/flowers/1", "application/json", #"{"common_name": "bluebonnet"}"#)
            struct Flower: Decodable, Sendable {
                let commonName: String
            }

            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            let flower = try await AF.request("\(api)/flowers/1")
                .serializingDecodable(Flower.self, decoder: decoder)
                .value
            #expect(flower.commonName == "bluebonnet")
        }
    }

    @Test func noContent() async throws {
        try await API.serve { api in
            let deleted = await AF.request("\(api)/status/204", method: .delete)
                .serializingDecodable(Empty.self, emptyResponseCodes: [204, 205])
                .response
            #expect(deleted.error == nil)
        }
    }

    @Test func mapping() async throws {
        try await API.serve { api in
            let response = await AF.request("\(api)/bytes/64").serializingData().response
            let size = response.map(\.count)
            let text = response.tryMap { data in
                guard let text = String(data: data, encoding: .utf8) else {
                    throw CocoaError(.fileReadUnknown)
                }
                return text
            }
            print(size.value ?? 0, text.error ?? "text")
            #expect(size.value == 64)
        }
    }
    /// Comma-separated values, a line each.
    struct CSVSerializer: ResponseSerializer {
        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> [[String]] {
            if let error { throw error }
            return String(decoding: data ?? Data(), as: UTF8.self)
                .split(separator: "\n")
                .map { $0.split(separator: ",").map(String.init) }
        }
    }

    @Test func anOwnSerializer() async throws {
        try await API.serve { api in
            api.answer("/table", "text/csv", "a,b\nc,d\n")
            let rows = try await AF.request("\(api)/table").serializingResponse(using: CSVSerializer()).value
            #expect(rows == [["a", "b"], ["c", "d"]])
        }
    }
}
