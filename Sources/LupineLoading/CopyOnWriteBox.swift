// SPDX-License-Identifier: MIT

/// Stores a value on the heap. Copies of the box share the value until one of them changes it, which copies it.
///
/// A box makes a large struct cheap to pass: copying it retains one object, however many members the struct has. The storage is
/// an array, which already implements copy-on-write and is `Sendable` if its element is.
struct CopyOnWriteBox<Value: Sendable>: Sendable {
    /// Always has exactly one element.
    private var storage: [Value]

    /// Creates a box with this value.
    init(_ value: consuming Value) { storage = [value] }

    /// The value. Changing it does not affect copies of the box.
    var value: Value {
        // Unlike `get` and `set`, these do not copy the value out of the storage.
        _read { yield storage[0] }
        _modify { yield &storage[0] }
    }
}
