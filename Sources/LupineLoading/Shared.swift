// SPDX-License-Identifier: MIT

/// A value behind one reference, copied when it is changed while somebody else holds it too.
///
/// It makes a large struct cheap to pass: a copy is one retain, however many members there are. An array of one element
/// is the standard library's own such reference, and is `Sendable` as its element is.
struct Shared<Value: Sendable>: Sendable {
    private var cell: [Value]

    /// A value that nobody else holds yet.
    init(_ value: consuming Value) { cell = [value] }

    /// The value; changing it never shows in a copy.
    var value: Value {
        _read { yield cell[0] }
        _modify { yield &cell[0] }
    }
}
