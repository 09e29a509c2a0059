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
    /// The medium.
    package var medium: Medium
    /// Whether the interface is up and has a carrier (`IFF_UP`, `IFF_RUNNING`).
    package var isWorking: Bool
    /// Whether the interface is a point-to-point link, such as a tunnel.
    package var isPointToPoint: Bool

    /// Creates an interface.
    package init(
        name: String, index: UInt32, medium: Medium, isWorking: Bool = true, isPointToPoint: Bool = false
    ) {
        self.name = name
        self.index = index
        self.medium = medium
        self.isWorking = isWorking
        self.isPointToPoint = isPointToPoint
    }
}

extension NetworkInterface {
    /// Creates the interface of a link. Reads small files in sysfs.
    init(_ link: NetworkLink) {
        self.init(
            name: link.name, index: link.index, medium: Self.medium(of: link),
            isWorking: link.isUp && link.isRunning, isPointToPoint: link.isPointToPoint)
    }

    /// Determines the medium by the interface's files in sysfs; a name such as `wlan0` proves nothing.
    private static func medium(of link: NetworkLink) -> Medium {
        if link.isLoopback { return .loopback }
        // The kernel allows no such names; the check prevents a path outside of the interface's folder.
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
        // 1 is ARPHRD_ETHER.
        return link.hardware == 1 ? .wired : .other
    }
}
