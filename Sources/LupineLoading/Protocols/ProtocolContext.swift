// SPDX-License-Identifier: MIT

internal import Dispatch

/// Where the protocols of one task are called: in order, never two at once (U-17.4).
final class ProtocolContext: Sendable {
    private let queue = DispatchQueue(label: "lupine.protocol", target: .global())

    /// Does `work` after all that was asked for before.
    func run(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }
}
