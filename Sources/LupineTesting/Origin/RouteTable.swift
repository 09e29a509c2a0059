// SPDX-License-Identifier: MIT

internal import Foundation

/// The routes of an origin: the latest that matches a request answers it. A value.
struct RouteTable: Sendable {
    /// Answers a request; the program's.
    typealias Handler = @Sendable (TestRequest) async throws -> TestResponse

    private struct Route: Sendable {
        /// Nil for any.
        let method: String?
        let pattern: PathPattern
        let handler: Handler

        var text: String { "\(method ?? "any method") \(pattern.text)" }
    }

    private var routes: [Route] = []

    /// Adds a route before those that are there.
    mutating func add(_ method: String?, _ pattern: String, _ handler: @escaping Handler) {
        routes.insert(
            Route(method: method?.uppercased(), pattern: PathPattern(pattern), handler: handler), at: 0)
    }

    /// Who answers a request, and what the braces of its route stand for. `GET` answers `HEAD` too.
    func match(_ request: TestRequest) -> (handler: Handler, parameters: [String: String])? {
        let path = request.url.path(percentEncoded: true)
        for route in routes {
            let isMethod =
                route.method == nil || route.method == request.method
                || route.method == "GET" && request.method == "HEAD"
            guard isMethod, let parameters = route.pattern.parameters(in: path) else { continue }
            return (route.handler, parameters)
        }
        return nil
    }

    /// What a request is answered for which there is no route.
    func refusal(of request: TestRequest) -> TestResponse {
        let known = routes.isEmpty ? "none" : routes.reversed().map(\.text).joined(separator: ", ")
        return .text(
            "no route for \(request.method) \(request.url.path(percentEncoded: true)); there are: \(known)\n",
            status: 404)
    }
}
