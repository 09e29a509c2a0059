// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The result of loading one URL.
struct FetchReport: Sendable {
    /// The request.
    var plan: RequestPlan
    /// The last response; nil if none arrived.
    var response: HTTPURLResponse?
    /// The metrics of every attempt, in order.
    var metrics: [URLSessionTaskMetrics] = []
    /// The failure of the fetch; nil if it succeeded.
    var failure: CommandFailure?
    /// The name of the saved file in messages: as the user typed it, or as `-O` has made it.
    var shownFileName: String?
    /// The number of bytes of content that were received.
    var receivedByteCount: Int64 = 0
    /// The number of redirects that were followed.
    var redirectCount = 0
    /// Whether the download has failed and can be resumed.
    var isResumable = false

    /// The exit code for this result.
    var exitCode: ExitCode { failure?.code ?? .success }
}
