// SPDX-License-Identifier: MIT

public import Dispatch
internal import Foundation
internal import LupineLoading

/// Says whether the network, or one host, can be reached, and when that changes: by the kernel's routes, without a packet
/// being sent but for looking up a name.
///
/// What is reachable may still not answer, and what is not may be a moment later: it is for telling people why nothing
/// comes, and for trying again, never for deciding not to try. Any thread may call. It can be subclassed; all its state is in
/// one core that is `Sendable`.
open class NetworkReachabilityManager: @unchecked Sendable {
    /// Whether there is a way.
    public enum NetworkReachabilityStatus: Hashable, Sendable {
        /// Nobody knows.
        case unknown
        /// There is none.
        case notReachable
        /// There is one.
        case reachable(ConnectionType)

        /// What the way leads over.
        public enum ConnectionType: Hashable, Sendable {
            /// A cable or a radio network of one's own.
            case ethernetOrWiFi
            /// A mobile network.
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

    /// Hears of a status that differs from the one before.
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// The manager of the whole network.
    public static let `default` = NetworkReachabilityManager()

    /// Where what the kernel says is looked at. Serial.
    public let reachabilityQueue: DispatchQueue
    private let core: ReachabilityCore

    /// A manager of one host, a name or an address without a scheme; nil when it cannot be one.
    public convenience init?(host: String) {
        self.init(host: host, view: .system)
    }

    /// A manager of the whole network. Never nil.
    public convenience init?() {
        self.init(host: nil, view: .system)
    }

    init?(host: String?, view: NetworkView) {
        if let host {
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

    /// Whether there is a way of either kind.
    open var isReachable: Bool { isReachableOnCellular || isReachableOnEthernetOrWiFi }
    /// Whether there is a way over a mobile network.
    open var isReachableOnCellular: Bool { status == .reachable(.cellular) }
    /// Whether there is a way over something else.
    open var isReachableOnEthernetOrWiFi: Bool { status == .reachable(.ethernetOrWiFi) }

    /// The flags of this moment; nil when they cannot be had. Waits for the kernel, and up to two seconds for a name.
    open var flags: SCNetworkReachabilityFlags? { core.flags() }

    /// The status of this moment; `unknown` when there are no flags. Waits as `flags` does.
    open var status: NetworkReachabilityStatus { flags.map(NetworkReachabilityStatus.init) ?? .unknown }

    /// Begins to listen, in the place of a listener before: the listener hears of the status soon, and then of each other one.
    ///
    /// - Parameters:
    ///   - queue: Where the listener is called.
    ///   - listener: Never hears of `unknown`.
    /// - Returns: Whether the kernel lets itself be listened to.
    @discardableResult
    open func startListening(
        onQueue queue: DispatchQueue = .main, onUpdatePerforming listener: @escaping Listener
    ) -> Bool {
        core.start(on: queue, listener)
    }

    /// Stops listening. What is on its way to the listener's queue still arrives.
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
