// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineHTTP

/// Parses the `Retry-After` field (RFC 9110 §10.2.3).
///
/// It only parses; whether to wait is decided by the caller that retries.
package enum RetryAfter {
    /// The number of seconds from `now` that a value names: as seconds, or as a date, where a past date gives 0. Nil for
    /// anything else.
    package static func seconds(of value: String, at now: Date) -> TimeInterval? {
        let text = value.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return TimeInterval(text)
        }
        return HTTPDate.moment(of: text).map { max(0, $0.timeIntervalSince(now)) }
    }
}
