// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

struct SerializerChainTests {
    /// Returns a job that records its name.
    private static func job(_ name: String, _ ran: Protected<[String]>) -> Request.Job {
        Request.Job { ran.write { $0.append(name) } }
    }

    private static func serializer(
        _ name: String, _ ran: Protected<[String]>, isAwaited: Bool = false
    ) -> SerializerChain.Serializer {
        .init(needsSerializationQueue: true, isAwaited: isAwaited) { _ in ran.write { $0.append(name) } }
    }

    /// Performs the next step, and returns a description of it.
    private static func performNext(_ chain: SerializerChain, _ ran: Protected<[String]>) -> String {
        ran.write([])
        switch chain.next() {
        case .run(let serializer):
            serializer.run(true)
            return "run " + ran.read { $0.joined(separator: " ") }
        case .deliver:
            chain.deliver(toHandlers: true)
            let handlers = ran.read { $0.joined(separator: " ") }
            ran.write([])
            chain.deliver(toHandlers: false)
            let tasks = ran.read { $0.joined(separator: " ") }
            return "deliver \(handlers)" + (tasks.isEmpty ? "" : " then \(tasks)")
        }
    }

    @Test("[R-42, R-43] serializers run in order, and no handler is called before all have run")
    func order() {
        let ran = Protected<[String]>([])
        var chain = SerializerChain()
        chain.append(Self.serializer("a", ran))
        chain.append(Self.serializer("b", ran))
        #expect(Self.performNext(chain, ran) == "run a")
        #expect(Self.performNext(chain, ran) == "run a", "a step is repeated until its delivery is added")
        chain.addDelivery(Self.job("A", ran))
        #expect(Self.performNext(chain, ran) == "run b")
        // Added while the pass runs.
        chain.append(Self.serializer("c", ran))
        chain.addDelivery(Self.job("B", ran))
        #expect(Self.performNext(chain, ran) == "run c")
        chain.addDelivery(Self.job("C", ran))
        #expect(Self.performNext(chain, ran) == "deliver A B C")
    }

    @Test("[R-43, O-5] handlers are called before tasks are resumed, each group in order")
    func handlersFirst() {
        let ran = Protected<[String]>([])
        var chain = SerializerChain()
        for (name, isAwaited) in [("a", true), ("b", false), ("c", true), ("d", false)] {
            chain.append(Self.serializer(name, ran, isAwaited: isAwaited))
            chain.addDelivery(Self.job(name.uppercased(), ran))
        }
        #expect(chain.hasHandlers)
        #expect(Self.performNext(chain, ran) == "deliver B D then A C")
    }

    @Test("[R-54] after a restart all serializers run again, and earlier values are not delivered")
    func restart() {
        let ran = Protected<[String]>([])
        var chain = SerializerChain()
        chain.append(Self.serializer("a", ran))
        chain.append(Self.serializer("b", ran))
        chain.addDelivery(Self.job("A", ran))
        #expect(chain.restart().count == 1)
        #expect(Self.performNext(chain, ran) == "run a")
        chain.addDelivery(Self.job("A2", ran))
        chain.addDelivery(Self.job("B2", ran))
        #expect(Self.performNext(chain, ran) == "deliver A2 B2")
    }

    @Test("[O-5] a chain whose content was removed retains nothing")
    func takeAll() {
        final class Held: Sendable {}
        weak var serializer: Held?
        weak var delivery: Held?
        var chain = SerializerChain()
        do {
            let (first, second) = (Held(), Held())
            (serializer, delivery) = (first, second)
            chain.append(.init(needsSerializationQueue: true, isAwaited: false) { _ in _ = first })
            chain.addDelivery(Request.Job { _ = second })
        }
        #expect(serializer != nil && delivery != nil)
        _ = chain.takeAll()
        #expect(serializer == nil && delivery == nil)
        #expect(Self.performNext(chain, Protected([])) == "deliver ")
    }
}
