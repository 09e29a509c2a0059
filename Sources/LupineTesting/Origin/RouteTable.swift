// SPDX-License-Identifier: MIT

internal import Foundation

/// The routes of an origin. If several routes match a request, the latest one answers it.
struct RouteTable: Sendable {
    /// A closure of the program that answers a request.
    typealias Handler = @Sendable (TestRequest) async throws -> TestResponse

    private struct Route: Sendable {
        /// The method; nil for any.
        let method: String?
        let pattern: PathPattern
        let handler: Handler

        /// The route, as error messages show it.
        var text: String { "\(method ?? "any method") \(pattern.text)" }
    }

    /// The routes, the latest first.
    private var routes: [Route] = []

    /// Adds a route before the existing ones.
    mutating func add(_ method: String?, _ pattern: String, _ handler: @escaping Handler) {
        routes.insert(
            Route(method: method?.uppercased(), pattern: PathPattern(pattern), handler: handler), at: 0)
    }

    /// Returns the handler for a request, and the values that its path has for the names in braces; nil if no route matches. A
    /// route for `GET` also matches `HEAD`.
    func match(_ request: TestRequest) -> (handler: Handler, parameters: [String: String])? {
        let path = request.url.path(percentEncoded: true)
        for route in routes {
            let matchesMethod =
                route.method == nil || route.method == request.method
                || route.method == "GET" && request.method == "HEAD"
            guard matchesMethod, let parameters = route.pattern.parameters(in: path) else { continue }
            return (route.handler, parameters)
        }
        return nil
    }

    /// Returns the response to a request that no route matches.
    func refusal(of request: TestRequest) -> TestResponse {
        let knownRoutes = routes.isEmpty ? "none" : routes.reversed().map(\.text).joined(separator: ", ")
        return .text(
            "no route for \(request.method) \(request.url.path(percentEncoded: true)); there are: \(knownRoutes)\n",
            status: 404)
    }
}
