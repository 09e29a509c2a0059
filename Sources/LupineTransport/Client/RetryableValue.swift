// SPDX-License-Identifier: MIT

/// A long-lived value whose creation may fail temporarily: each later use tries again until it succeeds.
///
/// Used for a client's engine: without descriptors or threads there are no event loops, and a client created at such a moment
/// would otherwise stay unusable. May be used from any thread. Inlinable into other modules, since every request reads it.
@usableFromInline package final class RetryableValue<Value: Sendable>: Sendable {
    /// The result of the first attempt.
    @usableFromInline let first: Result<Value, TransportError>
    /// Creates the value again; nil if the first attempt succeeded.
    @usableFromInline let make: (@Sendable () throws(TransportError) -> Value)?
    /// The value that a later attempt has created.
    @usableFromInline let later = Lock<Value?>(nil)

    /// Creates the value, or stores the error for `get` to try again.
    @inlinable package init(_ make: @escaping @Sendable () throws(TransportError) -> Value) {
        do throws(TransportError) {
            first = .success(try make())
            self.make = nil
        } catch {
            first = .failure(error)
            self.make = make
        }
    }

    /// Returns the value, and creates it first if earlier attempts failed.
    @inlinable package func get() throws(TransportError) -> Value {
        guard let make else { return try first.get() }
        return try later.withLock { value throws(TransportError) in
            if let value { return value }
            let made = try make()
            value = made
            return made
        }
    }

    /// The value, if it has been created. Does not try to create it.
    @inlinable package var existing: Value? {
        guard make != nil else { return try? first.get() }
        return later.withLock { $0 }
    }
}
