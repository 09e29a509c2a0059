// SPDX-License-Identifier: MIT

/// A value behind one reference, with copy-on-write.
///
/// It makes a large struct cheap to pass: a copy is one retain, however many members the struct has. An array of one element is
/// the standard library's own such reference, and is `Sendable` if its element is.
struct Shared<Value: Sendable>: Sendable {
    private var cell: [Value]

    /// Stores a value in a new, unshared reference.
    init(_ value: consuming Value) { cell = [value] }

    /// The value. Changing it does not affect copies.
    var value: Value {
        _read { yield cell[0] }
        _modify { yield &cell[0] }
    }
}
