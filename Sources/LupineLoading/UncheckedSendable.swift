// SPDX-License-Identifier: MIT

/// Wraps a value of a type that is not `Sendable`, so that it can be stored and passed between threads.
///
/// Most of these values come from the program, through methods of Apple's API that do not require `Sendable`. Examples are a body
/// stream, the `userInfo` of a cached response, and a property that a `URLProtocol` has set on a request. The wrapper protects
/// nothing: the code that unwraps the value has to use it safely.
package struct UncheckedSendable<Value>: @unchecked Sendable {
    /// The wrapped value.
    package let value: Value

    /// Wraps `value`.
    package init(_ value: Value) { self.value = value }
}
