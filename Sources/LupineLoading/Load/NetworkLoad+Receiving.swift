// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineHTTP
import LupineTLS
import LupineTransport

/// The receiving half: turns what the connection reports into responses and pieces of content. All methods are called on the
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
            flow.earlier.append(metrics)
            flow.progress.restart()
        }
    }

    func sentContent(_ total: Int64) {
        let told = flow.withLock { flow -> Int64? in
            guard let loop = flow.loop else { return nil }
            return flow.progress.sent(total, at: loop.now)
        }
        tell(told)
    }

    /// Reports what was sent since the last report.
    private func tellProgress() { tell(flow.withLock { $0.progress.due() }) }

    private func tell(_ total: Int64?) {
        guard let total, !isCancelled else { return }
        client.hopSent(self, total: total, expected: flow.withLock { $0.progress.expected } ?? -1)
    }

    // MARK: heads

    func receivedInterim(_ head: ResponseHead) {
        guard let url = hop.request.url, !isCancelled else { return }
        client.hopReceivedInterimResponse(self, HTTPURLResponse(url: url, head: head, isDecoded: false))
    }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
        guard let url = hop.request.url, !isCancelled else { return .skip }
        tellProgress()
        let codings = codings(of: head, framing)
        let response = HTTPURLResponse(url: url, head: head, isDecoded: !codings.isEmpty)
        let shown = UncheckedSendable(response)
        let limit = settings.lupine.expansionLimit
        flow.withLock { flow in
            flow.response = shown.value
            if !codings.isEmpty { flow.decode(codings, limit: limit) }
            if framing == .chunked, codings.isEmpty { flow.chunks = .undecided }
        }
        // `upgraded` reports this response.
        if framing == .handover { return .deliver }
        if let evidence = evidence(decidingAbout: response) {
            readRoots(of: evidence, for: response, framing)
            return .pause
        }
        return contentPlan(for: response, framing)
    }

    /// Asks the client how to consume the content.
    private func contentPlan(for response: HTTPURLResponse, _ framing: BodyFraming) -> ContentPlan {
        let plan = client.hopReceivedResponse(self, response, storagePolicy: .allowed)
        if response.statusCode == 205, framing != .none { return skipped() }
        switch plan {
        case .deliver: return .deliver
        case .pause: return .pause
        case .skip: return skipped()
        case .splice(let target):
            return flow.withLock { flow in
                flow.isSaved = true
                guard flow.decodes else { return .splice(into: target) }
                flow.file = target
                return .deliver
            }
        }
    }

    /// The connection's evidence if a decision about storing the response or its cookies (U-12.3, U-13.17) needs trust roots
    /// that have not been read yet; otherwise nil.
    private func evidence(decidingAbout response: HTTPURLResponse) -> PeerEvidence? {
        guard let evidence, evidence.needsRoots else { return nil }
        let keepsCookies = settings.cookieStorage != nil && response.fields?.contains(.setCookie) ?? false
        return keepsCookies || settings.cache != nil ? evidence : nil
    }

    /// Reads the roots on a worker thread, then continues with the response. The exchange is paused meanwhile.
    private func readRoots(
        of evidence: PeerEvidence, for response: HTTPURLResponse, _ framing: BodyFraming
    ) {
        guard let loop = flow.withLock({ $0.loop }) else { return }
        evidence.readRoots(backOn: loop) { self.goOn(with: response, framing) }
    }

    private func goOn(with response: HTTPURLResponse, _ framing: BodyFraming) {
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

    private func skipped() -> ContentPlan {
        flow.withLock { $0.hasEnough = true }
        return .skip
    }

    /// The codings to decode (U-9.10, U-9.11). None if one of them is unknown, since then none can be decoded, nor for a part
    /// of a coded body, nor without a body.
    private func codings(of head: ResponseHead, _ framing: BodyFraming) -> [ContentCoding] {
        guard hop.mayDecode, settings.lupine.decodesContent, head.status.code != 206 else { return [] }
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
        case .gathered: return .more
        case .piece(let piece): return deliver(piece)
        case .coded: return decode(bytes)
        case .undecided:
            let isKept = client.hopWantsSeparateChunks(self)
            flow.withLock { $0.chunks = isKept ? .kept : .none }
            return receivedContent(bytes)
        }
    }

    func caughtUp() -> Demand {
        guard let piece = flow.withLock({ $0.gatherer.endTurn() }) else { return .more }
        return deliver(piece)
    }

    func spliced(_ count: Int) -> Demand {
        flow.withLock { $0.delivered += Int64(count) }
        guard !isCancelled else { return .enough }
        return heard(client.hopSpliced(self, count))
    }

    private func deliver(_ piece: Data) -> Demand {
        // Sets `hasEnough`, so that content decoded only in part does not count as truncated at the end.
        guard !isCancelled else { return heard(.enough) }
        let file = flow.withLock { flow -> FileTarget? in
            flow.delivered += Int64(piece.count)
            return flow.file
        }
        guard let file else { return heard(client.hopReceivedContent(self, piece)) }
        do throws(TransportError) { try file.write(piece.span) } catch {
            let failure = URLError.loading(.cannotWriteToFile, url: hop.request.url, underlying: error)
            flow.withLock { $0.failure = failure }
            return .enough
        }
        return heard(client.hopSpliced(self, piece.count))
    }

    private func heard(_ demand: Demand) -> Demand {
        if case .enough = demand { flow.withLock { $0.hasEnough = true } }
        return demand
    }

    // MARK: decoding

    /// Decodes piece by piece. Input that the client does not take now stays encoded, so that the expansion of a small body is
    /// never held as a whole. Nor does decoding take all of the loop's time: after some pieces it continues in the next turn,
    /// as after a pause.
    private func decode(_ bytes: Span<UInt8>) -> Demand {
        var start = 0
        while true {
            let (step, isEnough) = flow.withLock { flow in
                let step = flow.decodeStep(bytes.extracting(droppingFirst: start))
                return (step, flow.hasDecodedEnough(after: step))
            }
            switch step {
            case .done:
                if !isEnough { return .more }
                resumeReading()
                return .pause
            case .full(let consumed), .partly(let consumed): start += consumed
            case .failed(let error):
                let piece = flow.withLock { $0.gatherer.take() }
                if let piece, case .enough = deliver(piece) { return .enough }
                fail(error)
                return .enough
            }
            let piece = flow.withLock { $0.gatherer.room == 0 ? $0.gatherer.take() : nil }
            switch piece.map(deliver) ?? .more {
            case .more:
                if !isEnough { continue }
                keep(bytes.extracting(droppingFirst: start))
                resumeReading()
                return .pause
            case .enough: return .enough
            case .pause:
                keep(bytes.extracting(droppingFirst: start))
                return .pause
            }
        }
    }

    private func keep(_ rest: Span<UInt8>) {
        var waiting: [UInt8] = []
        waiting.append(rest, rest.indices)
        let kept = waiting
        flow.withLock { $0.waiting = kept }
    }

    /// Continues after a pause, first with the input that was kept, then with the connection.
    func goOnReading(_ exchange: Exchange) {
        if let waiting = flow.withLock({ $0.waiting.take() }) {
            switch decode(waiting.span) {
            case .more: break
            case .pause: return
            case .enough: return exchange.skip()
            }
        }
        exchange.resumeNow()
    }

    private func fail(_ error: CodingError) {
        let (url, origin) = (hop.request.url, WebOrigin(hop.request.url))
        let failure = URLError(
            .coding(host: origin?.host ?? "", port: UInt16(clamping: origin?.port ?? 0), error), url: url)
        flow.withLock { $0.failure = failure }
    }

    // MARK: the end

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        tellProgress()
        let (piece, isWhole) = flow.withLock { flow in
            (
                flow.hasEnough || flow.failure != nil ? nil : flow.gatherer.take(),
                !flow.hasEnough && flow.failure == nil
            )
        }
        var wantsMore = isWhole
        if let piece, !isCancelled, case .enough = deliver(piece) { wantsMore = false }
        if wantsMore, !isCancelled, case .success = result, let error = flow.withLock({ $0.finishDecoding() })
        {
            fail(error)
        }
        finish(result, flow.withLock { $0.earlier } + CollectionOfOne(metrics))
    }
}

/// Handles an upgraded connection that has no consumer.
private final class NoUpgrade: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
