// SPDX-License-Identifier: MIT

import Dispatch
import Lupine
import Testing

/// The reachability of a host, here one that is always reachable, and of the network.
@Suite struct ReachabilitySnippets {
    typealias Status = NetworkReachabilityManager.NetworkReachabilityStatus

    @Test func aManagerListens() async throws {
        let manager = NetworkReachabilityManager(host: "127.0.0.1")
        let status: Status = await handed { hand in
            // The guide omits the queue, whose default is the main queue; other tests may use that one.
            manager?.startListening(onQueue: DispatchQueue(label: "org.example.listener")) { status in
                print("Network Status Changed: \(status)")
                hand(status)
            }
        }
        manager?.stopListening()
        #expect(status == .reachable(.ethernetOrWiFi))
    }

    /// The guide's declaration, in switches without a default.
    @Test func aStatusHasThreeCases() {
        let rows: [(Status, String)] = [
            (.unknown, "unknown"), (.notReachable, "no"), (.reachable(.ethernetOrWiFi), "Ethernet or Wi-Fi"),
            (.reachable(.cellular), "cellular"),
        ]
        for (status, expected) in rows {
            let name: String
            switch status {
            case .unknown: name = "unknown"
            case .notReachable: name = "no"
            case .reachable(let connectionType):
                switch connectionType {
                case .ethernetOrWiFi: name = "Ethernet or Wi-Fi"
                case .cellular: name = "cellular"
                }
            }
            #expect(name == expected)
            #expect(rows.filter { $0.0 == status }.count == 1)
        }
    }

    @Test func aManagerShowsItsParts() throws {
        let manager = try #require(NetworkReachabilityManager.default)
        let flags: SCNetworkReachabilityFlags? = manager.flags
        let status: Status = manager.status
        let isReachable: Bool = manager.isReachable
        let queue: DispatchQueue = manager.reachabilityQueue
        #expect((flags == nil) == (status == .unknown))
        #expect(isReachable == (manager.isReachableOnCellular || manager.isReachableOnEthernetOrWiFi))
        #expect(!queue.label.isEmpty)
    }

    @Test func aManagerIsOfAHostOrOfTheNetwork() {
        #expect(NetworkReachabilityManager(host: "127.0.0.1")?.isReachable == true)
        #expect(NetworkReachabilityManager() != nil)
        #expect(NetworkReachabilityManager(host: "http://127.0.0.1") == nil)
    }

    @Test func listeningIsBegunAndEnded() async throws {
        let manager = try #require(NetworkReachabilityManager(host: "127.0.0.1"))
        let queue = DispatchQueue(label: "org.example.listener")
        // Each new listener is called with the status, also after listening was stopped.
        for _ in 0..<2 {
            let status: Status = await handed { hand in
                let isListening: Bool = manager.startListening(onQueue: queue, onUpdatePerforming: hand)
                #expect(isListening)
            }
            #expect(status == manager.status)
            manager.stopListening()
        }
    }
}
