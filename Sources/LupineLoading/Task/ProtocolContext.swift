// SPDX-License-Identifier: MIT

internal import Dispatch

/// The serial queue on which the `URLProtocol` instances of one task are called (U-17.4).
final class ProtocolContext: Sendable {
    private let queue = DispatchQueue(label: "lupine.protocol", target: .global())

    /// Runs `work` on the queue, after all work that was added before.
    func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
