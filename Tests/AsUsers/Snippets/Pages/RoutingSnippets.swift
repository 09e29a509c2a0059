// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Routing.md`, run against an origin.
@Suite(.timeLimit(.minutes(10))) struct RoutingSnippets {
    struct Flower: Codable, Sendable {
        let name: String
    }

    enum Route: URLRequestConvertible {
        case search(String, page: Int, base: String)
        case create(Flower, base: String)
        case delete(id: Int, base: String)

        func asURLRequest() throws -> URLRequest {
            switch self {
            case .search(let text, let page, let base):
                let request = try URLRequest(url: "\(base)/anything/flowers", method: .get)
                return try URLEncodedFormParameterEncoder.default.encode(
                    ["q": text, "page": String(page)], into: request)
            case .create(let flower, let base):
                let request = try URLRequest(url: "\(base)/anything/flowers", method: .post)
                return try JSONParameterEncoder.default.encode(flower, into: request)
            case .delete(let id, let base):
                return try URLRequest(url: "\(base)/anything/flowers/\(id)", method: .delete)
            }
        }
    }

    @Test func routes() async throws {
        try await API.serve { api in
            let base = "\(api)"
            let found = await AF.request(Route.search("blue", page: 1, base: base)).serializingDecodable(
                Echo.self
            ).response
            let created = await AF.request(Route.create(Flower(name: "lupin"), base: base)).serializingData()
                .response
            let deleted = await AF.request(Route.delete(id: 7, base: base)).serializingDecodable(Echo.self)
                .response
            #expect(found.value?.args == ["q": "blue", "page": "1"])
            #expect(created.request?.httpBody == Data(#"{"name":"lupin"}"#.utf8))
            #expect(deleted.value?.method == "DELETE")
        }
    }
}
