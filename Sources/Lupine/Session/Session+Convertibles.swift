// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

// The convertibles of requests that are created from their parts, and the setup of a new request.

/// A convertible type of the library.
protocol LibraryConvertible: URLRequestConvertible {
    /// Whether the conversion calls the program's code, and therefore belongs on the request queue.
    var isForeign: Bool { get }
}

extension Session {
    /// A `URLRequest` made of its parts and a dictionary of parameters. Used by most requests; a class, so that casting it copies
    /// nothing.
    final class RequestConvertible: LibraryConvertible {
        private let url: any URLConvertible
        private let method: HTTPMethod
        private let parameters: Parameters?
        private let encoding: any ParameterEncoding
        private let headers: HTTPHeaders?
        private let requestModifier: RequestModifier?
        let isForeign: Bool

        init(
            url: any URLConvertible, method: HTTPMethod, parameters: Parameters?,
            encoding: any ParameterEncoding, headers: HTTPHeaders?, requestModifier: RequestModifier?
        ) {
            self.url = url
            self.method = method
            self.parameters = parameters
            self.encoding = encoding
            self.headers = headers
            self.requestModifier = requestModifier
            isForeign =
                Session.isForeign(url) || requestModifier != nil || parameters != nil
                || !Self.isOwn(encoding)
        }

        /// Whether the encoding is the library's, without a closure of the program's.
        private static func isOwn(_ encoding: any ParameterEncoding) -> Bool {
            guard let encoding = encoding as? URLEncoding else { return false }
            if case .custom = encoding.arrayEncoding { return false }
            return true
        }

        func asURLRequest() throws -> URLRequest {
            var request = URLRequest(url: try url.asURL())
            if method != .get { request.method = method }
            if let headers { request.headers = headers }
            try requestModifier?(&request)
            return try encoding.encode(request, with: parameters)
        }
    }

    /// A `URLRequest` made of its parts and an `Encodable` value.
    struct RequestEncodableConvertible<Parameters: Encodable & Sendable>: LibraryConvertible {
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
    struct BareConvertible: LibraryConvertible {
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

    /// Whether the URL is of a type whose conversion is the program's code.
    private static func isForeign(_ url: any URLConvertible) -> Bool {
        type(of: url) != String.self && type(of: url) != URL.self
    }

    /// A request and its body.
    struct Upload: UploadConvertible {
        let request: any URLRequestConvertible
        let uploadable: UploadRequest.Uploadable

        func asURLRequest() throws -> URLRequest { try request.asURLRequest() }
        func createUploadable() throws -> UploadRequest.Uploadable { uploadable }
    }

    /// Sets up a new request at once, if the session's setup is eager.
    func begin(_ request: Request) {
        if requestSetup == .eager { perform(request) }
    }
}

extension URLRequest: LibraryConvertible {
    /// False, because there is nothing to convert.
    var isForeign: Bool { false }
}
