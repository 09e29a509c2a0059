// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineHTTP
import LupineLoading
import LupineOrigin
import LupineTestKit

@testable import Lupine

/// Runs `body` with a new folder, and removes it.
func withPlace(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("place-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
}

/// Returns the names of the files in a folder.
func names(in folder: URL) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
}

/// Returns octets that look random and are the same for the same seed.
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
    /// The repeated content. Its length is not a multiple of any buffer's.
    private static let pattern = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    /// Answers GET with a body of `count` bytes, generated as fast as it is sent.
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
    /// Adds a handler without a serializer and waits for its call.
    func moved(on queue: DispatchQueue = DispatchQueue(label: "handler")) async -> AFDownloadResponse<URL?> {
        await withCheckedContinuation { continuation in
            response(queue: queue) { continuation.resume(returning: $0) }
        }
    }

    /// Adds a handler that reads the file, and waits for its call.
    func loaded(on queue: DispatchQueue = DispatchQueue(label: "handler")) async -> AFDownloadResponse<Data> {
        await withCheckedContinuation { continuation in
            responseData(queue: queue) { continuation.resume(returning: $0) }
        }
    }

    /// Cancels, and returns the resume data.
    func cancelled() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}

/// A resource that supports ranges. The origin sends as much of it as the test specifies and then ends the response in the
/// specified way.
struct CutResource {
    /// The end of a response that was cut.
    enum Ending: CaseIterable {
        case reset
        case end
        /// Nothing more is sent: the client has to cancel.
        case stall
    }

    var bytes: [UInt8]
    var tag = "\"v1\""
    var acceptsRanges = true

    /// Sets the origin's next response to a client that has `offset` bytes: `cut.after` bytes of the rest, and then the ending.
    /// Without a cut it sends the whole rest.
    func serve(_ origin: LupineOrigin.Origin, from offset: Int, cut: (after: Int, ending: Ending)? = nil) {
        let rest = bytes[offset...]
        var head =
            offset == 0
            ? "HTTP/1.1 200 OK\r\n"
            : "HTTP/1.1 206 Partial Content\r\n"
                + "Content-Range: bytes \(offset)-\(bytes.count - 1)/\(bytes.count)\r\n"
        head += "Content-Length: \(rest.count)\r\nETag: \(tag)\r\n"
        if acceptsRanges { head += "Accept-Ranges: bytes\r\n" }
        var steps: [Script.Step] = [.send(head + "\r\n")]
        steps.append(.send(Array(rest.prefix(cut?.after ?? rest.count))))
        switch cut?.ending {
        case .reset:
            // The client has to read the sent bytes first: a reset discards what it has not read.
            steps += [.waitForSignal("cut \(offset)"), .reset]
        case .end, nil: steps.append(.close)
        case .stall: steps.append(.stall)
        }
        origin.answer("GET", "/resource", ScriptPlan([Script(steps)]))
    }
}

extension PipelineStage {
    /// Returns a download of a path, to the place that `destination` returns.
    func download(
        _ path: String, interceptor: (any RequestInterceptor)? = nil,
        to destination: @escaping DownloadRequest.Destination
    ) -> DownloadRequest {
        session.download(url(path), interceptor: interceptor, to: destination)
    }

    /// Returns a download of the cut resource, from its start or from where an earlier one stopped.
    func download(_ data: Data?, to place: URL) -> DownloadRequest {
        let destination: DownloadRequest.Destination = { _, _ in (place, .removePreviousFile) }
        return data.map { session.download(resumingWith: $0, to: destination) }
            ?? session.download(url("/resource"), to: destination)
    }
}
