// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// What one hop of a task did, wherever its answer came from: what transaction metrics are made of. Immutable.
///
/// An object: it passes through several hands, and is large.
final class HopMetrics: Sendable {
    /// The request as it was sent.
    let request: URLRequest
    /// The answer, if one came.
    let response: URLResponse?
    /// Where the answer came from.
    let fetchType: URLSessionTaskMetrics.ResourceFetchType
    /// What the network did: one exchange, two when the first connection had died, none for the cache, files and data.
    let exchanges: [ExchangeMetrics]
    /// The hop began.
    let fetchStart: Date
    /// The hop was over.
    let end: Date
    /// The request's body, before any framing.
    let bodyBytesBeforeEncoding: Int64
    /// The response's body as it was handed on.
    let bodyBytesAfterDecoding: Int64

    /// The metrics of a hop with these values.
    init(
        request: URLRequest, response: URLResponse?, fetchType: URLSessionTaskMetrics.ResourceFetchType,
        exchanges: [ExchangeMetrics], fetchStart: Date, end: Date,
        bodyBytesBeforeEncoding: Int64, bodyBytesAfterDecoding: Int64
    ) {
        self.request = request
        self.response = response
        self.fetchType = fetchType
        self.exchanges = exchanges
        self.fetchStart = fetchStart
        self.end = end
        self.bodyBytesBeforeEncoding = bodyBytesBeforeEncoding
        self.bodyBytesAfterDecoding = bodyBytesAfterDecoding
    }

    /// The same for those of its exchanges that were sent again: they carry neither the answer nor what was handed on.
    var ofRetries: HopMetrics {
        HopMetrics(
            request: request, response: nil, fetchType: fetchType, exchanges: [], fetchStart: fetchStart,
            end: end, bodyBytesBeforeEncoding: 0, bodyBytesAfterDecoding: 0)
    }
}
