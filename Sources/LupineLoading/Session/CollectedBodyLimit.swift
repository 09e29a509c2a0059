// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineTransport

/// How much of a body is collected in memory (`LupineOptions.collectedBodyLimit`), and the error for a longer one. The same
/// rule applies to everything that collects bodies, in this module and in the pipeline above it (U-7.16).
package struct CollectedBodyLimit: Sendable {
    /// The limit that applies if no session sets one.
    package static let standard = CollectedBodyLimit(bytes: 1 << 30)

    /// The maximum number of bytes.
    package let bytes: Int

    /// A negative limit counts as zero.
    package init(bytes: Int) { self.bytes = max(0, bytes) }

    /// Whether a response announces a body that is too long. The response to HEAD announces a body that does not follow, and so
    /// may a 304 (RFC 9110 §8.6).
    package func isExceeded(by response: URLResponse, to request: @autoclosure () -> URLRequest?) -> Bool {
        guard response.expectedContentLength > Int64(bytes) else { return false }
        return request()?.httpMethod != "HEAD" && (response as? HTTPURLResponse)?.statusCode != 304
    }

    /// The error for a body that exceeds the limit.
    package func error(of url: URL?) -> URLError {
        let origin = WebOrigin(url).map { " from \($0.authority)" } ?? ""
        return URLError.loading(
            .dataLengthExceedsMaximum, url: url,
            reason:
                "The body\(origin) is longer than \(bytes) bytes, the most that is collected in memory: raise "
                + "configuration.lupine.collectedBodyLimit, or take the body as a stream or a file.")
    }
}

extension URLSession {
    /// The limit for content of this session's tasks that is collected in memory.
    package var collectedBodyLimit: CollectedBodyLimit {
        CollectedBodyLimit(bytes: core.context.settings.lupine.collectedBodyLimit)
    }
}

extension URLSessionTask {
    /// Fails the task because its content exceeds the limit. A task that has loaded everything already completes as it did.
    package func fail(_ limit: CollectedBodyLimit) { core.fail(limit.error(of: core.currentRequest?.url)) }
}
