// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// An interface of the machine, as reachability sees it.
package struct NetworkInterface: Hashable, Sendable {
    /// What packets travel over.
    package enum Medium: Hashable, Sendable {
        case wired
        case wifi
        case cellular
        case loopback
        case other
    }

    /// The name that the kernel gives it, such as `eth0`.
    package var name: String
    /// The number that the kernel gives it.
    package var index: UInt32
    /// What it sends over.
    package var medium: Medium
    /// Whether it is up and has a carrier.
    package var isWorking: Bool
    /// Whether it has one other end, as a tunnel has.
    package var isPointToPoint: Bool

    /// An interface of these values.
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
    /// The interface that a link describes. It reads small files of the kernel.
    init(_ link: NetworkLink) {
        self.init(
            name: link.name, index: link.index, medium: Self.medium(of: link),
            isWorking: link.isUp && link.isRunning, isPointToPoint: link.isPointToPoint)
    }

    /// What is written about an interface in sysfs decides; a name such as `wlan0` says nothing.
    private static func medium(of link: NetworkLink) -> Medium {
        if link.isLoopback { return .loopback }
        // A name is no path: the kernel allows neither a slash nor a dot alone, and this is what would go wrong else.
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
        return link.hardware == 1 ? .wired : .other
    }
}
