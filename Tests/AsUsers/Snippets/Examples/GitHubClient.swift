// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// A client of an API that is shaped like GitHub's: routes, a token, typed answers, pages.
struct GitHubClient: Sendable {
    struct Repository: Decodable, Sendable {
        let id: Int
        let fullName: String
    }

    struct Issue: Codable, Sendable {
        let number: Int
        let title: String
    }

    /// What the API says when it refuses something.
    struct Refusal: Decodable, Error, Sendable {
        let message: String
    }

    /// Every request that this client knows how to make, relative to the API's address.
    enum Route: Sendable {
        case repositories(owner: String, page: Int)
        case createIssue(repository: String, title: String)
        case closeIssue(repository: String, number: Int)

        private var method: HTTPMethod {
            switch self {
            case .repositories: .get
            case .createIssue: .post
            case .closeIssue: .patch
            }
        }

        private var path: String {
            switch self {
            case .repositories(let owner, _): "users/\(owner)/repos"
            case .createIssue(let repository, _): "repos/\(repository)/issues"
            case .closeIssue(let repository, let number): "repos/\(repository)/issues/\(number)"
            }
        }

        func request(at base: URL) throws -> URLRequest {
            let request = try URLRequest(url: base.appending(path: path), method: method)
            switch self {
            case .repositories(_, let page):
                return try URLEncodedFormParameterEncoder.default.encode(
                    ["page": page, "per_page": 2], into: request)
            case .createIssue(_, let title):
                return try JSONParameterEncoder.default.encode(["title": title], into: request)
            case .closeIssue:
                return try JSONParameterEncoder.default.encode(["state": "closed"], into: request)
            }
        }
    }

    private struct Call: URLRequestConvertible {
        let route: Route
        let base: URL

        func asURLRequest() throws -> URLRequest { try route.request(at: base) }
    }

    private let base: URL
    private let session: Session
    private let decoder: JSONDecoder

    init(base: URL, token: String) {
        self.base = base
        let authorize = Adapter { request, _, completion in
            var request = request
            request.headers.add(.authorization(bearerToken: token))
            request.headers.add(.accept("application/json"))
            completion(.success(request))
        }
        session = Session(
            interceptor: Interceptor(
                adapters: [authorize], retriers: [RetryPolicy(retryLimit: 2, exponentialBackoffScale: 0.05)]))
        decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
    }

    /// All repositories of somebody: pages are asked for until one says that it is the last.
    func repositories(of owner: String) async throws -> [Repository] {
        var all: [Repository] = []
        var page = 1
        while true {
            let response = await response([Repository].self, to: .repositories(owner: owner, page: page))
            all += try value(response)
            let link = response.response?.headers["Link"] ?? ""
            guard link.contains(#"rel="next""#) else { return all }
            page += 1
        }
    }

    func createIssue(_ title: String, in repository: String) async throws -> Issue {
        try value(await response(Issue.self, to: .createIssue(repository: repository, title: title)))
    }

    func closeIssue(_ number: Int, in repository: String) async throws {
        _ = try value(await response(Issue.self, to: .closeIssue(repository: repository, number: number)))
    }

    private func response<Value: Decodable & Sendable>(
        _ type: Value.Type, to route: Route
    ) async -> AFDataResponse<Value> {
        await session.request(Call(route: route, base: base))
            .validate()
            .serializingDecodable(Value.self, decoder: decoder)
            .response
    }

    /// The value; where the API has said why there is none, that is the error.
    private func value<Value: Sendable>(_ response: AFDataResponse<Value>) throws -> Value {
        if let data = response.data, response.error?.isResponseValidationError == true,
            let refusal = try? decoder.decode(Refusal.self, from: data)
        {
            throw refusal
        }
        return try response.result.get()
    }
}
