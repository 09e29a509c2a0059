// SPDX-License-Identifier: MIT

/// A value of the caller's that the module stores and returns without using it: a property that a `URLProtocol` has set on a
/// request, the `userInfo` of a cached response, a body stream before its task opens it.
///
/// Apple's types pass such values between threads without requiring `Sendable`. Only the reference is passed on; the caller is
/// responsible for how it is used on several threads. The module sends nothing else unchecked through this type.
package struct UncheckedSendable<Value>: @unchecked Sendable {
    /// The caller's value.
    package let value: Value

    /// Wraps `value`.
    package init(_ value: Value) { self.value = value }
}
