// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The source of a request's body, determined before a connection is opened.
///
/// The initializer opens the file of a body. An unreadable file therefore fails the load before it connects (U-7.3), and no other
/// file can take its place between the check and the sending. A stream is opened only when its first byte is needed.
enum BodySource: Sendable {
    case none
    case data(Data)
    case file(FileSource)
    /// The request's own stream, which can be read only once.
    case stream(BodyStream)
    /// A stream. The load's client supplies a new one each time the body is sent.
    case suppliedByClient

    /// Determines the source of the body. An empty body is `.none`. Throws if a file cannot be opened for reading.
    ///
    /// - Parameters:
    ///   - body: Where the task has its body from.
    ///   - request: The request, which contains the body if `body` is `.request`.
    init(_ body: TaskDefinition.Body, of request: URLRequest) throws(URLError) {
        switch body {
        case .request:
            if let data = request.httpBody {
                self = data.isEmpty ? .none : .data(data)
            } else if let stream = request.httpBodyStream {
                self = .stream(BodyStream(stream))
            } else {
                self = .none
            }
        case .data(let data): self = data.isEmpty ? .none : .data(data)
        case .file(let url): self = try Self.openFile(at: url, forRequestTo: request.url)
        case .streamed: self = .suppliedByClient
        }
    }

    /// Whether there is no body to send.
    var isNone: Bool {
        switch self {
        case .none: true
        case .data, .file, .stream, .suppliedByClient: false
        }
    }

    /// Opens the file for reading. Throws if that is impossible.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - requestURL: The URL of the request, which errors contain.
    private static func openFile(
        at url: URL, forRequestTo requestURL: URL?
    ) throws(URLError) -> BodySource {
        let path = url.path
        do throws(Errno) {
            // A URL of another scheme names no file.
            guard url.isFileURL else { throw .noSuchFile }
            let descriptor = try Descriptor.reading(path: path)
            let size = try descriptor.fileSize()
            return size == 0 ? .none : .file(FileSource(descriptor, offset: 0, count: size))
        } catch {
            let cause = TransportError.file(error)
            switch error {
            case .isDirectory:
                throw .loading(
                    .fileIsDirectory, url: requestURL, reason: "the body is to come from a folder: \(path)")
            // `Descriptor.reading` reports a file of another type so.
            case .invalidArgument:
                throw .loading(
                    .cannotOpenFile, url: requestURL,
                    reason: "the body is to come from a file that is no regular one: \(path)")
            case .noSuchFile, Errno(rawValue: ENOTDIR):
                throw .loading(.fileDoesNotExist, url: requestURL, underlying: cause)
            case .accessDenied, .notPermitted:
                throw .loading(.noPermissionsToReadFile, url: requestURL, underlying: cause)
            default: throw .loading(.cannotOpenFile, url: requestURL, underlying: cause)
            }
        }
    }
}
