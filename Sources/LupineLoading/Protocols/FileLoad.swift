// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Loads a `file:` URL from this machine (U-18.1). Never cached.
///
/// Reads on a storage queue, and reads the next piece only after the previous one was consumed. Only regular files are read,
/// because reading other kinds may block forever.
final class FileLoad: HopLoad {
    /// An open file.
    private final class Opened: Sendable {
        let descriptor: Descriptor
        let size: Int64

        init(_ descriptor: consuming Descriptor) throws(Errno) {
            size = try descriptor.fileSize()
            self.descriptor = descriptor
        }
    }

    private struct State: Sendable {
        var file: Opened?
        var position: Int64 = 0
        var isReading = false
    }

    private let request: URLRequest
    private let outlet: HopEventQueue
    private let state = Lock(State())

    /// Creates the load of a request.
    init(_ request: URLRequest, client: any HopLoadClient) {
        self.request = request
        outlet = HopEventQueue(request, client: client)
    }

    func start() {
        let source = HopEventQueue.Source(
            wantsMore: { [self] in readOn() }, ended: { [self] in state.withLock { $0.file = nil } })
        outlet.open(for: self, source)
    }

    func cancel(_ error: URLError) {
        outlet.finish(error)
        outlet.open(for: self)
    }

    func resumeReading() { outlet.resumeReading() }
    func skip() { outlet.finish(nil) }
    func setSuspended(_ isSuspended: Bool) { outlet.setSuspended(isSuspended) }
    func setPriority(_ priority: Float) {}

    // MARK: reading

    private func readOn() {
        let isFree = state.withLock { state in
            defer { state.isReading = true }
            return !state.isReading
        }
        guard isFree else { return }
        StorageQueue.files.async { [self] in
            let item: HopEventQueue.Item?
            do throws(URLError) { item = try next() } catch { item = .end(error) }
            if let item { outlet.say(item) }
            // Calls during a read were ignored to keep the pieces in order, so check again.
            state.withLock { $0.isReading = false }
            outlet.poll()
        }
    }

    /// Returns the next item: the response, a piece of content, or the end.
    private func next() throws(URLError) -> HopEventQueue.Item? {
        guard let file = state.withLock({ $0.file }) else {
            if outlet.isClosed { return nil }
            let file = try open()
            state.withLock { $0.file = file }
            return .response(response(file.size), .notAllowed)
        }
        let position = state.withLock { $0.position }
        // Content that was appended in the meantime is beyond the announced length, and is not read.
        let count = min(file.size - position, outlet.isSplicing ? 1 << 20 : 64 << 10)
        guard count > 0 else { return .end(nil) }
        var octets = [UInt8](repeating: 0, count: Int(count))
        do throws(Errno) {
            var span = octets.mutableSpan
            guard case .bytes(let read) = try file.descriptor.read(into: &span, at: position) else {
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

    private func open() throws(URLError) -> Opened {
        guard let url = request.url, Self.isHere(url) else {
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
            return try Opened(Descriptor.reading(path: path))
        } catch { throw Self.failure(error, url) }
    }

    /// Whether the URL's host is this machine.
    private static func isHere(_ url: URL) -> Bool {
        let host = url.host(percentEncoded: false) ?? ""
        return host.isEmpty || host.lowercased() == "localhost"
    }

    private static func cause(_ error: Errno) -> NSError {
        NSError(domain: NSPOSIXErrorDomain, code: Int(error.rawValue))
    }

    /// Returns the error for a file that cannot be opened (part of the table of errors).
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
