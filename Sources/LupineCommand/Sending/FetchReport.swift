// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// What became of one URL.
struct FetchReport: Sendable {
    var plan: RequestPlan
    var response: HTTPURLResponse?
    /// Of every attempt.
    var metrics: [URLSessionTaskMetrics] = []
    var failure: CommandFailure?
    /// Where it was saved, as the user calls it.
    var file: String?
    /// Bytes of content that were handed on.
    var received: Int64 = 0
    var redirects = 0
    /// A way to go on with what was interrupted.
    var resumable = false

    var code: ExitCode { failure?.code ?? .success }
}
