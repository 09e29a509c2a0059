// SPDX-License-Identifier: MIT

public import Foundation

/// What is wrong between stubs and the requests that came: the error of a load that no stub takes, and of `Stubs.verify()`.
///
/// Its text says it all, in several lines; header fields and bodies stand there as they are, secrets too.
public enum StubError: Error, Hashable, Sendable {
    /// No stub takes a request; the text has the differences to the nearest one.
    case noStub(String)
    /// A request came before others that were expected earlier.
    case outOfOrder(String)
    /// What `verify` found.
    case notMet(String)
}

extension StubError: CustomStringConvertible, LocalizedError {
    /// What is wrong, in words.
    public var description: String {
        switch self {
        case .noStub(let text), .outOfOrder(let text), .notMet(let text): text
        }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}
