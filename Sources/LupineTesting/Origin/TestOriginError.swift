// SPDX-License-Identifier: MIT

public import Foundation

/// An error of a test origin itself.
public enum TestOriginError: Error, Hashable, Sendable {
    /// No socket, thread or certificate could be created, for this reason.
    case cannotStart(String)
    /// The origin was shut down before the awaited request was received.
    case shutDown
}

extension TestOriginError: CustomStringConvertible, LocalizedError {
    /// A description of the error.
    public var description: String {
        switch self {
        case .cannotStart(let reason): "the origin cannot start: \(reason)"
        case .shutDown: "the origin was shut down before the request came"
        }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}
