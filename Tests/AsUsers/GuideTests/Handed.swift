// SPDX-License-Identifier: MIT

import Foundation

/// Runs a snippet, and returns the value that one of its handlers passes to `hand`.
func handed<Value: Sendable>(
    _ snippet: (_ hand: @escaping @Sendable (Value) -> Void) -> Void
) async -> Value {
    await withCheckedContinuation { continuation in
        snippet { continuation.resume(returning: $0) }
    }
}

/// Does the same for an asynchronous snippet.
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

/// Removes the file of a download without a destination, which belongs to the caller and which the guides leave in place.
func discard(_ file: URL?) {
    if let file { try? FileManager.default.removeItem(at: file) }
}

// The guides print their results. These two functions shadow the standard library's: they create the same text, but do not
// write it to the log of the tests.

func print<Value>(_ value: Value) { _ = String(describing: value) }

func debugPrint<Value>(_ value: Value) { _ = String(reflecting: value) }
