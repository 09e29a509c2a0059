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
        "start": .start, "ready": .ready, "cancel": .cancel(error), "load": .prepared(.load),
        "fromCache": .prepared(.answer),
        "unprepared": .prepared(.fail(lost)), "deliver": .judged(.deliver), "ask": .judged(.ask),
        "again": .judged(.again), "notModified": .judged(.cached), "alone": .judged(.deliverAlone),
        "refuse": .judged(.fail(lost)), "yes": .decided(.again), "no": .decided(.deliver),
        "noMore": .decided(.deliverAlone), "next": .decided(.ask), "never": .decided(.fail(lost)),
        "useCache": .decided(.cached),
        "done": .hopEnded(.success, .end), "broken": .hopEnded(.failure(lost), .end),
        "late": .hopEnded(.failure(URLError(.timedOut)), .end), "storable": .hopEnded(.success, .storable),
        "noNetwork": .hopEnded(.failure(URLError(.notConnectedToInternet)), .noNetwork),
        "tunnelAgain": .hopEnded(.failure(lost), .refused(.again)),
        "tunnelAsk": .hopEnded(.failure(lost), .refused(.ask)),
        "tunnelFail": .hopEnded(.failure(lost), .refused(.fail(lost))),
        "online": .online, "resumed": .resumed, "answered": .answered, "stored": .stored,
    ]

    static func text(_ actions: Machine.Actions) -> [String] {
        let order: [String] =
            switch actions.order {
            case .none: []
            case .start: ["hop.start"]
            case .proceed: ["hop.proceed"]
            case .skip: ["hop.skip"]
            case .cancel: ["hop.cancel"]
            }
        return actions.work.map { work in
            switch work {
            case .end(nil): "end"
            case .end(let error?): "end(\((error as? URLError)?.code.rawValue ?? 0))"
            case .prepare, .make, .announce, .respond, .ask, .wait, .answer, .pump, .offer: "\(work)"
            }
        } + order
    }

    /// A path through the machine: events, each with its actions.
    static let ways: [(summary: String, way: [(event: String, actions: [String])])] = [
        (
            "a plain load",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("deliver", ["respond"]),
                ("done", ["end"]),
            ]
        ),
        (
            "[U-12.6] a response that is stored",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("deliver", ["respond"]),
                ("storable", ["offer"]), ("stored", ["end"]),
            ]
        ),
        (
            "a redirect that is followed",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]),
                ("yes", ["hop.skip"]),
                ("done", ["prepare"]), ("load", ["announce", "hop.start"]), ("deliver", ["respond"]),
                ("done", ["end"]),
            ]
        ),
        (
            "a redirect that is delivered",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]),
                ("no", ["respond", "hop.proceed"]), ("broken", ["end(-1005)"]),
            ]
        ),
        (
            "a hop that ends while its redirect awaits the answer",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]), ("done", []),
                ("yes", ["prepare"]),
            ]
        ),
        (
            "the same, delivered",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]), ("broken", []),
                ("no", ["respond", "end(-1005)"]),
            ]
        ),
        (
            "the same, asked again, and cancelled",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]), ("done", []),
                ("next", ["ask"]), ("cancel", ["end(-999)"]), ("yes", []),
            ]
        ),
        (
            "the same, refused",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]), ("done", []),
                ("never", ["end(-1005)"]),
            ]
        ),
        (
            "[U-14.4] the resource time-out expires while a redirect awaits its answer",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]),
                ("late", ["end(-1001)"]),
                ("yes", []),
            ]
        ),
        (
            "[U-11.6] a challenge that is answered, and then another one",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]),
                ("next", ["ask"]),
                ("yes", ["hop.skip"]), ("done", ["prepare"]), ("load", ["announce", "hop.start"]),
                ("again", ["hop.skip"]), ("broken", ["prepare"]),
            ]
        ),
        (
            "a challenge that fails the load",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]),
                ("never", ["hop.cancel"]), ("done", ["end(-1005)"]),
            ]
        ),
        (
            "[U-17.6] a protocol's redirect that is not followed",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]),
                ("noMore", ["respond", "hop.skip"]), ("done", ["end"]),
            ]
        ),
        (
            "the same when it has ended",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]), ("done", []),
                ("noMore", ["respond", "end"]),
            ]
        ),
        (
            "a response that is delivered without its content",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]),
                ("alone", ["respond", "hop.skip"]),
                ("done", ["end"]),
            ]
        ),
        (
            "[U-12.13] the stored response is valid",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("notModified", ["hop.skip"]),
                ("done", ["answer"]), ("resumed", ["pump"]), ("answered", ["end"]),
            ]
        ),
        (
            "an answer that leads to the cache",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]),
                ("useCache", ["hop.skip"]), ("done", ["answer"]), ("answered", ["end"]),
            ]
        ),
        (
            "the same when the hop has ended",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]), ("done", []),
                ("useCache", ["answer"]), ("answered", ["end"]),
            ]
        ),
        (
            "[U-12.15] the cache has the response",
            [("start", ["prepare"]), ("fromCache", ["answer"]), ("answered", ["end"])]
        ),
        (
            "the cache's answer, cancelled",
            [("start", ["prepare"]), ("fromCache", ["answer"]), ("cancel", ["end(-999)"]), ("answered", [])]
        ),
        (
            "[U-14.7] no network, then one",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("noNetwork", ["wait"]),
                ("online", ["prepare"]), ("load", ["announce", "hop.start"]), ("online", []),
            ]
        ),
        (
            "no network, cancelled",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("noNetwork", ["wait"]),
                ("cancel", ["end(-999)"]), ("online", []),
            ]
        ),
        (
            "[U-11.17] a tunnel that the proxy refuses once",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("tunnelAgain", ["prepare"]),
                ("load", ["announce", "hop.start"]), ("tunnelAsk", ["ask"]), ("yes", ["prepare"]),
                ("load", ["announce", "hop.start"]), ("tunnelFail", ["end(-1005)"]),
            ]
        ),
        (
            "a response that fails the load",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("refuse", ["hop.cancel"]),
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
                ("start", ["prepare"]), ("ready", ["make"]), ("load", ["announce", "hop.start"]),
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
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("cancel", ["hop.cancel"]),
                ("deliver", []), ("done", ["end(-999)"]),
            ]
        ),
        (
            "cancelled while the response is delivered",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("deliver", ["respond"]),
                ("cancel", ["hop.cancel"]), ("storable", ["end(-999)"]),
            ]
        ),
        (
            "cancelled while a question is open",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("ask", ["ask"]),
                ("cancel", ["hop.cancel"]), ("yes", []), ("broken", ["end(-999)"]),
            ]
        ),
        (
            "cancelled between two hops",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("again", ["hop.skip"]),
                ("cancel", ["hop.cancel"]), ("done", ["end(-999)"]),
            ]
        ),
        (
            "cancelled while the response is stored",
            [
                ("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("deliver", ["respond"]),
                ("storable", ["offer"]), ("cancel", ["end(-999)"]), ("stored", []),
            ]
        ),
        (
            "a hop that ends without a response",
            [("start", ["prepare"]), ("load", ["announce", "hop.start"]), ("done", ["end"])]
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

    /// Feeds random events under the rules of a load: there is at most one hop, which ends once; work is answered later.
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
                case .judged: if hop != "running" { continue }
                case .start, .cancel, .prepared, .ready, .decided, .online, .resumed, .answered, .stored:
                    break
                }
                let actions = machine.handle(event)
                for work in actions.work {
                    #expect(ends == 0, "seed \(seed): \(work) after the end")
                    switch work {
                    case .end:
                        ends += 1
                        #expect(hop == nil, "seed \(seed): a hop is left")
                    case .prepare, .make, .answer, .wait, .offer: #expect(hop == nil, "seed \(seed): \(work)")
                    case .announce, .respond, .ask, .pump: break
                    }
                }
                switch actions.order {
                case .start:
                    #expect(hop == nil, "seed \(seed): two hops")
                    hop = "running"
                case .skip, .cancel, .proceed: #expect(hop != nil, "seed \(seed): an order to nobody")
                case .none: break
                }
                if case .judged = event, hop != nil { hop = "answered" }
            }
            _ = machine.handle(.cancel(Self.error)).work.map { _ in ends += 1 }
            if hop != nil {
                ends += machine.handle(.hopEnded(.success, .end)).work.count
            }
            #expect(ends == 1, "seed \(seed)")
            #expect(machine.isOver, "seed \(seed)")
        }
    }
}
