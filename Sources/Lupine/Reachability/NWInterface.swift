// SPDX-License-Identifier: MIT

internal import LupineLoading

/// An interface of the machine, as Apple's Network framework names it.
public struct NWInterface: Hashable, Sendable {
    /// What an interface is.
    public enum InterfaceType: Hashable, Sendable, CaseIterable {
        /// Something else, such as a tunnel.
        case other
        /// A radio network of one's own.
        case wifi
        /// A mobile network.
        case cellular
        /// A cable.
        case wiredEthernet
        /// Inside of the machine.
        case loopback
    }

    /// Its name, such as `eth0`.
    public let name: String
    /// Its number.
    public let index: Int
    /// What it is.
    public let type: InterfaceType

    init(_ interface: NetworkInterface) {
        name = interface.name
        index = Int(interface.index)
        type =
            switch interface.medium {
            case .wired: .wiredEthernet
            case .wifi: .wifi
            case .cellular: .cellular
            case .loopback: .loopback
            case .other: .other
            }
    }
}
