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
        /// A path could be established. Never reported here.
        case requiresConnection
    }

    /// Whether there is a path to the network.
    public let status: Status
    /// The interfaces that paths use.
    public let availableInterfaces: [NWInterface]
    /// Whether all available interfaces are cellular.
    public let isExpensive: Bool
    /// Whether reduced traffic was requested (Low Data Mode). Always false here.
    public let isConstrained: Bool
    /// Whether there is a path for IPv4.
    public let supportsIPv4: Bool
    /// Whether there is a path for IPv6.
    public let supportsIPv6: Bool
    /// Whether names can be resolved. Here it is true whenever there is a path.
    public let supportsDNS: Bool

    /// Returns whether one of the interfaces is of this type.
    public func usesInterfaceType(_ type: NWInterface.InterfaceType) -> Bool {
        availableInterfaces.contains { $0.type == type }
    }

    /// Creates the path for a snapshot of the network, restricted to interfaces of allowed types. Without a snapshot, because the
    /// kernel could not be queried, the path is unsatisfied.
    init(_ snapshot: NetworkSnapshot?, allowing isAllowed: (NWInterface.InterfaceType) -> Bool) {
        // The interfaces of these default routes that can be used and are of an allowed type.
        func interfaces(_ indexes: [UInt32]) -> [NWInterface] {
            let usable = snapshot?.usableInterfaces(withIndexes: indexes) ?? []
            return usable.map(NWInterface.init).filter { isAllowed($0.type) }
        }
        let interfacesIPv4 = interfaces(snapshot?.defaultInterfaceIndexesIPv4 ?? [])
        let interfacesIPv6 = interfaces(snapshot?.defaultInterfaceIndexesIPv6 ?? [])
        availableInterfaces = interfacesIPv4 + interfacesIPv6.filter { !interfacesIPv4.contains($0) }
        status = availableInterfaces.isEmpty ? .unsatisfied : .satisfied
        isExpensive = !availableInterfaces.isEmpty && availableInterfaces.allSatisfy { $0.type == .cellular }
        isConstrained = false
        supportsIPv4 = !interfacesIPv4.isEmpty
        supportsIPv6 = !interfacesIPv6.isEmpty
        supportsDNS = status == .satisfied
    }
}
