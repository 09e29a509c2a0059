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
    /// Bytes of content that were delivered.
    var received: Int64 = 0
    var redirects = 0
    /// Whether an interrupted download can be resumed.
    var resumable = false

    var code: ExitCode { failure?.code ?? .success }
}
