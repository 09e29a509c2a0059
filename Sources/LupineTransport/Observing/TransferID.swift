// SPDX-License-Identifier: MIT

internal import Synchronization

/// Tells one transfer from every other in the process: what all events of a `TransferObserver` carry.
///
/// A number that grows in the order in which transfers are made; it means nothing outside of the process.
public struct TransferID: Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    /// The `#` and the number.
    public var description: String { "#\(rawValue)" }

    private static let last = Atomic<UInt64>(0)

    /// The next one of the process.
    package static func next() -> TransferID {
        TransferID(rawValue: last.add(1, ordering: .relaxed).newValue)
    }
}

/// Why there is a transfer.
public enum TransferCause: Hashable, Sendable {
    /// The program's request, or a retry of the layers above, which is a request like the first.
    case request
    /// A redirect that the response of an earlier transfer named.
    case redirect(after: TransferID)
    /// The same request as an earlier transfer's once more: with the answer to a challenge, or because what a cache or a partial
    /// download had could not be used.
    case repetition(after: TransferID)

    /// The transfer before it; nil for the program's request.
    public var previous: TransferID? {
        switch self {
        case .request: nil
        case .redirect(let id), .repetition(let id): id
        }
    }
}
