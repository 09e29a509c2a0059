// SPDX-License-Identifier: MIT

import Foundation

/// Runs a snippet whose handlers run later, and gives what one of them hands over.
func handed<Value: Sendable>(
    _ snippet: (_ hand: @escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
    await withCheckedContinuation { continuation in
        snippet { continuation.resume(returning: $0) }
    }
}

/// The same, for a snippet that waits for something itself.
func handedLater<Value: Sendable>(
    _ snippet: (_ hand: @escaping @Sendable (Value) -> Void) async -> Void
) async -> Value {
    let (values, value) = AsyncStream.makeStream(of: Value.self)
    await snippet {
        value.yield($0)
        value.finish()
    }
    var last: [Value] = []
    for await next in values { last.append(next) }
    return last[0]
}

/// Removes the file of a download that has no destination: it is its user's, and the guides leave it.
func discard(_ file: URL?) {
    if let file { try? FileManager.default.removeItem(at: file) }
}

// The guides print what they get. In front of the standard library's functions stand two that make the same text, and
// leave the log of the tests alone.

func print<Value>(_ value: Value) { _ = String(describing: value) }

func debugPrint<Value>(_ value: Value) { _ = String(reflecting: value) }
