// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// What one hop of a task did, wherever its answer came from: what transaction metrics are made of.
struct HopMetrics: Sendable {
    /// The request as it was sent.
    var request: URLRequest
    /// The answer, if one came.
    var response: URLResponse?
    /// Where the answer came from.
    var fetchType: URLSessionTaskMetrics.ResourceFetchType
    /// What the network did: one exchange, two when the first connection had died, none for the cache, files and data.
    var exchanges: Few<ExchangeMetrics>
    /// The hop began.
    var fetchStart: Date
    /// The hop was over.
    var end: Date
    /// The request's body, before any framing.
    var bodyBytesBeforeEncoding: Int64
    /// The response's body as it was handed on.
    var bodyBytesAfterDecoding: Int64
}
