// SPDX-License-Identifier: MIT

// The patterns are the guide's.
// swift-format-ignore-file: UseLetInEveryBoundCaseVariable, OneCasePerLine

import Foundation
import Lupine
import Testing

/// The sources of requests: URLs, requests, and routers. The guides' routers contain the server's URL; here each case has it as
/// an additional value.
@Suite struct RoutingSnippets {
    enum Router: URLRequestConvertible {
        case get(HTTPBin), post(HTTPBin)

        var baseURL: URL {
            switch self {
            case let .get(httpbin), let .post(httpbin): return URL(string: "\(httpbin)")!
            }
        }

        var method: HTTPMethod {
            switch self {
            case .get: return .get
            case .post: return .post
            }
        }

        var path: String {
            switch self {
            case .get: return "get"
            case .post: return "post"
            }
        }

        func asURLRequest() throws -> URLRequest {
            let url = baseURL.appendingPathComponent(path)
            var request = URLRequest(url: url)
            request.method = method

            return request
        }
    }

    enum ParameterRouter: URLRequestConvertible {
        case get([String: String], HTTPBin), post([String: String], HTTPBin)

        var baseURL: URL {
            switch self {
            case let .get(_, httpbin), let .post(_, httpbin): return URL(string: "\(httpbin)")!
            }
        }

        var method: HTTPMethod {
            switch self {
            case .get: return .get
            case .post: return .post
            }
        }

        var path: String {
            switch self {
            case .get: return "get"
            case .post: return "post"
            }
        }

        func asURLRequest() throws -> URLRequest {
            let url = baseURL.appendingPathComponent(path)
            var request = URLRequest(url: url)
            request.method = method

            switch self {
            case let .get(parameters, _):
                request = try URLEncodedFormParameterEncoder().encode(parameters, into: request)
            case let .post(parameters, _):
                request = try JSONParameterEncoder().encode(parameters, into: request)
            }

            return request
        }
    }

    @Test func threeTypesAreURLs() async throws {
        try await HTTPBin.serve { httpbin in
            let urlString = "\(httpbin)/get"
            let first = AF.request(urlString)

            let url = URL(string: urlString)!
            let second = AF.request(url)

            let urlComponents = URLComponents(url: url, resolvingAgainstBaseURL: true)!
            let third = AF.request(urlComponents)

            for request in [first, second, third] {
                let echo = try await request.serializingDecodable(Echo.self).value
                #expect(echo.url == urlString)
            }
        }
    }

    @Test func aURLRequestIsARequest() async throws {
        try await HTTPBin.serve { httpbin in
            let url = URL(string: "\(httpbin)/post")!
            var urlRequest = URLRequest(url: url)
            urlRequest.method = .post

            let parameters = ["foo": "bar"]

            do {
                urlRequest.httpBody = try JSONEncoder().encode(parameters)
            } catch {
                // Handle error.
                Issue.record(error)
            }

            urlRequest.headers.add(.contentType("application/json"))

            let echo = try await AF.request(urlRequest).serializingDecodable(Echo.self).value
            #expect(echo.data == #"{"foo":"bar"}"#)
            #expect(echo.headers["Content-Type"] == "application/json")
        }
    }

    @Test func aRouterIsARequest() async throws {
        try await HTTPBin.serve { httpbin in
            let echo = try await AF.request(Router.get(httpbin)).serializingDecodable(Echo.self).value
            #expect(echo.url == "\(httpbin)/get")
            let posted = try await AF.request(Router.post(httpbin)).serializingDecodable(Echo.self).value
            #expect(posted.url == "\(httpbin)/post")
        }
    }

    @Test func aRouterHasParameters() async throws {
        try await HTTPBin.serve { httpbin in
            let got = try await AF.request(ParameterRouter.get(["foo": "bar"], httpbin))
                .serializingDecodable(Echo.self).value
            #expect(got.args == ["foo": "bar"])
            let posted = try await AF.request(ParameterRouter.post(["foo": "bar"], httpbin))
                .serializingDecodable(Echo.self).value
            #expect(posted.data == #"{"foo":"bar"}"#)
        }
    }
}
