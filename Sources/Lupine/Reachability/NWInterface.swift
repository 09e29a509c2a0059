// SPDX-License-Identifier: MIT

internal import LupineLoading

/// A network interface of the machine, modelled on Apple's Network framework.
public struct NWInterface: Hashable, Sendable {
    /// The type of an interface.
    public enum InterfaceType: Hashable, Sendable, CaseIterable {
        /// Another type, such as a tunnel.
        case other
        /// A Wi-Fi network.
        case wifi
        /// A cellular network.
        case cellular
        /// A wired network.
        case wiredEthernet
        /// The loopback interface.
        case loopback
    }

    /// The interface's name, such as `eth0`.
    public let name: String
    /// The interface's index, which the kernel assigns.
    public let index: Int
    /// The interface's type.
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
