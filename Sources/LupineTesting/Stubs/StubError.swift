// SPDX-License-Identifier: MIT

public import Foundation

/// The error of a load that no stub answers, and of `Stubs.verify()`.
///
/// The text has all details, on several lines. It contains header fields and bodies unredacted, including secrets.
public enum StubError: Error, Hashable, Sendable {
    /// No stub matches a request; the text contains the differences to the nearest one.
    case noStub(String)
    /// A request came before others that were expected earlier.
    case outOfOrder(String)
    /// The unmet expectations and failed requests that `verify` has found.
    case notMet(String)
}

extension StubError: CustomStringConvertible, LocalizedError {
    /// A description of the error.
    public var description: String {
        switch self {
        case .noStub(let text), .outOfOrder(let text), .notMet(let text): text
        }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}
