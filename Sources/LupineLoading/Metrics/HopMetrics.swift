// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The measurements of one hop of a task, from which its transaction metrics are created. A hop is one request with its response;
/// a redirect or an answered challenge leads to the next hop. Immutable.
///
/// A class, so that the measurements, which are large, are not copied.
final class HopMetrics: Sendable {
    /// The request as it was sent.
    let request: URLRequest
    /// The response, if one was received.
    let response: URLResponse?
    /// The source of the response.
    let fetchType: URLSessionTaskMetrics.ResourceFetchType
    /// The exchanges with the network. Usually there is one. There are several if the transport has sent the request again, and
    /// none for the cache, files and `data:` URLs.
    let exchanges: [ExchangeMetrics]
    /// When the hop started.
    let fetchStart: Date
    /// When the response was complete, or the request had failed.
    let end: Date
    /// The size of the request's body, in bytes, without framing.
    let bodyBytesBeforeEncoding: Int64
    /// The size of the response's body, in bytes, as it was delivered.
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

    /// The measurements for an exchange whose request was sent again: without the response, the exchanges and the sizes of the
    /// bodies.
    var withoutResponse: HopMetrics {
        HopMetrics(
            request: request, response: nil, fetchType: fetchType, exchanges: [], fetchStart: fetchStart,
            end: end, bodyBytesBeforeEncoding: 0, bodyBytesAfterDecoding: 0)
    }
}
