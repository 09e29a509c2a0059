// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Loads a `file:` URL from this machine (U-18.1). The response is not cached.
///
/// Reads on a storage queue, and reads a piece only after the client has consumed the previous one. Only regular files are read,
/// because reading others may block forever.
final class FileLoad: HopLoad {
    /// An open file.
    private final class OpenFile: Sendable {
        let descriptor: Descriptor
        let size: Int64

        init(_ descriptor: consuming Descriptor) throws(Errno) {
            size = try descriptor.fileSize()
            self.descriptor = descriptor
        }
    }

    private struct State: Sendable {
        /// The file, once `nextEvent` has opened it; nil after the end.
        var file: OpenFile?
        var position: Int64 = 0
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
            wantsMore: { [self] in readNextPiece() }, ended: { [self] in state.withLock { $0.file = nil } })
        events.open(for: self, source)
    }

    func cancel(_ error: URLError) {
        events.finish(error)
        // Delivers the end if the load was not started; otherwise has no effect.
        events.open(for: self)
    }

    func resumeReading() { events.resumeReading() }
    func skip() { events.finish(nil) }
    func setSuspended(_ isSuspended: Bool) { events.setSuspended(isSuspended) }
    func setPriority(_ priority: Float) {}

    // MARK: reading

    /// Reads the next piece on the storage queue, unless a read is in progress.
    private func readNextPiece() {
        let isIdle = state.withLock { state in
            defer { state.isReading = true }
            return !state.isReading
        }
        guard isIdle else { return }
        StorageQueue.files.async { [self] in
            let event: HopEventQueue.Event?
            do throws(URLError) { event = try nextEvent() } catch { event = .end(error) }
            if let event { events.enqueue(event) }
            state.withLock { $0.isReading = false }
            // Calls of `readNextPiece` during the read were ignored, to keep the pieces in order.
            events.askForMore()
        }
    }

    /// Returns the next event: the response, a piece of content, or the end; nil if the load has ended already.
    private func nextEvent() throws(URLError) -> HopEventQueue.Event? {
        guard let file = state.withLock({ $0.file }) else {
            if events.isClosed { return nil }
            let file = try open()
            state.withLock { $0.file = file }
            return .response(response(file.size), .notAllowed)
        }
        let position = state.withLock { $0.position }
        // Content that was appended after the file was opened is beyond the announced length, and is not read.
        let pieceLimit: Int64 = events.isSplicing ? 1 << 20 : 64 << 10
        let count = min(file.size - position, pieceLimit)
        guard count > 0 else { return .end(nil) }
        var octets = [UInt8](repeating: 0, count: Int(count))
        do throws(Errno) {
            var span = octets.mutableSpan
            guard case .bytes(let read) = try file.descriptor.read(into: &span, at: position) else {
                // The file has become shorter.
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
        let real = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let kind = try? FileManager.default.attributesOfItem(atPath: real)[.type] as? FileAttributeType
        if kind == .typeDirectory {
            throw .loading(
                .fileIsDirectory, url: url, underlying: Self.cause(.isDirectory),
                reason: "\(path) is a folder")
        }
        if let kind, kind != .typeRegular {
            throw .loading(.cannotOpenFile, url: url, reason: "this is no regular file")
        }
        do throws(Errno) {
            return try OpenFile(Descriptor.reading(path: path))
        } catch { throw Self.failure(error, url) }
    }

    /// Whether the URL's host is this machine.
    private static func isLocal(_ url: URL) -> Bool {
        let host = url.host(percentEncoded: false) ?? ""
        return host.isEmpty || host.lowercased() == "localhost"
    }

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
        return .loading(
            code, url: url, underlying: cause(error),
            reason: "\(url.path(percentEncoded: false)): \(error)")
    }
}
