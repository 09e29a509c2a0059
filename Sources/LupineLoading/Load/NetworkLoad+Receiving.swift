// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineHTTP
import LupineTLS
import LupineTransport

/// The receiving half: turns the events of the exchange into responses and pieces of content. All methods are called on the
/// connection's loop.
extension NetworkLoad: ExchangeSink {
    func begins(on loop: EventLoop, over evidence: PeerEvidence?) {
        flow.withLock { flow in
            flow.loop = loop
            flow.evidence = evidence
        }
    }

    var evidence: PeerEvidence? { flow.withLock { $0.evidence } }

    func willReplay(_ metrics: ExchangeMetrics) {
        flow.withLock { flow in
            flow.earlierAttempts.append(metrics)
            flow.progress.restart()
        }
    }

    func sentContent(_ count: Int64) {
        let total = flow.withLock { flow -> Int64? in
            guard let loop = flow.loop else { return nil }
            return flow.progress.update(count, at: loop.now)
        }
        report(total)
    }

    /// Reports the bytes that were sent since the last report.
    private func reportProgress() { report(flow.withLock { $0.progress.takeUnreported() }) }

    /// Reports the number of bytes sent, `total`, to the client, unless it is nil.
    private func report(_ total: Int64?) {
        guard let total, !isCancelled else { return }
        client.hopSent(self, total: total, expected: flow.withLock { $0.progress.expected } ?? -1)
    }

    // MARK: heads

    func receivedInterim(_ head: ResponseHead) {
        guard let url = hopRequest.request.url, !isCancelled else { return }
        client.hopReceivedInterimResponse(self, HTTPURLResponse(url: url, head: head, isDecoded: false))
    }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
        guard let url = hopRequest.request.url, !isCancelled else { return .skip }
        reportProgress()
        let codings = codings(of: head, framing)
        let response = HTTPURLResponse(url: url, head: head, isDecoded: !codings.isEmpty)
        // The closure of the lock captures only `Sendable` values.
        let sharedResponse = UncheckedSendable(response)
        let limit = settings.lupine.expansionLimit
        flow.withLock { flow in
            flow.response = sharedResponse.value
            if !codings.isEmpty { flow.decode(codings, limit: limit) }
            if framing == .chunked, codings.isEmpty { flow.chunks = .undecided }
        }
        // `upgraded` reports this response.
        if framing == .handover { return .deliver }
        if let evidence = evidenceNeedingRoots(for: response) {
            readRoots(of: evidence, for: response, framing)
            return .pause
        }
        return contentPlan(for: response, framing)
    }

    /// Passes the response to the client, and turns its `HopPlan` into the plan for the exchange.
    private func contentPlan(for response: HTTPURLResponse, _ framing: BodyFraming) -> ContentPlan {
        let plan = client.hopReceivedResponse(self, response, storagePolicy: .allowed)
        // A 205 has no content (RFC 9110 §15.3.6).
        if response.statusCode == 205, framing != .none { return skipContent() }
        switch plan {
        case .deliver: return .deliver
        case .pause: return .pause
        case .skip: return skipContent()
        case .splice(let target):
            return flow.withLock { flow in
                flow.goesToFile = true
                guard flow.isDecoding else { return .splice(into: target) }
                flow.file = target
                return .deliver
            }
        }
    }

    /// Returns the connection's evidence if storing the response or its cookies depends on trust roots that have not been read
    /// yet; otherwise nil. Both are stored for the party of the connection, which those roots identify (U-12.3, U-13.17).
    private func evidenceNeedingRoots(for response: HTTPURLResponse) -> PeerEvidence? {
        guard let evidence, evidence.needsRoots else { return nil }
        let keepsCookies = settings.cookieStorage != nil && response.fields?.contains(.setCookie) ?? false
        return keepsCookies || settings.cache != nil ? evidence : nil
    }

    /// Reads the trust roots on a worker thread, then continues with the response. The exchange is paused meanwhile.
    private func readRoots(
        of evidence: PeerEvidence, for response: HTTPURLResponse, _ framing: BodyFraming
    ) {
        guard let loop = flow.withLock({ $0.loop }) else { return }
        evidence.readRoots(backOn: loop) { self.continueReceiving(response, framing) }
    }

    /// Passes the response to the client, and resumes the paused exchange as the client's plan says.
    private func continueReceiving(_ response: HTTPURLResponse, _ framing: BodyFraming) {
        guard !isCancelled, isRunning else { return }
        switch contentPlan(for: response, framing) {
        case .pause: break
        case .deliver: resumeReading()
        case .skip: skip()
        case .splice(let target):
            save(into: target)
            resumeReading()
        }
    }

    /// Returns the plan that discards the content, and records that the exchange's end is then no error.
    private func skipContent() -> ContentPlan {
        flow.withLock { $0.discardsContent = true }
        return .skip
    }

    /// Returns the content codings to decode (U-9.10, U-9.11). Empty if one of them is unknown, because then none can be decoded;
    /// for a part of a coded body; and without a body.
    private func codings(of head: ResponseHead, _ framing: BodyFraming) -> [ContentCoding] {
        guard hopRequest.mayDecode, settings.lupine.decodesContent, head.status.code != 206 else { return [] }
        switch framing {
        case .none, .handover: return []
        case .length, .chunked, .untilClose: break
        }
        guard head.fields.contains(.contentEncoding) else { return [] }
        return (try? ContentCoding.list(head.fields.values(of: .contentEncoding))) ?? []
    }

    func upgraded(_ connection: UpgradedConnection) -> any UpgradeHandler {
        guard let response = flow.withLock({ UncheckedSendable($0.response as? HTTPURLResponse) }).value
        else {
            connection.close()
            return NoUpgrade()
        }
        return client.hopUpgraded(self, connection, response)
    }

    // MARK: content

    func receivedContent(_ bytes: Span<UInt8>) -> Demand {
        switch flow.withLock({ $0.add(bytes) }) {
        case .buffered: return .more
        case .piece(let piece): return deliver(piece)
        case .needsDecoding: return decode(bytes)
        case .undecided:
            let isSeparate = client.hopWantsSeparateChunks(self)
            flow.withLock { $0.chunks = isSeparate ? .separate : .none }
            return receivedContent(bytes)
        }
    }

    func inputExhausted() -> Demand {
        guard let piece = flow.withLock({ $0.collector.endTurn() }) else { return .more }
        return deliver(piece)
    }

    func spliced(_ count: Int) -> Demand {
        flow.withLock { $0.delivered += Int64(count) }
        guard !isCancelled else { return .enough }
        return noteDemand(client.hopSpliced(self, count))
    }

    /// Passes a piece to the client, or writes it to the file of the plan.
    private func deliver(_ piece: Data) -> Demand {
        // Sets `discardsContent`, so that partly decoded content does not count as truncated at the end.
        guard !isCancelled else { return noteDemand(.enough) }
        let file = flow.withLock { flow -> FileTarget? in
            flow.delivered += Int64(piece.count)
            return flow.file
        }
        guard let file else { return noteDemand(client.hopReceivedContent(self, piece)) }
        do throws(TransportError) { try file.write(piece.span) } catch {
            let failure = URLError.loading(.cannotWriteToFile, url: hopRequest.request.url, underlying: error)
            flow.withLock { $0.failure = failure }
            return .enough
        }
        return noteDemand(client.hopSpliced(self, piece.count))
    }

    /// Records `.enough`. Returns `demand`.
    private func noteDemand(_ demand: Demand) -> Demand {
        if case .enough = demand { flow.withLock { $0.discardsContent = true } }
        return demand
    }

    // MARK: decoding

    /// Decodes content piece by piece. After a pause of the client, the remaining input stays encoded, so that the expansion of a
    /// small body is never held as a whole. When the allowance of the loop's turn is spent, decoding continues in the next turn,
    /// as after a pause.
    private func decode(_ bytes: Span<UInt8>) -> Demand {
        var start = 0
        while true {
            let (step, isSpent) = flow.withLock { flow in
                let step = flow.decodeStep(bytes.extracting(droppingFirst: start))
                return (step, flow.isAllowanceSpent(after: step))
            }
            switch step {
            case .done:
                if !isSpent { return .more }
                resumeReading()
                return .pause
            case .full(let consumed), .partly(let consumed): start += consumed
            case .failed(let error):
                // What was decoded before the error is delivered.
                let piece = flow.withLock { $0.collector.take() }
                if let piece, case .enough = deliver(piece) { return .enough }
                fail(error)
                return .enough
            }
            let piece = flow.withLock { $0.collector.room == 0 ? $0.collector.take() : nil }
            let demand: Demand = if let piece { deliver(piece) } else { .more }
            switch demand {
            case .more:
                if !isSpent { continue }
                keepInput(bytes.extracting(droppingFirst: start))
                resumeReading()
                return .pause
            case .enough: return .enough
            case .pause:
                keepInput(bytes.extracting(droppingFirst: start))
                return .pause
            }
        }
    }

    /// Keeps encoded input until the client resumes.
    private func keepInput(_ input: Span<UInt8>) {
        var bytes: [UInt8] = []
        bytes.append(input, input.indices)
        let kept = bytes
        flow.withLock { $0.pendingInput = kept }
    }

    /// Continues after a pause: decodes the pending input, then reads from the connection.
    func continueReading(_ exchange: Exchange) {
        if let pendingInput = flow.withLock({ $0.pendingInput.take() }) {
            switch decode(pendingInput.span) {
            case .more: break
            case .pause: return
            case .enough: return exchange.skip()
            }
        }
        exchange.resumeNow()
    }

    private func fail(_ error: CodingError) {
        let (url, origin) = (hopRequest.request.url, WebOrigin(hopRequest.request.url))
        let failure = URLError(
            .coding(host: origin?.host ?? "", port: UInt16(clamping: origin?.port ?? 0), error), url: url)
        flow.withLock { $0.failure = failure }
    }

    // MARK: the end

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        reportProgress()
        let (piece, isContentWanted) = flow.withLock { flow in
            (
                flow.discardsContent || flow.failure != nil ? nil : flow.collector.take(),
                !flow.discardsContent && flow.failure == nil
            )
        }
        var checksCompleteness = isContentWanted
        if let piece, !isCancelled, case .enough = deliver(piece) { checksCompleteness = false }
        if checksCompleteness, !isCancelled, case .success = result,
            let error = flow.withLock({ $0.finishDecoding() })
        {
            fail(error)
        }
        finish(result, flow.withLock { $0.earlierAttempts } + CollectionOfOne(metrics))
    }
}

/// Handles an upgraded connection without a response.
private final class NoUpgrade: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
