// SPDX-License-Identifier: MIT

internal import LupineTransport

/// A value that need not be `Sendable`, and the `Lock` that guards it. Contains the mutable state of every class of this module.
///
/// Can be used on any thread. The rules of `Lock` apply: the closures passed to `read` and `write` must not call the program's
/// code and must not acquire another lock.
///
/// `Lock` itself accepts only values that the compiler can prove to be confined to it. The state of a request refers to objects
/// of the program, about which the compiler cannot prove this. No reference to the value may escape from the closures, hence
/// `@unchecked`.
@safe final class Protected<Value>: @unchecked Sendable {
    private let lock = Lock(())
    // Accessed only under the lock, which is not recursive. So two accesses never overlap, and no check at run time is needed.
    @exclusivity(unchecked) private var value: Value

    /// Creates an unlocked lock around `value`.
    init(_ value: consuming Value) {
        unsafe self.value = value
    }

    /// Runs `body` with exclusive access to the value, to read it. The value is passed `inout` to avoid copying it: copying
    /// a large state costs more than reading it.
    @inline(__always) func read<U>(_ body: (inout Value) throws -> U) rethrows -> U {
        try lock.withLock { _ in try unsafe body(&value) }
    }

    /// Runs `body` with exclusive access to the value, to change it.
    @discardableResult
    @inline(__always) func write<U>(_ body: (inout Value) throws -> U) rethrows -> U {
        try lock.withLock { _ in try unsafe body(&value) }
    }

    /// Replaces the value.
    func write(_ value: Value) {
        // The old value is returned so that it is released outside of the lock: its deinitializer may call any code.
        _ = write { stored in
            let old = stored
            stored = value
            return old
        }
    }
}

extension Protected: Equatable where Value: Equatable {
    static func == (left: Protected<Value>, right: Protected<Value>) -> Bool {
        // Copies one value after the other, so that a thread holds one lock at a time. If it held both locks, two threads that
        // compare in opposite order could deadlock.
        left.read { $0 } == right.read { $0 }
    }
}

extension Protected: Hashable where Value: Hashable {
    func hash(into hasher: inout Hasher) {
        hasher.combine(read { $0 })
    }
}
