// SPDX-License-Identifier: MIT

internal import LupineLoading

/// How the machine is connected, as far as the monitor that gives it was told to look.
public struct NWPath: Hashable, Sendable {
    /// Whether there is a way.
    public enum Status: Hashable, Sendable {
        /// There is one.
        case satisfied
        /// There is none.
        case unsatisfied
        /// There would be one. Never said here.
        case requiresConnection
    }

    /// Whether there is a way.
    public let status: Status
    /// The interfaces that ways lead over.
    public let availableInterfaces: [NWInterface]
    /// Whether the way is a mobile network's.
    public let isExpensive: Bool
    /// Whether somebody has asked for little traffic. Never here.
    public let isConstrained: Bool
    /// Whether there is a way for IPv4.
    public let supportsIPv4: Bool
    /// Whether there is a way for IPv6.
    public let supportsIPv6: Bool
    /// Whether names can be looked up, as far as routes tell.
    public let supportsDNS: Bool

    /// Whether one of the interfaces is of this type.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        availableInterfaces.contains { $0.type == type }
    }

    /// The path that a picture shows to one who takes these types only; nil for a picture that could not be had.
    init(_ picture: NetworkPicture?, allowing isAllowed: (NWInterface.InterfaceType) -> Bool) {
        func interfaces(_ indexes: [UInt32]) -> [NWInterface] {
            (picture?.usable(indexes) ?? []).map(NWInterface.init).filter { isAllowed($0.type) }
        }
        let overIPv4 = interfaces(picture?.defaultsIPv4 ?? [])
        let overIPv6 = interfaces(picture?.defaultsIPv6 ?? [])
        availableInterfaces = overIPv4 + overIPv6.filter { !overIPv4.contains($0) }
        status = availableInterfaces.isEmpty ? .unsatisfied : .satisfied
        isExpensive = !availableInterfaces.isEmpty && availableInterfaces.allSatisfy { $0.type == .cellular }
        isConstrained = false
        supportsIPv4 = !overIPv4.isEmpty
        supportsIPv6 = !overIPv6.isEmpty
        supportsDNS = status == .satisfied
    }
}
