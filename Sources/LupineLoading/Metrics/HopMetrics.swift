// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The measurements of one request of a task, from which transaction metrics are created, whatever the source of the response.
/// Immutable.
///
/// A class, because it is large and is passed on several times.
final class HopMetrics: Sendable {
    /// The request as it was sent.
    let request: URLRequest
    /// The response, if one was received.
    let response: URLResponse?
    /// The source of the response.
    let fetchType: URLSessionTaskMetrics.ResourceFetchType
    /// The exchanges with the network: one, two if the first connection had died, none for the cache, files and `data:` URLs.
    let exchanges: [ExchangeMetrics]
    /// When the request was begun.
    let fetchStart: Date
    /// When the response was complete, or the request had failed.
    let end: Date
    /// The size of the request's body before any framing.
    let bodyBytesBeforeEncoding: Int64
    /// The size of the response's body as it was delivered.
    let bodyBytesAfterDecoding: Int64

    /// Creates the measurements of a request.
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

    /// The measurements for exchanges that were repeated: without the response and the bodies' sizes.
    var ofRetries: HopMetrics {
        HopMetrics(
            request: request, response: nil, fetchType: fetchType, exchanges: [], fetchStart: fetchStart,
            end: end, bodyBytesBeforeEncoding: 0, bodyBytesAfterDecoding: 0)
    }
}
