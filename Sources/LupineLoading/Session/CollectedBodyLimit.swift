// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineTransport

/// The limit for a body that is collected in memory (`LupineOptions.collectedBodyLimit`), and the error for a longer body. It
/// applies to everything that collects bodies, in this module and in the pipeline above it (U-7.16).
package struct CollectedBodyLimit: Sendable {
    /// The limit that applies if no session sets one: 1 GiB.
    package static let standard = CollectedBodyLimit(bytes: 1 << 30)

    /// The maximum number of bytes.
    package let bytes: Int

    /// Creates a limit. A negative number counts as zero.
    package init(bytes: Int) { self.bytes = max(0, bytes) }

    /// Returns whether the response announces a body that is too long. Ignores the length in a response to HEAD and in a response
    /// with status 304, because no body follows it (RFC 9110 §8.6).
    package func isExceeded(by response: URLResponse, to request: @autoclosure () -> URLRequest?) -> Bool {
        guard response.expectedContentLength > Int64(bytes) else { return false }
        return request()?.httpMethod != "HEAD" && (response as? HTTPURLResponse)?.statusCode != 304
    }

    /// Returns the error for a body from this URL that exceeds the limit.
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
    /// The limit for bodies that this session's tasks collect in memory.
    package var collectedBodyLimit: CollectedBodyLimit {
        CollectedBodyLimit(bytes: core.context.settings.lupine.collectedBodyLimit)
    }
}

extension URLSessionTask {
    /// Fails the task because its body exceeds `limit`. Has no effect on a task that has loaded its whole body.
    package func fail(exceeding limit: CollectedBodyLimit) {
        core.fail(limit.error(of: core.currentRequest?.url))
    }
}
