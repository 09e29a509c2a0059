// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// A network interface of the machine.
package struct NetworkInterface: Hashable, Sendable {
    /// The medium of an interface.
    package enum Medium: Hashable, Sendable {
        case wired
        case wifi
        case cellular
        case loopback
        case other
    }

    /// The kernel's name, such as `eth0`.
    package var name: String
    /// The kernel's index.
    package var index: UInt32
    /// The medium, such as Wi-Fi.
    package var medium: Medium
    /// Whether the interface is switched on and its link is connected (`IFF_UP`, `IFF_RUNNING` of netdevice(7)).
    package var isOperational: Bool
    /// Whether the interface is a point-to-point link, such as a tunnel.
    package var isPointToPoint: Bool

    /// Creates an interface.
    package init(
        name: String, index: UInt32, medium: Medium, isOperational: Bool = true, isPointToPoint: Bool = false
    ) {
        self.name = name
        self.index = index
        self.medium = medium
        self.isOperational = isOperational
        self.isPointToPoint = isPointToPoint
    }
}

extension NetworkInterface {
    /// Creates the interface of a link. Reads small files in sysfs.
    init(_ link: NetworkLink) {
        self.init(
            name: link.name, index: link.index, medium: Self.medium(of: link),
            isOperational: link.isUp && link.isRunning, isPointToPoint: link.isPointToPoint)
    }

    /// Determines the medium by the interface's files in sysfs, because a name such as `wlan0` proves nothing.
    private static func medium(of link: NetworkLink) -> Medium {
        if link.isLoopback { return .loopback }
        // The kernel allows no interface with one of these names. With such a name the path below would lead out of the folder.
        guard !link.name.isEmpty, !link.name.contains("/"), link.name != ".", link.name != ".." else {
            return .other
        }
        let folder = "/sys/class/net/\(link.name)"
        let files = FileManager.default
        if files.fileExists(atPath: "\(folder)/wireless") || files.fileExists(atPath: "\(folder)/phy80211") {
            return .wifi
        }
        if let events = try? String(contentsOfFile: "\(folder)/uevent", encoding: .utf8),
            events.split(separator: "\n").contains("DEVTYPE=wwan")
        {
            return .cellular
        }
        // ARPHRD_ETHER of netdevice(7).
        let ethernet: UInt16 = 1
        return link.hardware == ethernet ? .wired : .other
    }
}
