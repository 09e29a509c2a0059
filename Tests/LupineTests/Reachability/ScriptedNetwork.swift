// SPDX-License-Identifier: MIT

import LupineLoading

@testable import Lupine

/// A network whose state the test sets and changes.
final class ScriptedNetwork: Sendable {
    private struct State {
        var picture: NetworkSnapshot?
        var findings: [String: NetworkView.Finding] = [:]
        var watchers: [Int: @Sendable () -> Void] = [:]
        var next = 0
        var begun = 0
    }

    private let state: Protected<State>

    init(_ picture: NetworkSnapshot?) { state = Protected(State(picture: picture)) }

    var view: NetworkView {
        NetworkView(
            takeSnapshot: { [state] found in found(state.read { $0.picture }) },
            findRoutes: { [state] host, found in found(state.read { $0.findings[host] } ?? .routes([])) },
            watch: { [state] changed in
                let number = state.write { state in
                    state.next += 1
                    state.begun += 1
                    state.watchers[state.next] = changed
                    return state.next
                }
                return { state.write { _ = $0.watchers.removeValue(forKey: number) } }
            })
    }

    /// The number of current watches.
    var watches: Int { state.read { $0.watchers.count } }
    /// The number of watches ever begun.
    var begun: Int { state.read { $0.begun } }

    func become(_ picture: NetworkSnapshot?) {
        let watchers = state.write { state in
            state.picture = picture
            return Array(state.watchers.values)
        }
        for changed in watchers { changed() }
    }

    func become(_ finding: NetworkView.Finding, for host: String) {
        let watchers = state.write { state in
            state.findings[host] = finding
            return Array(state.watchers.values)
        }
        for changed in watchers { changed() }
    }

    // MARK: pictures

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
        NetworkSnapshot(interfaces: [loopback, interface], defaultsIPv4: [interface.index])
    }
}
