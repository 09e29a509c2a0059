// SPDX-License-Identifier: MIT

import Glibc
import LupineHTTP
import LupineOrigin
import Testing

@testable import LupineTransport

/// An upload to a peer that reads without delay lets the loop serve its other connections.
@Suite struct GivingWayTests {
    @Test func aLongUploadGivesWay() async throws {
        let count = 8 << 20
        let path = try temporaryFile([UInt8](repeating: 1, count: count))
        defer { _ = unsafe unlink(path) }
        try await withPool(ScriptPlan(.expectHead, .expectBytes(count), .reply(), .stall)) { stage in
            let sink = StepCountingSink()
            var head = RequestHead(method: .put, target: .origin("/"), fields: Fields())
            try head.fields.append(.host, "origin.test")
            let file = FileSource(try Descriptor.reading(path: path), offset: 0, count: Int64(count))
            let exchange = Exchange(
                head: head, content: .file(file),
                origin: LupineTransport.Origin(scheme: .http, host: "origin.test", port: stage.origin.port),
                sink: sink)
            stage.pool.submit(exchange)
            await sink.ended.wait()
            #expect(sink.state.value.hasSucceeded)
            #expect(1...17 ~= sink.state.value.steps, "\(sink.state.value.steps)")
        }
    }
}

/// Counts the steps of an upload until another job has run on the loop.
private final class StepCountingSink: ExchangeSink {
    struct State {
        var loop: EventLoop?
        var steps = 0
        var otherJobHasRun = false
        var hasSucceeded = false
    }

    let state = Box(State())
    let ended = Gate()

    func begins(on loop: EventLoop, over evidence: PeerEvidence?) { state.update { $0.loop = loop } }

    func sentContent(_ total: Int64) {
        if state.value.otherJobHasRun { return }
        state.update { $0.steps += 1 }
        guard state.value.steps == 1 else { return }
        state.value.loop?.executeOnLoop { [state] in state.update { $0.otherJobHasRun = true } }
    }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan { .deliver }
    func receivedContent(_ bytes: Span<UInt8>) -> Demand { .more }

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        state.update { state in
            state.loop = nil
            if case .success = result { state.hasSucceeded = true }
        }
        ended.open()
    }
}
