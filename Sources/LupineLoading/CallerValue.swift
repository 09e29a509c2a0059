// SPDX-License-Identifier: MIT

/// A value of the caller's that the module keeps and hands back, and does not use itself: a property that a
/// `URLProtocol` attached to a request, the `userInfo` of a cached response, a body stream before its task opens it.
///
/// Apple's types carry such values across threads without asking whether they may be; what crosses here is the
/// reference, and what is done with it is up to the one who put it in. Nothing else of the module is sent unchecked
/// through this type.
package struct CallerValue<Value>: @unchecked Sendable {
    /// What the caller gave.
    package let value: Value

    /// Keeps `value`.
    package init(_ value: Value) { self.value = value }
}
