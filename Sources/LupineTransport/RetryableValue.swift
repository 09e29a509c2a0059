// SPDX-License-Identifier: MIT

/// Something that is made once for long, where the machine may fail to make it for a while: whoever needs it next has it
/// tried again.
///
/// A client's engine is one: without descriptors or threads there are no event loops, and a client made at such a moment
/// would be of no use ever after. Any thread. Other modules see through it: each request comes by.
@usableFromInline package final class RetryableValue<Value: Sendable>: Sendable {
    @usableFromInline let first: Result<Value, TransportError>
    /// How to try again; nil where the first attempt made it.
    @usableFromInline let make: (@Sendable () throws(TransportError) -> Value)?
    @usableFromInline let later = Lock<Value?>(nil)

    /// Makes it, or learns that it cannot be made now.
    @inlinable package init(_ make: @escaping @Sendable () throws(TransportError) -> Value) {
        do throws(TransportError) {
            first = .success(try make())
            self.make = nil
        } catch {
            first = .failure(error)
            self.make = make
        }
    }

    /// It, made now if it could not be before.
    @inlinable package func get() throws(TransportError) -> Value {
        guard let make else { return try first.get() }
        return try later.withLock { value throws(TransportError) in
            if let value { return value }
            let made = try make()
            value = made
            return made
        }
    }

    /// It, if it was made; nothing is tried.
    @inlinable package var existing: Value? {
        guard make != nil else { return try? first.get() }
        return later.withLock { $0 }
    }
}
