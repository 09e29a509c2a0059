// SPDX-License-Identifier: MIT

import LupineLoading

@testable import Lupine

/// A network whose state the test sets and changes, in place of the kernel's.
final class ScriptedNetwork: Sendable {
    private struct State {
        var snapshot: NetworkSnapshot?
        var findings: [String: NetworkView.RouteResult] = [:]
        /// The closures of the current watches, by the number of the watch.
        var watchers: [Int: @Sendable () -> Void] = [:]
        var begunWatches = 0
    }

    private let state: Protected<State>

    /// Creates a network with this snapshot; nil for a kernel that cannot be queried.
    init(_ snapshot: NetworkSnapshot?) { state = Protected(State(snapshot: snapshot)) }

    var view: NetworkView {
        NetworkView(
            takeSnapshot: { [state] found in found(state.read { $0.snapshot }) },
            findRoutes: { [state] host, found in found(state.read { $0.findings[host] } ?? .routes([])) },
            watch: { [state] changed in
                let number = state.write { state in
                    state.begunWatches += 1
                    state.watchers[state.begunWatches] = changed
                    return state.begunWatches
                }
                return { state.write { _ = $0.watchers.removeValue(forKey: number) } }
            })
    }

    /// The number of current watches.
    var watchCount: Int { state.read { $0.watchers.count } }
    /// The number of watches ever begun.
    var begunWatches: Int { state.read { $0.begunWatches } }

    /// Replaces the snapshot, and notifies the watches.
    func change(to snapshot: NetworkSnapshot?) {
        let watchers = state.write { state in
            state.snapshot = snapshot
            return Array(state.watchers.values)
        }
        for changed in watchers { changed() }
    }

    /// Replaces the result of queries about a host, and notifies the watches.
    func change(to finding: NetworkView.RouteResult, for host: String) {
        let watchers = state.write { state in
            state.findings[host] = finding
            return Array(state.watchers.values)
        }
        for changed in watchers { changed() }
    }

    // MARK: interfaces and snapshots

    static let cable = NetworkInterface(name: "eth0", index: 2, medium: .wired)
    static let radio = NetworkInterface(name: "wlan0", index: 3, medium: .wifi)
    static let modem = NetworkInterface(name: "wwan0", index: 4, medium: .cellular)
    static let tunnel = NetworkInterface(name: "wg0", index: 5, medium: .other, isPointToPoint: true)
    static let loopback = NetworkInterface(name: "lo", index: 1, medium: .loopback)

    static let offline = NetworkSnapshot(interfaces: [loopback])
    static let wired = over(cable)
    static let mobile = over(modem)

    /// Returns a snapshot with a default route over one interface.
    static func over(_ interface: NetworkInterface) -> NetworkSnapshot {
        NetworkSnapshot(interfaces: [loopback, interface], defaultInterfaceIndexesIPv4: [interface.index])
    }
}
