// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineOrigin
import LupineTLS
import Testing

@testable import LupineTransport

/// Calls that a sink may make as soon as its exchange begins.
@Suite struct BeginningTests {
    @Test func aSinkCancelsItsExchangeAsItBegins() async throws {
        let plan = ScriptPlan(.expectEnd, .signal("closed"), .stall)
        try await withPool(plan) { stage in
            let sink = CancellingSink()
            var head = RequestHead(method: .get, target: .origin("/"), fields: Fields())
            try head.fields.append(.host, "origin.test")
            let exchange = Exchange(
                head: head,
                origin: LupineTransport.Origin(scheme: .http, host: "origin.test", port: stage.origin.port),
                sink: sink)
            sink.exchange.update { $0 = exchange }
            stage.pool.submit(exchange)
            await sink.ended.wait()
            // The exchange retains its sink, so the sink releases the exchange.
            sink.exchange.update { $0 = nil }
            #expect(sink.failures.value == [.cancelled])
            await stage.origin.gate("closed").wait()
        }
    }
}

/// Cancels its exchange in the first call that it receives.
private final class CancellingSink: ExchangeSink {
    let exchange = Box<Exchange?>(nil)
    let failures = Box<[TransportError?]>([])
    let ended = Gate()

    func begins(on loop: EventLoop, over evidence: PeerEvidence?) { exchange.value?.cancel() }
    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan { .deliver }
    func receivedContent(_ bytes: Span<UInt8>) -> Demand { .more }

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        let error: TransportError? = if case .failure(let error) = result { error } else { nil }
        failures.update { $0.append(error) }
        ended.open()
    }
}
