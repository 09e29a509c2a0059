// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Loads a `file:` URL from this machine (U-18.1). The response is not cached.
///
/// Reads on a storage queue, and reads a piece only after the client has consumed the previous one. Rejects everything except
/// regular files, because reading a pipe or a device may block forever.
final class FileLoad: HopLoad {
    /// An open file.
    private final class OpenFile: Sendable {
        let descriptor: Descriptor
        /// The size in bytes when the file was opened.
        let size: Int64

        init(_ descriptor: consuming Descriptor) throws(Errno) {
            size = try descriptor.fileSize()
            self.descriptor = descriptor
        }
    }

    private struct State: Sendable {
        /// The file, once `nextEvent` has opened it; nil after the end of the load.
        var file: OpenFile?
        /// The offset of the next byte to read.
        var position: Int64 = 0
        /// Whether a read is in progress on the storage queue.
        var isReading = false
    }

    private let request: URLRequest
    private let events: HopEventQueue
    private let state = Lock(State())

    /// Creates the load of a request.
    init(_ request: URLRequest, client: any HopLoadClient) {
        self.request = request
        events = HopEventQueue(request, client: client)
    }

    func start() {
        let source = HopEventQueue.Source(
            onDemand: { [self] in readNextPiece() }, onEnd: { [self] in state.withLock { $0.file = nil } })
        events.start(for: self, source)
    }

    func cancel(_ error: URLError) {
        events.finish(error)
        // Delivers the end if the load was not started; otherwise has no effect.
        events.start(for: self)
    }

    func resumeReading() { events.resumeReading() }
    func skip() { events.finish(nil) }
    func setSuspended(_ isSuspended: Bool) { events.setSuspended(isSuspended) }
    /// Does nothing, because a file has no connection for which loads could compete.
    func setPriority(_ priority: Float) {}

    // MARK: reading

    /// Reads the next piece on the storage queue, unless a read is in progress.
    private func readNextPiece() {
        let canBegin = state.withLock { state in
            defer { state.isReading = true }
            return !state.isReading
        }
        guard canBegin else { return }
        StorageQueue.files.async { [self] in
            let event: HopEventQueue.Event?
            do throws(URLError) { event = try nextEvent() } catch { event = .end(error) }
            if let event { events.enqueue(event) }
            state.withLock { $0.isReading = false }
            // `readNextPiece` has ignored demands during the read, so that the pieces stay in order. Checks for demand again.
            events.requestEventsIfNeeded()
        }
    }

    /// Opens the file at the first call. Returns the next event: the response, then pieces of the content, then the end. Returns
    /// nil if the load has ended already.
    private func nextEvent() throws(URLError) -> HopEventQueue.Event? {
        guard let file = state.withLock({ $0.file }) else {
            if events.isClosed { return nil }
            let file = try open()
            state.withLock { $0.file = file }
            return .response(response(file.size), .notAllowed)
        }
        let position = state.withLock { $0.position }
        // At most 1 MiB at a time if the content is copied to another file, at most 64 KiB if the client receives it.
        let maxPieceLength: Int64 = events.writesToFile ? 1 << 20 : 64 << 10
        // `file.size` is the length that the response has announced. Content that was appended to the file later is not read.
        let count = min(file.size - position, maxPieceLength)
        guard count > 0 else { return .end(nil) }
        var octets = [UInt8](repeating: 0, count: Int(count))
        do throws(Errno) {
            var span = octets.mutableSpan
            guard case .bytes(let read) = try file.descriptor.read(into: &span, at: position) else {
                // The file has ended before the announced length, because it was truncated after it was opened.
                throw Errno.inputOutput
            }
            state.withLock { $0.position += Int64(read) }
            return .content(Data(octets[..<read]))
        } catch {
            throw .loading(
                .resourceUnavailable, url: request.url, underlying: Self.cause(error),
                reason: "the file could not be read to its end")
        }
    }

    /// Returns the response for a file of this size. The media type depends on the extension of the file's name.
    private func response(_ size: Int64) -> URLResponse {
        let url = request.url ?? URL(fileURLWithPath: "/")
        return URLResponse(
            url: url,
            mimeType: MediaType.type(ofExtension: url.pathExtension) ?? "application/octet-stream",
            expectedContentLength: Int(clamping: size), textEncodingName: nil)
    }

    /// Opens the file of the URL; throws if it is not a regular file of this machine that can be read.
    private func open() throws(URLError) -> OpenFile {
        guard let url = request.url, Self.isLocal(url) else {
            throw .loading(.badURL, url: request.url, reason: "the file is not on this machine")
        }
        let path = url.path(percentEncoded: false)
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .loading(.badURL, url: url, reason: "no file can have this name")
        }
        do throws(Errno) {
            return try OpenFile(Descriptor.reading(path: path))
        } catch { throw Self.failure(error, url) }
    }

    /// Returns whether the URL's host is this machine: empty or `localhost`.
    private static func isLocal(_ url: URL) -> Bool {
        let host = url.host(percentEncoded: false) ?? ""
        return host.isEmpty || host.lowercased() == "localhost"
    }

    /// Returns the underlying error for an `errno`.
    private static func cause(_ error: Errno) -> NSError {
        NSError(domain: NSPOSIXErrorDomain, code: Int(error.rawValue))
    }

    /// Returns the error for a file that cannot be opened.
    static func failure(_ error: Errno, _ url: URL) -> URLError {
        let code: URLError.Code =
            switch error {
            case .noSuchFile, .notADirectory: .fileDoesNotExist
            case .isDirectory: .fileIsDirectory
            case .accessDenied, .notPermitted: .noPermissionsToReadFile
            case _: .cannotOpenFile
            }
        let path = url.path(percentEncoded: false)
        let reason =
            switch error {
            case .isDirectory: "\(path) is a folder"
            // `Descriptor.reading` reports a file of another type so.
            case .invalidArgument: "\(path) is no regular file"
            case _: "\(path): \(error)"
            }
        return .loading(code, url: url, underlying: cause(error), reason: reason)
    }
}
