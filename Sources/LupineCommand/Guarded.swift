// SPDX-License-Identifier: MIT

internal import Foundation

/// A value that only one thread at a time accesses, because a lock guards it.
///
/// `NSLock` is used since this module has no access to the library's own `Lock`, and ThreadSanitizer reports false positives with
/// `Mutex`. The closure of `withLock` must not call the library, which could call back and wait for the same lock.
public final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    /// Creates a guarded value.
    public init(_ value: sending Value) { self.value = value }

    /// Runs `body` with exclusive access to the value.
    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
