// SPDX-License-Identifier: MIT

internal import Dispatch
internal import LupineTransport

/// Where the protocols of one task are called: in order, never two at once (U-17.4). Made when the first is.
final class ProtocolContext: Sendable {
    private let queue = Lock<DispatchQueue?>(nil)

    /// Does `work` after all that was asked for before.
    func run(_ work: @escaping @Sendable () -> Void) {
        let queue = queue.withLock { queue in
            if let queue { return queue }
            let made = DispatchQueue(label: "lupine.protocol", target: .global())
            queue = made
            return made
        }
        queue.async(execute: work)
    }
}
