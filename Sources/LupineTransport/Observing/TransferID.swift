// SPDX-License-Identifier: MIT

internal import Synchronization

/// Identifies a transfer within the process, in all events of a `TransferObserver`.
///
/// The number increases in the order in which transfers are created; it has no meaning outside of the process.
public struct TransferID: Hashable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    /// `#` and the number.
    public var description: String { "#\(rawValue)" }

    /// The number of the newest transfer.
    private static let last = Atomic<UInt64>(0)

    /// Returns the next identifier of the process.
    package static func next() -> TransferID {
        TransferID(rawValue: last.add(1, ordering: .relaxed).newValue)
    }
}

/// The cause of a transfer.
public enum TransferCause: Hashable, Sendable {
    /// A request of the program, or a retry by the layers above, which is a new request.
    case request
    /// A redirect in the response of an earlier transfer.
    case redirect(after: TransferID)
    /// A second attempt at the request of an earlier transfer: with the answer to a challenge, or because a cached response or a
    /// partial download could not be used.
    case repetition(after: TransferID)

    /// The transfer before this one; nil for a request of the program.
    public var previous: TransferID? {
        switch self {
        case .request: nil
        case .redirect(let id), .repetition(let id): id
        }
    }
}
