// SPDX-License-Identifier: MIT

internal import Foundation

/// A value that one thread at a time touches.
///
/// The package's own lock cannot be seen from here, and `Mutex` has ThreadSanitizer report what is none. Nothing calls out to
/// the library under it.
public final class Guarded<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    /// A lock around `value`.
    public init(_ value: sending Value) { self.value = value }

    /// Runs `body` with the value, while nobody else does.
    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
