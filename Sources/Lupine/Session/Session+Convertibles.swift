// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

// What the requests that are made of their parts are converted from, and how a new request begins.

/// A convertible of the library's own.
protocol OwnConvertible: URLRequestConvertible {
    /// Whether code of the program's runs in the conversion, which then belongs on the request queue.
    var isForeign: Bool { get }
}

extension Session {
    /// A `URLRequest` made of its parts and a dictionary of parameters. What most requests are made of: a class, which is not
    /// copied to be looked at.
    final class RequestConvertible: OwnConvertible {
        private let url: any URLConvertible
        private let method: HTTPMethod
        private let parameters: Parameters?
        private let encoding: any ParameterEncoding
        private let headers: HTTPHeaders?
        private let requestModifier: RequestModifier?
        private let lastURL: LastURL
        let isForeign: Bool

        init(
            url: any URLConvertible, method: HTTPMethod, parameters: Parameters?,
            encoding: any ParameterEncoding, headers: HTTPHeaders?, requestModifier: RequestModifier?,
            lastURL: LastURL
        ) {
            self.url = url
            self.method = method
            self.parameters = parameters
            self.encoding = encoding
            self.headers = headers
            self.requestModifier = requestModifier
            self.lastURL = lastURL
            isForeign =
                Session.isForeign(url) || requestModifier != nil || parameters != nil
                || type(of: encoding) != URLEncoding.self
        }

        func asURLRequest() throws -> URLRequest {
            var request = try lastURL.request(for: url)
            if method != .get { request.method = method }
            if let headers { request.headers = headers }
            try requestModifier?(&request)
            return try encoding.encode(request, with: parameters)
        }
    }

    /// A `URLRequest` made of its parts and an `Encodable` value.
    struct RequestEncodableConvertible<Parameters: Encodable & Sendable>: OwnConvertible {
        let url: any URLConvertible
        let method: HTTPMethod
        let parameters: Parameters?
        let encoder: any ParameterEncoder
        let headers: HTTPHeaders?
        let requestModifier: RequestModifier?

        func asURLRequest() throws -> URLRequest {
            var request = try URLRequest(url: url, method: method, headers: headers)
            try requestModifier?(&request)
            guard let parameters else { return request }
            return try encoder.encode(parameters, into: request)
        }

        var isForeign: Bool { Session.isForeign(url) || requestModifier != nil || parameters != nil }
    }

    /// A `URLRequest` made of its parts, without parameters.
    struct BareConvertible: OwnConvertible {
        let url: any URLConvertible
        let method: HTTPMethod
        let headers: HTTPHeaders?
        let requestModifier: RequestModifier?

        func asURLRequest() throws -> URLRequest {
            var request = try URLRequest(url: url, method: method, headers: headers)
            try requestModifier?(&request)
            return request
        }

        var isForeign: Bool { Session.isForeign(url) || requestModifier != nil }
    }

    /// Whether the address is of a type whose conversion is the program's.
    private static func isForeign(_ url: any URLConvertible) -> Bool {
        type(of: url) != String.self && type(of: url) != URL.self
    }

    /// A request and what it sends.
    struct Upload: UploadConvertible {
        let request: any URLRequestConvertible
        let uploadable: UploadRequest.Uploadable

        func asURLRequest() throws -> URLRequest { try request.asURLRequest() }
        func createUploadable() throws -> UploadRequest.Uploadable { uploadable }
    }

    /// Sets a new request up at once, where the session says so.
    func begin(_ request: Request) {
        // What the program adds to the request next counts.
        if requestSetup == .eager { rootQueue.async { request.step { self.performNow(request) } } }
    }
}

extension URLRequest: OwnConvertible {
    /// There is nothing to convert.
    var isForeign: Bool { false }
}
