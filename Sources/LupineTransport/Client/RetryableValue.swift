// SPDX-License-Identifier: MIT

/// A long-lived value whose creation may fail temporarily: each later use tries again until it succeeds.
///
/// A client uses it for its engine, whose event loops need descriptors and threads: a client that is created while the system has
/// none would otherwise stay unusable. Any thread may use it. Inlinable into other modules, since every request reads it.
@usableFromInline package final class RetryableValue<Value: Sendable>: Sendable {
    /// The result of the first attempt.
    @usableFromInline let firstResult: Result<Value, TransportError>
    /// Creates the value in later attempts; nil if the first attempt succeeded.
    @usableFromInline let make: (@Sendable () throws(TransportError) -> Value)?
    /// The value that a later attempt has created; nil if none has succeeded.
    @usableFromInline let laterValue = Lock<Value?>(nil)

    /// Creates the value, or stores the error for `get` to try again.
    @inlinable package init(_ make: @escaping @Sendable () throws(TransportError) -> Value) {
        do throws(TransportError) {
            firstResult = .success(try make())
            self.make = nil
        } catch {
            firstResult = .failure(error)
            self.make = make
        }
    }

    /// Returns the value. If all earlier attempts failed, tries to create it, and throws the error if that fails too.
    @inlinable package func get() throws(TransportError) -> Value {
        guard let make else { return try firstResult.get() }
        return try laterValue.withLock { value throws(TransportError) in
            if let value { return value }
            let newValue = try make()
            value = newValue
            return newValue
        }
    }

    /// The value, if it has been created. Does not try to create it.
    @inlinable package var existing: Value? {
        guard make != nil else { return try? firstResult.get() }
        return laterValue.withLock { $0 }
    }
}
