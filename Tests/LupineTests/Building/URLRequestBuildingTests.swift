// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

struct URLRequestBuildingTests {
    private struct Refusal: Error {}

    private struct Refusing: URLConvertible, URLRequestConvertible {
        func asURL() throws -> URL { throw Refusal() }
        func asURLRequest() throws -> URLRequest { throw Refusal() }
    }

    private func request(_ method: HTTPMethod = .get) throws -> URLRequest {
        try URLRequest(url: "http://h.test/p", method: method)
    }

    // MARK: making

    @Test("[E-3.4] a request has the URL, the method and the headers that it is created with")
    func made() throws {
        let request = try URLRequest(
            url: "http://h.test/p", method: .patch, headers: ["X-B": "1", "x-a": "2", "X-b": "3"])
        #expect(request.url?.absoluteString == "http://h.test/p")
        #expect(request.httpMethod == "PATCH")
        #expect(request.allHTTPHeaderFields == ["X-b": "3", "x-a": "2"])
    }

    @Test("[E-3.4] without headers a request has none, and a custom method is kept")
    func madeBare() throws {
        let request = try URLRequest(url: "http://h.test/p", method: HTTPMethod(rawValue: "Purge"))
        #expect(request.httpMethod == "Purge")
        #expect(request.allHTTPHeaderFields ?? [:] == [:])
    }

    @Test("[E-3.4] the conversion's error is thrown")
    func failsAsConversion() {
        #expect(throws: Refusal.self) { try URLRequest(url: Refusing(), method: .get) }
        let error = #expect(throws: AFError.self) { try URLRequest(url: "", method: .get) }
        #expect(error?.isInvalidURLError == true)
    }

    @Test("a request is converted to itself, and `urlRequest` is nil after an error")
    func convertible() throws {
        let request = try request(.put)
        #expect(try request.asURLRequest() == request)
        #expect(request.urlRequest?.httpMethod == "PUT")
        #expect(Refusing().urlRequest == nil)
    }

    // MARK: headers and method

    @Test("headers return fields set in any way")
    func readsHeaders() throws {
        var request = try request()
        #expect(request.headers.isEmpty)
        request.setValue("1", forHTTPHeaderField: "x-a")
        request.addValue("2", forHTTPHeaderField: "X-A")
        #expect(request.headers.count == 1)
        #expect(request.headers["x-a"] == "1,2")
        request.allHTTPHeaderFields = ["b": "3", "C": "4"]
        #expect(request.headers.sorted() == ["b": "3", "C": "4"])
        request.allHTTPHeaderFields = nil
        #expect(request.headers.isEmpty)
    }

    @Test("setting headers replaces all of them and keeps their spelling")
    func setsHeaders() throws {
        var request = try request()
        request.setValue("1", forHTTPHeaderField: "X-Old")
        request.headers = ["x-b": "2", "X-a": "3"]
        #expect(request.allHTTPHeaderFields == ["x-b": "2", "X-a": "3"])
        #expect(request.value(forHTTPHeaderField: "X-B") == "2")
        request.headers["x-b"] = nil
        request.headers.add(.accept("a/b"))
        #expect(request.allHTTPHeaderFields == ["X-a": "3", "Accept": "a/b"])
        request.headers = []
        #expect(request.allHTTPHeaderFields ?? [:] == [:])
    }

    @Test("headers keep the order in which they are set")
    func keepsOrder() throws {
        var request = try request()
        let headers: HTTPHeaders = ["z": "1", "a": "2", "m": "3"]
        request.headers = headers
        #expect(request.headers == headers)
        #expect(try URLRequest(url: "http://h.test", method: .get, headers: headers).headers == headers)
    }

    @Test("a copy keeps its headers")
    func copies() throws {
        var request = try request()
        request.headers = ["a": "1"]
        let copy = request
        request.headers["a"] = "2"
        #expect(copy.headers["a"] == "1")
    }

    @Test("the method is httpMethod, and nil is GET")
    func method() throws {
        var request = try request(.delete)
        #expect(request.method == .delete)
        request.method = .post
        #expect(request.httpMethod == "POST")
        request.method = nil
        #expect(request.method == .get)
    }

    // MARK: validating

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var method: HTTPMethod
        var body: Data?
        var isValid: Bool

        var testDescription: String { name }
    }

    @Test(
        "validation refuses only a GET with a body",
        arguments: [
            Row(name: "GET without a body", method: .get, body: nil, isValid: true),
            Row(name: "GET with a body", method: .get, body: Data("b".utf8), isValid: false),
            Row(name: "GET with an empty body", method: .get, body: Data(), isValid: false),
            Row(name: "POST with a body", method: .post, body: Data("b".utf8), isValid: true),
            Row(name: "HEAD with a body", method: .head, body: Data("b".utf8), isValid: true),
            Row(name: "QUERY with a body", method: .query, body: Data("b".utf8), isValid: true),
        ])
    func validates(_ row: Row) throws {
        var request = try request(row.method)
        request.httpBody = row.body
        if row.isValid { return try request.validate() }
        let error = #expect(throws: AFError.self) { try request.validate() }
        guard case .urlRequestValidationFailed(.bodyDataInGETRequest(let body)) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(body == row.body)
    }
}
