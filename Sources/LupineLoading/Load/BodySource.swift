// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport

/// The source of a request's body, determined before a connection is opened.
///
/// The initializer opens a file, so that an unreadable file fails the load before it connects (U-7.3), and the file that was
/// checked is the one that is sent. A stream is opened only when its first byte is needed.
enum BodySource: Sendable {
    case none
    case data(Data)
    case file(FileSource)
    /// The request's own stream; it can be read once.
    case stream(BodyStream)
    /// A stream that the load's client supplies each time the body is sent.
    case suppliedByClient

    /// Determines the source of a hop's body; an empty body is `.none`. Throws if a file cannot be opened for reading.
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
        case .file(let url): self = try Self.file(url, for: request.url)
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

    /// Opens the file for reading.
    ///
    /// - Parameters:
    ///   - url: The file.
    ///   - target: The URL of the request, for errors.
    private static func file(_ url: URL, for target: URL?) throws(URLError) -> BodySource {
        let path = url.resolvingSymlinksInPath().path
        if url.isFileURL, let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeDirectory
        {
            throw .loading(
                .fileIsDirectory, url: target, reason: "the body is to come from a folder: \(path)")
        }
        do throws(Errno) {
            guard url.isFileURL else { throw .noSuchFile }
            let descriptor = try Descriptor.reading(path: path)
            let size = try descriptor.fileSize()
            return size == 0 ? .none : .file(FileSource(descriptor, offset: 0, count: size))
        } catch {
            let cause = TransportError.file(error)
            switch error {
            case .noSuchFile, Errno(rawValue: ENOTDIR):
                throw .loading(.fileDoesNotExist, url: target, underlying: cause)
            case .accessDenied, .notPermitted:
                throw .loading(.noPermissionsToReadFile, url: target, underlying: cause)
            default: throw .loading(.cannotOpenFile, url: target, underlying: cause)
            }
        }
    }
}
