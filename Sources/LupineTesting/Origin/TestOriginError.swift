// SPDX-License-Identifier: MIT

public import Foundation

/// What goes wrong with a test's origin itself.
public enum TestOriginError: Error, Hashable, Sendable {
    /// The system gives it no socket, no thread or no certificate; why, in words.
    case cannotStart(String)
    /// It was shut down before the request came that somebody waits for.
    case shutDown
}

extension TestOriginError: CustomStringConvertible, LocalizedError {
    /// What happened, in words.
    public var description: String {
        switch self {
        case .cannotStart(let reason): "the origin cannot start: \(reason)"
        case .shutDown: "the origin was shut down before the request came"
        }
    }

    /// The same as `description`.
    public var errorDescription: String? { description }
}
