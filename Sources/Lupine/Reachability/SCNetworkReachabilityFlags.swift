// SPDX-License-Identifier: MIT

internal import LupineLoading

/// What is known about the way to a host or to anywhere, in the bits of Apple's SystemConfiguration.
public struct SCNetworkReachabilityFlags: OptionSet, Hashable, Sendable {
    /// Over a connection that is made for it, such as a tunnel's.
    public static let transientConnection = SCNetworkReachabilityFlags(rawValue: 1 << 0)
    /// There is a way.
    public static let reachable = SCNetworkReachabilityFlags(rawValue: 1 << 1)
    /// A connection has to be made first. Never set here.
    public static let connectionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 2)
    /// Traffic makes the connection. Never set here.
    public static let connectionOnTraffic = SCNetworkReachabilityFlags(rawValue: 1 << 3)
    /// The former name of `connectionOnTraffic`.
    public static let connectionAutomatic = connectionOnTraffic
    /// The user has to do something first. Never set here.
    public static let interventionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 4)
    /// Programs make the connection. Never set here.
    public static let connectionOnDemand = SCNetworkReachabilityFlags(rawValue: 1 << 5)
    /// The address is one of this machine.
    public static let isLocalAddress = SCNetworkReachabilityFlags(rawValue: 1 << 16)
    /// Without a router.
    public static let isDirect = SCNetworkReachabilityFlags(rawValue: 1 << 17)
    /// Over a mobile network.
    public static let isWWAN = SCNetworkReachabilityFlags(rawValue: 1 << 18)

    /// The flags as bits.
    public let rawValue: UInt32

    /// Flags of those bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

extension SCNetworkReachabilityFlags {
    /// Whether a connection can come up without anybody's help.
    var canConnectAutomatically: Bool {
        contains(.connectionOnDemand) || contains(.connectionOnTraffic)
    }

    /// Whether requests can be sent now (I-14.1).
    var isActuallyReachable: Bool {
        contains(.reachable)
            && (!contains(.connectionRequired)
                || (canConnectAutomatically && !contains(.interventionRequired)))
    }

    /// A letter for each flag, and a dash for each that is not set.
    var readableDescription: String {
        let letters: [(SCNetworkReachabilityFlags, String)] = [
            (.isWWAN, "W"), (.reachable, "R"), ([], " "), (.connectionRequired, "c"),
            (.transientConnection, "t"), (.interventionRequired, "i"), (.connectionOnTraffic, "C"),
            (.connectionOnDemand, "D"), (.isLocalAddress, "l"), (.isDirect, "d"), (.connectionAutomatic, "a"),
        ]
        return letters.map { contains($0.0) ? $0.1 : "-" }.joined()
    }
}

extension SCNetworkReachabilityFlags {
    /// The flags of a way over an interface.
    init(over interface: NetworkInterface) {
        self = .reachable
        if interface.medium == .cellular { insert(.isWWAN) }
        if interface.isPointToPoint { insert(.transientConnection) }
    }

    /// The flags of the whole network (I-14.12): those of the first usable way.
    init(_ picture: NetworkPicture) {
        self = picture.ways.first.map(SCNetworkReachabilityFlags.init(over:)) ?? []
    }

    /// The flags of a host (I-14.13): those of the first way that leads to it; nil when the kernel does not say.
    init?(_ finding: NetworkView.Finding) {
        switch finding {
        case .unknown: return nil
        case .ways(let ways):
            switch ways.first {
            case nil: self = []
            case .local: self = [.reachable, .isLocalAddress, .isDirect]
            case .onLink(let interface):
                self = SCNetworkReachabilityFlags(over: interface).union(.isDirect)
            case .routed(let interface): self = SCNetworkReachabilityFlags(over: interface)
            }
        }
    }
}
