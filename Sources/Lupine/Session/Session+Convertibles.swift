// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

// The convertibles of requests that are created from a URL, a method and header fields: each attempt converts its convertible to
// a `URLRequest`. This file also creates downloads and uploads.

/// A `URLRequestConvertible` that the library defines.
protocol LibraryConvertible: URLRequestConvertible {
    /// Whether the conversion calls code of the program, and therefore has to run on the request queue.
    var callsProgramCode: Bool { get }
}

extension Session {
    /// Creates a `URLRequest` from its parts and a dictionary of parameters. It is a class, because most requests use it, and a
    /// cast to a class copies nothing.
    final class RequestConvertible: LibraryConvertible {
        private let url: any URLConvertible
        private let method: HTTPMethod
        private let parameters: Parameters?
        private let encoding: any ParameterEncoding
        private let headers: HTTPHeaders?
        private let requestModifier: RequestModifier?
        let callsProgramCode: Bool

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
            // The conversion of parameters may call methods of the program's types.
            callsProgramCode =
                Session.isOfProgramType(url) || requestModifier != nil || parameters != nil
                || !Self.isLibraryEncoding(encoding)
        }

        /// Whether the encoding is the library's `URLEncoding` and holds no closure of the program.
        private static func isLibraryEncoding(_ encoding: any ParameterEncoding) -> Bool {
            guard let encoding = encoding as? URLEncoding else { return false }
            if case .custom = encoding.arrayEncoding { return false }
            return true
        }

        func asURLRequest() throws -> URLRequest {
            var request = URLRequest(url: try url.asURL())
            // A new `URLRequest` has the method GET.
            if method != .get { request.method = method }
            if let headers { request.headers = headers }
            try requestModifier?(&request)
            return try encoding.encode(request, with: parameters)
        }
    }

    /// Creates a `URLRequest` from its parts and an `Encodable` value.
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

        var callsProgramCode: Bool {
            Session.isOfProgramType(url) || requestModifier != nil || parameters != nil
        }
    }

    /// Creates a `URLRequest` from its parts, without parameters.
    struct ParameterlessConvertible: LibraryConvertible {
        let url: any URLConvertible
        let method: HTTPMethod
        let headers: HTTPHeaders?
        let requestModifier: RequestModifier?

        func asURLRequest() throws -> URLRequest {
            var request = try URLRequest(url: url, method: method, headers: headers)
            try requestModifier?(&request)
            return request
        }

        var callsProgramCode: Bool { Session.isOfProgramType(url) || requestModifier != nil }
    }

    /// Whether the URL is neither a `String` nor a `URL`. Its type may then be the program's, and the conversion calls its code.
    private static func isOfProgramType(_ url: any URLConvertible) -> Bool {
        type(of: url) != String.self && type(of: url) != URL.self
    }

    /// A request with the data, file or stream that it uploads.
    struct Upload: UploadConvertible {
        let request: any URLRequestConvertible
        let uploadable: UploadRequest.Uploadable

        func asURLRequest() throws -> URLRequest { try request.asURLRequest() }
        func createUploadable() throws -> UploadRequest.Uploadable { uploadable }
    }

    /// Creates a download, and performs it at once if `requestSetup` is eager.
    func makeDownload(
        _ downloadable: DownloadRequest.Downloadable, _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool?, _ destination: DownloadRequest.Destination?
    ) -> DownloadRequest {
        let request = DownloadRequest(
            downloadable: downloadable, underlyingQueue: rootQueue, serializationQueue: serializationQueue,
            eventMonitor: eventMonitor, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: self, destination: destination)
        performIfEager(request)
        return request
    }

    /// Creates an upload, and performs it at once if `requestSetup` is eager.
    func makeUpload(
        _ upload: any UploadConvertible, _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool?, _ fileManager: FileManager
    ) -> UploadRequest {
        let request = UploadRequest(
            convertible: upload, underlyingQueue: rootQueue, serializationQueue: serializationQueue,
            eventMonitor: eventMonitor, interceptor: interceptor, fileManager: fileManager,
            shouldAutomaticallyResume: shouldAutomaticallyResume, delegate: self)
        performIfEager(request)
        return request
    }

    /// Performs a new request at once, if `requestSetup` is eager.
    func performIfEager(_ request: Request) {
        if requestSetup == .eager { perform(request) }
    }
}

extension URLRequest: LibraryConvertible {
    /// False: the conversion returns the request itself.
    var callsProgramCode: Bool { false }
}
