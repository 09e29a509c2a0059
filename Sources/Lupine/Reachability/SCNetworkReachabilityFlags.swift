// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The reachability of a host or of the whole network, in the bits of Apple's SystemConfiguration.
public struct SCNetworkReachabilityFlags: OptionSet, Hashable, Sendable {
    /// Reachable over a transient connection, such as a tunnel.
    public static let transientConnection = SCNetworkReachabilityFlags(rawValue: 1 << 0)
    /// The host or network is reachable.
    public static let reachable = SCNetworkReachabilityFlags(rawValue: 1 << 1)
    /// A connection has to be established first. This library never sets it.
    public static let connectionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 2)
    /// Traffic establishes the connection. This library never sets it.
    public static let connectionOnTraffic = SCNetworkReachabilityFlags(rawValue: 1 << 3)
    /// The former name of `connectionOnTraffic`.
    public static let connectionAutomatic = connectionOnTraffic
    /// The user has to intervene first. This library never sets it.
    public static let interventionRequired = SCNetworkReachabilityFlags(rawValue: 1 << 4)
    /// Programs establish the connection on demand. This library never sets it.
    public static let connectionOnDemand = SCNetworkReachabilityFlags(rawValue: 1 << 5)
    /// The address belongs to this machine.
    public static let isLocalAddress = SCNetworkReachabilityFlags(rawValue: 1 << 16)
    /// Reachable directly, without a router.
    public static let isDirect = SCNetworkReachabilityFlags(rawValue: 1 << 17)
    /// Reachable over a cellular network.
    public static let isWWAN = SCNetworkReachabilityFlags(rawValue: 1 << 18)

    /// The flags as bits.
    public let rawValue: UInt32

    /// Creates flags from bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
}

extension SCNetworkReachabilityFlags {
    /// Whether a connection can be established without an action of the user, unless `interventionRequired` is set.
    var canConnectAutomatically: Bool {
        contains(.connectionOnDemand) || contains(.connectionOnTraffic)
    }

    /// Whether requests can be sent: the host or network is reachable, and a connection exists or can be established without an
    /// action of the user (rule I-14.1).
    var isActuallyReachable: Bool {
        contains(.reachable)
            && (!contains(.connectionRequired)
                || (canConnectAutomatically && !contains(.interventionRequired)))
    }

    /// One character for each flag: its letter if the flag is set, otherwise a dash. The empty set in the list, which every set
    /// contains, adds the space between the groups.
    var readableDescription: String {
        let letters: [(flag: SCNetworkReachabilityFlags, letter: String)] = [
            (.isWWAN, "W"), (.reachable, "R"), ([], " "), (.connectionRequired, "c"),
            (.transientConnection, "t"), (.interventionRequired, "i"), (.connectionOnTraffic, "C"),
            (.connectionOnDemand, "D"), (.isLocalAddress, "l"), (.isDirect, "d"), (.connectionAutomatic, "a"),
        ]
        return letters.map { contains($0.flag) ? $0.letter : "-" }.joined()
    }
}

extension SCNetworkReachabilityFlags {
    /// Creates the flags for a path over an interface.
    init(over interface: NetworkInterface) {
        self = .reachable
        if interface.medium == .cellular { insert(.isWWAN) }
        if interface.isPointToPoint { insert(.transientConnection) }
    }

    /// Creates the flags of the whole network (rule I-14.12): those of the first interface of a default route that can be used.
    init(_ snapshot: NetworkSnapshot) {
        self = snapshot.usableDefaultInterfaces.first.map(SCNetworkReachabilityFlags.init(over:)) ?? []
    }

    /// Creates the flags of a host (rule I-14.13): those of the first route to it. Returns nil if the kernel could not be
    /// queried.
    init?(_ finding: NetworkView.RouteResult) {
        switch finding {
        case .unknown: return nil
        case .routes(let routes):
            switch routes.first {
            case nil: self = []
            case .local: self = [.reachable, .isLocalAddress, .isDirect]
            case .onLink(let interface):
                self = SCNetworkReachabilityFlags(over: interface).union(.isDirect)
            case .routed(let interface): self = SCNetworkReachabilityFlags(over: interface)
            }
        }
    }
}
