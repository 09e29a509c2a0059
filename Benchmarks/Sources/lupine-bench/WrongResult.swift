// SPDX-License-Identifier: MIT

/// Thrown when an entry has not done its job, so that its figures would be meaningless. It stops the run.
struct WrongResult: Error, CustomStringConvertible {
    let entry: String
    let expected: UInt64
    let actual: UInt64

    var description: String { "\(entry) gave \(actual), not \(expected)" }

    /// Throws unless `actual` is `each` times `times`.
    static func check(_ entry: String, _ actual: UInt64, each: UInt64, times: Int) throws(WrongResult) {
        let expected = each &* UInt64(times)
        if actual != expected { throw WrongResult(entry: entry, expected: expected, actual: actual) }
    }
}
