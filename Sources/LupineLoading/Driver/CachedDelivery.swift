// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// Delivers a cached response to the client of a load, as if it came from the network (U-12.15): the response, then its content
/// in pieces, with pauses if the client wants them. A load has at most one delivery, which is its end.
///
/// The driver calls `deliver` on one thread at a time. The other methods may be called on any thread.
final class CachedDelivery: Sendable {
    /// How a call of `deliver` has ended.
    enum Progress: Sendable {
        /// The client has received all content, or wants no more of it.
        case complete
        /// The delivery has to be continued: the client has paused, or the load must not continue now.
        case incomplete
    }

    private struct State: Sendable {
        /// When the delivery began; nil before.
        var start: Date?
        /// The number of bytes of content that the client has received.
        var deliveredBytes = 0
        /// Whether the client has paused the delivery.
        var isPaused = false
    }

    /// The maximum number of bytes of a delivered piece: 64 KiB.
    private static let maxPieceBytes = 64 << 10

    private let response: CachedURLResponse
    private let request: URLRequest
    private let authorization: String?
    private let state = Lock(State())

    /// Creates a delivery that has not begun.
    ///
    /// - Parameters:
    ///   - entry: The cached response.
    ///   - request: The request as the program sees it.
    ///   - authorization: The value of `Authorization` that is not part of `request`; nil for none.
    init(_ entry: CacheEntry, for request: URLRequest, authorization: String?) {
        response = entry.response
        self.request = request
        self.authorization = authorization
    }

    /// Begins the delivery or continues it, until its end or a pause. `mayContinue` is called before each piece.
    func deliver(to client: any TaskDriverClient, while mayContinue: () -> Bool) -> Progress {
        if !begin(with: client) { return .complete }
        while mayContinue() {
            guard let piece = state.withLock({ nextPiece(&$0) }) else { return .incomplete }
            if piece.isEmpty { return .complete }
            switch client.driverReceivedContent(piece) {
            case .more: resume()
            // Still paused, unless the client has resumed before it returned.
            case .pause: break
            case .enough: return .complete
            }
        }
        return .incomplete
    }

    /// Delivers the response, unless that was done before. Returns false if the client skips the content.
    private func begin(with client: any TaskDriverClient) -> Bool {
        let now = Date()
        let isFirst = state.withLock { state in
            guard state.start == nil else { return false }
            state.start = now
            // Set before the client is called, because the client may resume before it has returned `.pause`.
            state.isPaused = true
            return true
        }
        if !isFirst { return true }
        client.driverWillSend(request, authorization: authorization)
        switch client.driverReceivedResponse(response.response) {
        // Cached content cannot be spliced, so the client receives it in pieces even for `.splice`.
        case .deliver, .splice: resume()
        // Still paused, unless the client has resumed before it returned.
        case .pause: break
        case .skip: return false
        }
        return true
    }

    /// Returns the next piece, which is empty at the end of the content, or nil while the delivery is paused. Marks the delivery
    /// as paused, because the client may resume before it has returned `.pause`.
    private func nextPiece(_ state: inout State) -> Data? {
        if state.isPaused { return nil }
        let data = response.data
        let count = min(Self.maxPieceBytes, data.count - state.deliveredBytes)
        if count <= 0 { return Data() }
        let start = data.startIndex + state.deliveredBytes
        state.deliveredBytes += count
        state.isPaused = true
        return count == data.count ? data : data.subdata(in: start..<start + count)
    }

    /// Ends a pause. The driver then calls `deliver` again.
    func resume() { state.withLock { $0.isPaused = false } }

    /// Returns the metrics of a delivery that has ended now; nil if it has not begun.
    func metrics(until now: Date) -> HopMetrics? {
        let state = state.withLock { $0 }
        return state.start.map { start in
            HopMetrics(
                request: request, response: response.response, fetchType: .localCache, exchanges: [],
                fetchStart: start, end: now, bodyBytesBeforeEncoding: 0,
                bodyBytesAfterDecoding: Int64(state.deliveredBytes))
        }
    }
}
