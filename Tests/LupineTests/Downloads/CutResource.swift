// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineHTTP
import LupineLoading
import LupineOrigin
import LupineTestKit

@testable import Lupine

/// Runs `body` with a new folder, and then removes the folder.
func withTemporaryFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("place-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
}

/// Returns the names of the files in a folder.
func names(in folder: URL) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
}

/// Returns pseudorandom octets, the same ones for the same seed.
func octets(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
    var random = SeededRandom(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
        var word = random.next()
        for _ in 0..<8 {
            bytes.append(UInt8(truncatingIfNeeded: word))
            word >>= 8
        }
    }
    return Array(bytes.prefix(count))
}

extension LupineOrigin.Origin {
    /// The content that responses repeat. Its length is not a multiple of any buffer's length.
    private static let pattern = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    /// Adds a route that responds to GET with a body of `count` bytes, which is generated while it is sent.
    func serve(_ path: String, _ count: Int) {
        route("GET", path) { _ throws(Refusal) in
            var position = 0
            return OriginResponse(
                body: .stream(length: Int64(count)) { piece, room in
                    let offset = position % Self.pattern.count
                    let size = min(room, Self.pattern.count - offset, count - position)
                    piece += Self.pattern[offset..<offset + size]
                    position += size
                    return position == count ? .end(trailers: Fields()) : .more
                })
        }
    }
}

extension DownloadRequest {
    /// Adds a response handler without a serializer, and returns the response that it receives.
    func moved(on queue: DispatchQueue = DispatchQueue(label: "handler")) async -> AFDownloadResponse<URL?> {
        await withCheckedContinuation { continuation in
            response(queue: queue) { continuation.resume(returning: $0) }
        }
    }

    /// Adds a response handler that reads the file, and returns the response that it receives.
    func loaded(on queue: DispatchQueue = DispatchQueue(label: "handler")) async -> AFDownloadResponse<Data> {
        await withCheckedContinuation { continuation in
            responseData(queue: queue) { continuation.resume(returning: $0) }
        }
    }

    /// Cancels the download, and returns its resume data.
    func cancelled() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}

/// A resource that supports ranges, and whose responses a test cuts off: the origin sends a number of bytes, and then ends the
/// response in the specified way.
struct CutResource {
    /// The way in which a response is cut off.
    enum Ending: CaseIterable {
        case reset
        case end
        /// The origin sends nothing more, and the client has to cancel.
        case stall
    }

    var bytes: [UInt8]
    var tag = "\"v1\""
    var acceptsRanges = true

    /// Sets the origin's next response to a client that has `offset` bytes: `cut.after` of the remaining bytes, and then the
    /// ending. Without a cut it sends all remaining bytes.
    func serve(_ origin: LupineOrigin.Origin, from offset: Int, cut: (after: Int, ending: Ending)? = nil) {
        let remaining = bytes[offset...]
        var head =
            offset == 0
            ? "HTTP/1.1 200 OK\r\n"
            : "HTTP/1.1 206 Partial Content\r\n"
                + "Content-Range: bytes \(offset)-\(bytes.count - 1)/\(bytes.count)\r\n"
        head += "Content-Length: \(remaining.count)\r\nETag: \(tag)\r\n"
        if acceptsRanges { head += "Accept-Ranges: bytes\r\n" }
        var steps: [Script.Step] = [.send(head + "\r\n")]
        steps.append(.send(Array(remaining.prefix(cut?.after ?? remaining.count))))
        switch cut?.ending {
        case .reset:
            // The client has to read the sent bytes first: a reset discards unread bytes.
            steps += [.waitForSignal("cut \(offset)"), .reset]
        case .end, nil: steps.append(.close)
        case .stall: steps.append(.stall)
        }
        origin.answer("GET", "/resource", ScriptPlan([Script(steps)]))
    }
}

extension PipelineStage {
    /// Returns a download of a path to the URL that `destination` returns.
    func download(
        _ path: String, interceptor: (any RequestInterceptor)? = nil,
        to destination: @escaping DownloadRequest.Destination
    ) -> DownloadRequest {
        session.download(url(path), interceptor: interceptor, to: destination)
    }

    /// Returns a download of the cut resource to `file`: from its start, or with resume data.
    func download(_ resumeData: Data?, to file: URL) -> DownloadRequest {
        let destination: DownloadRequest.Destination = { _, _ in (file, .removePreviousFile) }
        guard let resumeData else { return session.download(url("/resource"), to: destination) }
        return session.download(resumingWith: resumeData, to: destination)
    }
}
