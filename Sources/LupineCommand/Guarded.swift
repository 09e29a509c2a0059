// SPDX-License-Identifier: MIT

internal import Foundation

/// A value that only one thread at a time accesses.
///
/// The package's own lock is not visible here, and with `Mutex` ThreadSanitizer reports false positives. No code calls into the
/// library while it holds the lock.
public final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    /// Creates a lock around `value`.
    public init(_ value: sending Value) { self.value = value }

    /// Runs `body` with exclusive access to the value.
    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
