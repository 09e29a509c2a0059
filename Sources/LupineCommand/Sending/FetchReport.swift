// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The result of loading one URL.
struct FetchReport: Sendable {
    var plan: RequestPlan
    var response: HTTPURLResponse?
    /// The metrics of every attempt.
    var metrics: [URLSessionTaskMetrics] = []
    var failure: CommandFailure?
    /// The name of the saved file, as the user typed it.
    var file: String?
    /// The number of bytes of content that were received.
    var received: Int64 = 0
    /// The number of redirects that were followed.
    var redirects = 0
    /// Whether an interrupted download can be resumed.
    var isResumable = false

    /// The exit code for this result.
    var code: ExitCode { failure?.code ?? .success }
}
