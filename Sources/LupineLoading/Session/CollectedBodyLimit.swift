// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineTransport

/// How much of a body is collected in memory (`LupineOptions.collectedBodyLimit`), and the error of one that is longer: one
/// rule for everyone who collects, here and in the pipeline (U-7.16).
package struct CollectedBodyLimit: Sendable {
    /// What is collected where no session says how much.
    package static let standard = CollectedBodyLimit(bytes: 1 << 30)

    /// The most bytes.
    package let bytes: Int

    /// A limit that was set below zero takes nothing.
    package init(bytes: Int) { self.bytes = max(0, bytes) }

    /// Whether a response announces a body that is too long. The answer to HEAD announces one that does not come, and so may
    /// 304 (RFC 9110 §8.6).
    package func isExceeded(by response: URLResponse, to request: @autoclosure () -> URLRequest?) -> Bool {
        guard response.expectedContentLength > Int64(bytes) else { return false }
        return request()?.httpMethod != "HEAD" && (response as? HTTPURLResponse)?.statusCode != 304
    }

    /// What a body that is longer fails with.
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
    /// What whoever collects the content of this session's tasks takes.
    package var collectedBodyLimit: CollectedBodyLimit {
        CollectedBodyLimit(bytes: core.context.settings.lupine.collectedBodyLimit)
    }
}

extension URLSessionTask {
    /// Fails the task, whose content is longer than whoever collects it takes. One that has loaded everything already
    /// completes as it did.
    package func fail(_ limit: CollectedBodyLimit) { core.fail(limit.error(of: core.currentRequest?.url)) }
}
