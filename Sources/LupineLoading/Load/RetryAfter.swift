// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineHTTP

/// Parses the `Retry-After` field (RFC 9110 §10.2.3).
///
/// The caller decides whether to wait and retry.
package enum RetryAfter {
    /// Returns the number of seconds to wait from `now`. The value is a number of seconds or a date; a past date gives 0. Nil for
    /// any other value.
    package static func seconds(of value: String, at now: Date) -> TimeInterval? {
        let text = value.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty else { return nil }
        if text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            return TimeInterval(text)
        }
        return HTTPDate.date(from: text).map { max(0, $0.timeIntervalSince(now)) }
    }
}
