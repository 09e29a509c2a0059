// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The network connectivity of the machine, restricted to the interface types that the monitor observes.
public struct NWPath: Hashable, Sendable {
    /// Whether there is a path to the network.
    public enum Status: Hashable, Sendable {
        /// There is a path.
        case satisfied
        /// There is no path.
        case unsatisfied
        /// A path could be established. This library never reports it.
        case requiresConnection
    }

    /// Whether there is a path to the network.
    public let status: Status
    /// The interfaces that paths use.
    public let availableInterfaces: [NWInterface]
    /// Whether all available interfaces are cellular.
    public let isExpensive: Bool
    /// Whether the user has requested reduced traffic (Low Data Mode). Always false, because this library does not detect it.
    public let isConstrained: Bool
    /// Whether there is a path for IPv4.
    public let supportsIPv4: Bool
    /// Whether there is a path for IPv6.
    public let supportsIPv6: Bool
    /// Whether names can be resolved. True whenever there is a path, because this library does not check the resolver.
    public let supportsDNS: Bool

    /// Returns whether one of the interfaces is of this type.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        availableInterfaces.contains { $0.type == type }
    }

    /// Creates the path for a snapshot of the network, restricted to interfaces of allowed types. If the kernel could not be
    /// queried, `snapshot` is nil and the path is unsatisfied.
    init(_ snapshot: NetworkSnapshot?, allowing isAllowed: (NWInterface.InterfaceType) -> Bool) {
        // Returns the interfaces with these indexes that can be used and are of an allowed type.
        func interfaces(withIndexes indexes: [UInt32]) -> [NWInterface] {
            let usableInterfaces = snapshot?.usableInterfaces(withIndexes: indexes) ?? []
            return usableInterfaces.map(NWInterface.init).filter { isAllowed($0.type) }
        }
        let interfacesIPv4 = interfaces(withIndexes: snapshot?.defaultInterfaceIndexesIPv4 ?? [])
        let interfacesIPv6 = interfaces(withIndexes: snapshot?.defaultInterfaceIndexesIPv6 ?? [])
        availableInterfaces = interfacesIPv4 + interfacesIPv6.filter { !interfacesIPv4.contains($0) }
        status = availableInterfaces.isEmpty ? .unsatisfied : .satisfied
        isExpensive = !availableInterfaces.isEmpty && availableInterfaces.allSatisfy { $0.type == .cellular }
        isConstrained = false
        supportsIPv4 = !interfacesIPv4.isEmpty
        supportsIPv6 = !interfacesIPv6.isEmpty
        supportsDNS = status == .satisfied
    }
}
