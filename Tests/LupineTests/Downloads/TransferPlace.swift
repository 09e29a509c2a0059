// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineHTTP
import LupineLoading
import LupineOrigin
import LupineTestKit

@testable import Lupine

/// Runs `body` with a folder of its own, which is gone afterwards.
func withPlace(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("place-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
}

/// What is in a folder.
func names(in folder: URL) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
}

/// Octets that look random and are the same for the same seed.
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
    /// Whose length divides no buffer's.
    private static let pattern = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }

    /// Has GET answered with a body of so many bytes, made as fast as it is taken.
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

    /// Cancels, and waits for what can be gone on with.
    func cancelled() async -> Data? {
        await withCheckedContinuation { continuation in
            cancel(byProducingResumeData: { continuation.resume(returning: $0) })
        }
    }
}

/// A resource that can be had in parts, of which the origin sends as much as the test says and then does what it says.
struct CutResource {
    /// What comes when as much has been sent.
    enum Ending: CaseIterable {
        case reset
        case end
        /// Nothing: the client has to cancel.
        case stall
    }

    var bytes: [UInt8]
    var tag = "\"v1\""
    var acceptsRanges = true

    /// The origin's next answer to a client that has `offset` bytes: so many more of the rest, and then the ending. Without
    /// a cut the rest is whole.
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
            // What was sent has to arrive: a reset takes back what the client has not read.
            steps += [.waitForSignal("cut \(offset)"), .reset]
        case .end, nil: steps.append(.close)
        case .stall: steps.append(.stall)
        }
        origin.answer("GET", "/resource", ScriptPlan([Script(steps)]))
    }
}

extension PipelineStage {
    /// A download of what is at that path, to where `destination` says.
    func download(
        _ path: String, interceptor: (any RequestInterceptor)? = nil,
        to destination: @escaping DownloadRequest.Destination
    ) -> DownloadRequest {
        session.download(url(path), interceptor: interceptor, to: destination)
    }

    /// A download of the cut resource, from its start or from where an earlier one stopped.
    func download(_ data: Data?, to place: URL) -> DownloadRequest {
        let destination: DownloadRequest.Destination = { _, _ in (place, .removePreviousFile) }
        return data.map { session.download(resumingWith: $0, to: destination) }
            ?? session.download(url("/resource"), to: destination)
    }
}
