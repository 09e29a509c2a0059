// SPDX-License-Identifier: MIT

import Foundation
import LupineTestKit
import Testing

@testable import LupineLoading

struct HopMachineTests {
    typealias Machine = HopMachine

    static let error = URLError(.cancelled)
    static let lost = URLError(.networkConnectionLost)

    static let events: [String: Machine.Event] = [
        "start": .start, "ready": .canContinuePreparing, "cancel": .cancel(error),
        "load": .preparationEnded(.startHop),
        "fromCache": .preparationEnded(.deliverCached),
        "unprepared": .preparationEnded(.fail(lost)), "deliver": .responseArrived(.deliver),
        "ask": .responseArrived(.ask),
        "again": .responseArrived(.nextHop), "notModified": .responseArrived(.deliverCached),
        "alone": .responseArrived(.deliverWithoutContent),
        "refuse": .responseArrived(.fail(lost)), "yes": .questionAnswered(.nextHop),
        "no": .questionAnswered(.deliver),
        "noMore": .questionAnswered(.deliverWithoutContent), "next": .questionAnswered(.ask),
        "never": .questionAnswered(.fail(lost)),
        "useCache": .questionAnswered(.deliverCached),
        "done": .hopEnded(.success, .endLoad), "broken": .hopEnded(.failure(lost), .endLoad),
        "late": .hopEnded(.failure(URLError(.timedOut)), .endLoad),
        "storable": .hopEnded(.success, .storable),
        "noNetwork": .hopEnded(.failure(URLError(.notConnectedToInternet)), .noNetwork),
        "tunnelAgain": .hopEnded(.failure(lost), .refusedByProxy(.nextHop)),
        "tunnelAsk": .hopEnded(.failure(lost), .refusedByProxy(.ask)),
        "tunnelFail": .hopEnded(.failure(lost), .refusedByProxy(.fail(lost))),
        "online": .networkChanged, "resumed": .clientResumed, "answered": .cachedResponseDelivered,
        "stored": .storageFinished,
    ]

    static func text(_ actions: Machine.Actions) -> [String] {
        let command: [String] =
            switch actions.command {
            case .none: []
            case .start: ["hop.start"]
            case .applyPlan: ["hop.applyPlan"]
            case .skip: ["hop.skip"]
            case .cancel: ["hop.cancel"]
            }
        return actions.steps.map { step in
            switch step {
            case .end(nil): "end"
            case .end(let error?): "end(\((error as? URLError)?.code.rawValue ?? 0))"
            case .prepare, .continuePreparing, .reportRequest, .deliverResponse, .ask, .waitForNetwork,
                .deliverCached, .continueDelivery, .askWhatToStore:
                "\(step)"
            }
        } + command
    }

    /// A path through the machine: events, each with its actions.
    static let ways: [(summary: String, way: [(event: String, actions: [String])])] = [
        (
            "a plain load",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("deliver", ["deliverResponse"]),
                ("done", ["end"]),
            ]
        ),
        (
            "[U-12.6] a response that is stored",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("deliver", ["deliverResponse"]),
                ("storable", ["askWhatToStore"]), ("stored", ["end"]),
            ]
        ),
        (
            "a redirect that is followed",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("yes", ["hop.skip"]),
                ("done", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("deliver", ["deliverResponse"]),
                ("done", ["end"]),
            ]
        ),
        (
            "a redirect that is delivered",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("no", ["deliverResponse", "hop.applyPlan"]), ("broken", ["end(-1005)"]),
            ]
        ),
        (
            "a hop that ends while its redirect awaits the answer",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("done", []),
                ("yes", ["prepare"]),
            ]
        ),
        (
            "the same, delivered",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("broken", []),
                ("no", ["deliverResponse", "end(-1005)"]),
            ]
        ),
        (
            "the same, asked again, and cancelled",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("done", []),
                ("next", ["ask"]), ("cancel", ["end(-999)"]), ("yes", []),
            ]
        ),
        (
            "the same, refused",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("done", []),
                ("never", ["end(-1005)"]),
            ]
        ),
        (
            "[U-14.4] the resource time-out expires while a redirect awaits its answer",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("late", ["end(-1001)"]),
                ("yes", []),
            ]
        ),
        (
            "[U-11.6] a challenge that is answered, and then another one",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("next", ["ask"]),
                ("yes", ["hop.skip"]), ("done", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("again", ["hop.skip"]), ("broken", ["prepare"]),
            ]
        ),
        (
            "a challenge that fails the load",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("never", ["hop.cancel"]), ("done", ["end(-1005)"]),
            ]
        ),
        (
            "[U-17.6] a protocol's redirect that is not followed",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("noMore", ["deliverResponse", "hop.skip"]), ("done", ["end"]),
            ]
        ),
        (
            "the same when it has ended",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("done", []),
                ("noMore", ["deliverResponse", "end"]),
            ]
        ),
        (
            "a response that is delivered without its content",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("alone", ["deliverResponse", "hop.skip"]),
                ("done", ["end"]),
            ]
        ),
        (
            "[U-12.13] the stored response is valid",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("notModified", ["hop.skip"]),
                ("done", ["deliverCached"]), ("resumed", ["continueDelivery"]), ("answered", ["end"]),
            ]
        ),
        (
            "an answer that leads to the cache",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("useCache", ["hop.skip"]), ("done", ["deliverCached"]), ("answered", ["end"]),
            ]
        ),
        (
            "the same when the hop has ended",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("done", []),
                ("useCache", ["deliverCached"]), ("answered", ["end"]),
            ]
        ),
        (
            "[U-12.15] the cache has the response",
            [("start", ["prepare"]), ("fromCache", ["deliverCached"]), ("answered", ["end"])]
        ),
        (
            "the cache's answer, cancelled",
            [
                ("start", ["prepare"]), ("fromCache", ["deliverCached"]), ("cancel", ["end(-999)"]),
                ("answered", []),
            ]
        ),
        (
            "[U-14.7] no network, then one",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("noNetwork", ["waitForNetwork"]),
                ("online", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("online", []),
            ]
        ),
        (
            "[U-14.7] no network, which changes during the next attempt",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("noNetwork", ["waitForNetwork"]),
                ("online", ["prepare"]), ("online", []), ("load", ["reportRequest", "hop.start"]),
                ("online", []), ("noNetwork", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("noNetwork", ["waitForNetwork"]), ("online", ["prepare"]),
            ]
        ),
        (
            "no network, cancelled",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("noNetwork", ["waitForNetwork"]),
                ("cancel", ["end(-999)"]), ("online", []),
            ]
        ),
        (
            "[U-11.17] a tunnel that the proxy refuses once",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("tunnelAgain", ["prepare"]),
                ("load", ["reportRequest", "hop.start"]), ("tunnelAsk", ["ask"]), ("yes", ["prepare"]),
                ("load", ["reportRequest", "hop.start"]), ("tunnelFail", ["end(-1005)"]),
            ]
        ),
        (
            "a response that fails the load",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("refuse", ["hop.cancel"]),
                ("cancel", []), ("done", ["end(-1005)"]),
            ]
        ),
        (
            "a request that cannot be sent",
            [("start", ["prepare"]), ("unprepared", ["end(-1005)"]), ("cancel", [])]
        ),
        ("cancelled before the start", [("cancel", ["end(-999)"]), ("start", [])]),
        (
            "a hop whose preparation waits",
            [
                ("start", ["prepare"]), ("ready", ["continuePreparing"]),
                ("load", ["reportRequest", "hop.start"]),
                ("ready", []),
            ]
        ),
        (
            "cancelled before the preparation is ready",
            [("start", ["prepare"]), ("cancel", ["end(-999)"]), ("ready", [])]
        ),
        (
            "cancelled while the hop is prepared",
            [("start", ["prepare"]), ("cancel", ["end(-999)"]), ("load", [])]
        ),
        (
            "cancelled while the hop runs",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("cancel", ["hop.cancel"]),
                ("deliver", []), ("done", ["end(-999)"]),
            ]
        ),
        (
            "cancelled while the response is delivered",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("deliver", ["deliverResponse"]),
                ("cancel", ["hop.cancel"]), ("storable", ["end(-999)"]),
            ]
        ),
        (
            "cancelled while a question is open",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("ask", ["ask"]),
                ("cancel", ["hop.cancel"]), ("yes", []), ("broken", ["end(-999)"]),
            ]
        ),
        (
            "cancelled between two hops",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("again", ["hop.skip"]),
                ("cancel", ["hop.cancel"]), ("done", ["end(-999)"]),
            ]
        ),
        (
            "cancelled while the response is stored",
            [
                ("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]),
                ("deliver", ["deliverResponse"]),
                ("storable", ["askWhatToStore"]), ("cancel", ["end(-999)"]), ("stored", []),
            ]
        ),
        (
            "a hop that ends without a response",
            [("start", ["prepare"]), ("load", ["reportRequest", "hop.start"]), ("done", ["end"])]
        ),
    ]

    @Test(arguments: ways)
    func everyWay(summary: String, way: [(event: String, actions: [String])]) throws {
        var machine = Machine()
        for step in way {
            let actions = machine.handle(try #require(Self.events[step.event]))
            #expect(Self.text(actions) == step.actions, "\(summary): \(step.event)")
        }
    }

    /// Feeds random events under the rules of a load: there is at most one hop, which ends once; the results of steps arrive
    /// later.
    @Test("[U-5.1] random events in random order: one end, nothing after it, and no hop is left")
    func anyOrder() throws {
        let names = Self.events.keys.sorted()
        for seed in 0..<4_000 {
            var random = SeededRandom(seed: UInt64(seed))
            var machine = Machine()
            var ends = 0
            // Nil if there is no hop.
            var hop: String?
            for _ in 0..<40 {
                let name = names.randomElement(using: &random) ?? ""
                let event = try #require(Self.events[name])
                switch event {
                case .hopEnded:
                    // Only an existing hop ends, and only once.
                    if hop == nil { continue }
                    hop = nil
                case .responseArrived: if hop != "running" { continue }
                case .start, .cancel, .preparationEnded, .canContinuePreparing, .questionAnswered,
                    .networkChanged,
                    .clientResumed, .cachedResponseDelivered, .storageFinished:
                    break
                }
                let actions = machine.handle(event)
                for step in actions.steps {
                    #expect(ends == 0, "seed \(seed): \(step) after the end")
                    switch step {
                    case .end:
                        ends += 1
                        #expect(hop == nil, "seed \(seed): a hop is left")
                    case .prepare, .continuePreparing, .deliverCached, .waitForNetwork, .askWhatToStore:
                        #expect(hop == nil, "seed \(seed): \(step)")
                    case .reportRequest, .deliverResponse, .ask, .continueDelivery: break
                    }
                }
                switch actions.command {
                case .start:
                    #expect(hop == nil, "seed \(seed): two hops")
                    hop = "running"
                case .skip, .cancel, .applyPlan:
                    #expect(hop != nil, "seed \(seed): a command without a hop")
                case .none: break
                }
                if case .responseArrived = event, hop != nil { hop = "answered" }
            }
            _ = machine.handle(.cancel(Self.error)).steps.map { _ in ends += 1 }
            if hop != nil {
                ends += machine.handle(.hopEnded(.success, .endLoad)).steps.count
            }
            #expect(ends == 1, "seed \(seed)")
            #expect(machine.isOver, "seed \(seed)")
        }
    }
}
