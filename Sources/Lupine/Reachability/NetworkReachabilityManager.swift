// SPDX-License-Identifier: MIT

public import Dispatch
internal import Foundation
internal import LupineLoading

/// Reports whether the whole network or one host is reachable, first at present and then at each change. It reads the kernel's
/// routes and sends no packets, except to look up a host name.
///
/// A reachable host may still not answer, and an unreachable host may be reachable a moment later. Use reachability to explain
/// why no response arrives and to time a retry, never to decide whether to send a request. The manager may be used from any
/// thread. It is `@unchecked Sendable`, because the compiler cannot check a class that can be subclassed; all its mutable state
/// is in a `Sendable` core.
open class NetworkReachabilityManager: @unchecked Sendable {
    /// Whether the network or host is reachable.
    public enum NetworkReachabilityStatus: Hashable, Sendable {
        /// The status is unknown, because the kernel could not be queried.
        case unknown
        /// The network or host is not reachable.
        case notReachable
        /// The network or host is reachable over this type of connection.
        case reachable(ConnectionType)

        /// The type of the connection.
        public enum ConnectionType: Hashable, Sendable {
            /// Ethernet or Wi-Fi.
            case ethernetOrWiFi
            /// A cellular network.
            case cellular
        }

        init(_ flags: SCNetworkReachabilityFlags) {
            guard flags.isActuallyReachable else {
                self = .notReachable
                return
            }
            self = .reachable(flags.contains(.isWWAN) ? .cellular : .ethernetOrWiFi)
        }
    }

    /// Receives each status that differs from the previous one.
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// The manager of the whole network.
    public static let `default` = NetworkReachabilityManager()

    /// The serial queue on which the manager compares each new status with the previous one.
    public let reachabilityQueue: DispatchQueue
    private let core: ReachabilityCore

    /// Creates a manager of one host: a name or an address, without a scheme. Returns nil if the text cannot be a host.
    public convenience init?(host: String) {
        self.init(host: host, view: .system)
    }

    /// Creates a manager of the whole network. The result is never nil.
    public convenience init?() {
        self.init(host: nil, view: .system)
    }

    init?(host: String?, view: NetworkView) {
        if let host {
            // Rejects URLs, paths and text with blanks; whether the name exists is not checked.
            let isPlausible =
                !host.isEmpty && !host.contains("://")
                && !host.unicodeScalars.contains { $0 == "/" || $0 == "\0" || $0.properties.isWhitespace }
            guard isPlausible else { return nil }
        }
        let queue = DispatchQueue(label: "lupine.reachability")
        reachabilityQueue = queue
        core = ReachabilityCore(host: host, view: view, queue: queue)
    }

    deinit { core.stop() }

    /// Whether the network or host is reachable over any connection.
    open var isReachable: Bool { isReachableOnCellular || isReachableOnEthernetOrWiFi }
    /// Whether the network or host is reachable over a cellular network.
    open var isReachableOnCellular: Bool { status == .reachable(.cellular) }
    /// Whether the network or host is reachable over a connection that is not cellular.
    open var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// The present flags; nil if they are unavailable. Blocks while the kernel is queried and a host name is looked up, for at
    /// most two seconds.
    open var flags: SCNetworkReachabilityFlags? { core.flags() }

    /// The present status; `unknown` if the flags are unavailable. Blocks as `flags` does.
    open var status: NetworkReachabilityStatus { flags.map(NetworkReachabilityStatus.init) ?? .unknown }

    /// Starts listening, in place of any previous listener. The listener receives the present status, then each change.
    ///
    /// - Parameters:
    ///   - queue: The queue on which the listener is called.
    ///   - listener: Never receives `unknown`.
    /// - Returns: Whether the kernel's routes can be observed.
    @discardableResult
    open func startListening(
        onQueue queue: DispatchQueue = .main, onUpdatePerforming listener: @escaping Listener
    ) -> Bool {
        core.start(on: queue, listener)
    }

    /// Stops listening. A call of the listener that is already enqueued on its queue is still made.
    open func stopListening() { core.stop() }
}

extension NetworkReachabilityManager.NetworkReachabilityStatus: CustomStringConvertible {
    /// The status in a few words.
    public var description: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "not reachable"
        case .reachable(.ethernetOrWiFi): "reachable over Ethernet or Wi-Fi"
        case .reachable(.cellular): "reachable over a mobile network"
        }
    }
}
