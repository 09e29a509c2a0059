// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `EncodingParameters.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct ParameterSnippets {
    @Test func encodableParameters() async throws {
        try await API.serve { api in
            struct Search: Encodable, Sendable {
                let colour: String
                let page: Int
            }

            let search = Search(colour: "dark blue", page: 2)
            let query = AF.request("\(api)/get", parameters: search)
            let form = AF.request("\(api)/anything", method: .post, parameters: search)
            let json = AF.request("\(api)/anything", method: .post, parameters: search, encoder: .json)
            let asked = try await query.serializingDecodable(Echo.self).value
            #expect(asked.url == "\(api)/get?colour=dark%20blue&page=2")
            let sent = try await form.serializingDecodable(Echo.self).value
            #expect(sent.form == ["colour": "dark blue", "page": "2"])
            let document = try await json.serializingDecodable(Echo.self).value
            #expect(document.headers["Content-Type"] == "application/json")
        }
    }

    @Test func dictionaries() async throws {
        try await API.serve { api in
            let query = AF.request("\(api)/get", parameters: ["tags": ["a", "b"], "exact": true])
            let document = AF.request(
                "\(api)/anything", method: .post, parameters: ["tags": ["a", "b"]],
                encoding: JSONEncoding.default)
            let response = await query.serializingData().response
            #expect(
                response.request?.url?.absoluteString == "\(api)/get?exact=1&tags%5B%5D=a&tags%5B%5D=b")
            let sent = try await document.serializingString().value
            #expect(sent.contains("application/json"))
        }
    }

    @Test func formOptions() async throws {
        try await API.serve { api in
            let encoder = URLEncodedFormEncoder(
                arrayEncoding: .noBrackets, boolEncoding: .literal, dateEncoding: .iso8601,
                keyEncoding: .convertToSnakeCase, nilEncoding: .dropKey, spaceEncoding: .plusReplaced)
            struct Search: Encodable, Sendable {
                let exactMatch: Bool
                let tags: [String]
                let text: String
            }
            let request = AF.request(
                "\(api)/get", parameters: Search(exactMatch: true, tags: ["a", "b"], text: "dark blue"),
                encoder: URLEncodedFormParameterEncoder(encoder: encoder, destination: .queryString))
            let response = await request.serializingData().response
            #expect(response.request?.url?.query() == "exact_match=true&tags=a&tags=b&text=dark+blue")
        }
    }

    @Test func propertyLists() async throws {
        try await API.serve { api in
            let request = AF.request(
                "\(api)/anything", method: .post, parameters: ["colour": "blue"], encoder: .propertyList)
            let sent = try await request.serializingString().value
            #expect(sent.contains("plist"))
        }
    }

    @Test func compression() async throws {
        try await API.serve { api in
            let text = String(repeating: "bluebonnet ", count: 1000)
            let request = AF.request(
                "\(api)/anything", method: .post, parameters: ["text": text], encoder: .json,
                interceptor: .gzipCompressor)
            let response = await request.serializingData().response
            #expect(response.request?.headers["Content-Encoding"] == "gzip")
            #expect((response.request?.httpBody?.count ?? .max) < 1000)
        }
    }
}
