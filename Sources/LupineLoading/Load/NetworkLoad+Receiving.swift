// SPDX-License-Identifier: MIT

import Foundation
import LupineCoding
import LupineHTTP
import LupineTLS
import LupineTransport

/// The methods that receive the response: they turn the events of the exchange into responses and pieces of content for the
/// client. The transport calls all of them on the connection's loop.
extension NetworkLoad: ExchangeSink {
    func begins(on loop: EventLoop, over evidence: PeerEvidence?) {
        responseState.withLock { responseState in
            responseState.loop = loop
            responseState.evidence = evidence
        }
    }

    var evidence: PeerEvidence? { responseState.withLock { $0.evidence } }

    func willReplay(_ metrics: ExchangeMetrics) {
        responseState.withLock { responseState in
            responseState.earlierAttempts.append(metrics)
            responseState.sendProgress.restart()
        }
    }

    func sentContent(_ total: Int64) {
        let unreportedTotal = responseState.withLock { responseState -> Int64? in
            guard let loop = responseState.loop else { return nil }
            return responseState.sendProgress.update(total, at: loop.now)
        }
        reportSent(unreportedTotal)
    }

    /// Reports to the client how many bytes of the body have been sent in total, if there are more than at the last report.
    private func reportUnreportedBytes() {
        reportSent(responseState.withLock { $0.sendProgress.takeUnreported() })
    }

    /// Reports to the client how many bytes of the body have been sent in total. No effect if `total` is nil.
    private func reportSent(_ total: Int64?) {
        guard let total, !isCancelled else { return }
        // -1 stands for an unknown length.
        client.hopSent(
            self, total: total, expected: responseState.withLock { $0.sendProgress.expectedBytes } ?? -1)
    }

    // MARK: heads

    func receivedInterim(_ head: ResponseHead) {
        guard let url = hopRequest.request.url, !isCancelled else { return }
        client.hopReceivedInterimResponse(self, HTTPURLResponse(url: url, head: head, isDecoded: false))
    }

    func receivedHead(_ head: ResponseHead, framing: BodyFraming) -> ContentPlan {
        guard let url = hopRequest.request.url, !isCancelled else { return .skip }
        reportUnreportedBytes()
        let codings = codings(of: head, framing)
        let response = HTTPURLResponse(url: url, head: head, isDecoded: !codings.isEmpty)
        // The closure of the lock captures only `Sendable` values.
        let sharedResponse = UncheckedSendable(response)
        let limit = settings.lupine.expansionLimit
        responseState.withLock { responseState in
            responseState.response = sharedResponse.value
            if !codings.isEmpty { responseState.decoder = ContentDecoder(codings, limit: limit) }
            if framing == .chunked, codings.isEmpty { responseState.chunkDelivery = .undecided }
        }
        // The connection switches to another protocol: `upgraded` reports this response.
        if framing == .handover { return .deliver }
        if let evidence = evidenceNeedingRoots(for: response) {
            readRoots(of: evidence, for: response, framing)
            return .pause
        }
        return contentPlan(for: response, framing)
    }

    /// Passes the response to the client. Returns the plan for the exchange that corresponds to the client's `HopPlan`.
    private func contentPlan(for response: HTTPURLResponse, _ framing: BodyFraming) -> ContentPlan {
        let plan = client.hopReceivedResponse(self, response, storagePolicy: .allowed)
        // A 205 has no content (RFC 9110 §15.3.6). Whatever the client plans, bytes that follow are discarded.
        if response.statusCode == 205, framing != .none { return skipContent() }
        switch plan {
        case .deliver: return .deliver
        case .pause: return .pause
        case .skip: return skipContent()
        case .splice(let target):
            return responseState.withLock { responseState in
                responseState.goesToFile = true
                // The kernel cannot decode: decoded content is written to the file by `deliver`.
                guard responseState.isDecoding else { return .splice(into: target) }
                responseState.decodedContentFile = target
                return .deliver
            }
        }
    }

    /// Returns the connection's evidence if storing the response or its cookies depends on trust roots that have not been read
    /// yet; otherwise nil. The result of the default evaluation of the server's chain decides which tasks may receive what is
    /// stored. That evaluation needs the roots (U-12.3, U-13.17).
    private func evidenceNeedingRoots(for response: HTTPURLResponse) -> PeerEvidence? {
        guard let evidence, evidence.needsRoots else { return nil }
        let keepsCookies = settings.cookieStorage != nil && response.fields?.contains(.setCookie) ?? false
        return keepsCookies || settings.cache != nil ? evidence : nil
    }

    /// Reads the trust roots on a worker thread, then continues with the response. The exchange is paused meanwhile.
    private func readRoots(
        of evidence: PeerEvidence, for response: HTTPURLResponse, _ framing: BodyFraming
    ) {
        guard let loop = responseState.withLock({ $0.loop }) else { return }
        evidence.readRoots(backOn: loop) { self.continueReceiving(response, framing) }
    }

    /// Passes the response to the client, and resumes the paused exchange as the client's plan says.
    private func continueReceiving(_ response: HTTPURLResponse, _ framing: BodyFraming) {
        // The exchange may have been cancelled, or have ended, while the roots were read.
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

    /// Returns the plan that discards the content. Records it, so that the early end of the exchange does not count as an error.
    private func skipContent() -> ContentPlan {
        responseState.withLock { $0.discardsContent = true }
        return .skip
    }

    /// Returns the content codings to decode (U-9.10, U-9.11); none if the request or the session forbids decoding.
    private func codings(of head: ResponseHead, _ framing: BodyFraming) -> [ContentCoding] {
        guard hopRequest.mayDecode, settings.lupine.decodesContent else { return [] }
        return ContentDecoder.codings(of: head, framing: framing)
    }

    func upgraded(_ connection: UpgradedConnection) -> any UpgradeHandler {
        let sharedResponse = responseState.withLock { UncheckedSendable($0.response as? HTTPURLResponse) }
        guard let response = sharedResponse.value else {
            connection.close()
            return MissingResponseUpgradeHandler()
        }
        return client.hopUpgraded(self, connection, response)
    }

    // MARK: content

    func receivedContent(_ bytes: Span<UInt8>) -> Demand {
        switch responseState.withLock({ $0.add(bytes) }) {
        case .buffered: return .more
        case .piece(let piece): return deliver(piece)
        case .needsDecoding: return decode(bytes)
        case .undecided:
            let isSeparate = client.hopWantsSeparateChunks(self)
            responseState.withLock { $0.chunkDelivery = isSeparate ? .separate : .joined }
            // Adds the bytes, which `add` did not take while this was undecided.
            return receivedContent(bytes)
        }
    }

    /// The connection has no more input in this turn of the loop: delivers the bytes that were joined in the turn.
    func inputExhausted() -> Demand {
        guard let piece = responseState.withLock({ $0.collector.endTurn() }) else { return .more }
        return deliver(piece)
    }

    func spliced(_ count: Int) -> Demand {
        responseState.withLock { $0.deliveredBytes += Int64(count) }
        // Nothing is recorded, unlike in `deliver`: spliced content has no decoder that checks whether it is complete.
        guard !isCancelled else { return .enough }
        return recordDemand(client.hopSpliced(self, count))
    }

    /// Passes a piece to the client, or writes it to the file of the client's plan.
    private func deliver(_ piece: Data) -> Demand {
        // After a cancellation, `.enough` sets `discardsContent`: `exchangeEnded` then does not check whether the content is
        // complete.
        guard !isCancelled else { return recordDemand(.enough) }
        let file = responseState.withLock { responseState -> FileTarget? in
            responseState.deliveredBytes += Int64(piece.count)
            return responseState.decodedContentFile
        }
        guard let file else { return recordDemand(client.hopReceivedContent(self, piece)) }
        do throws(TransportError) { try file.write(piece.span) } catch {
            let failure = URLError.loading(.cannotWriteToFile, url: hopRequest.request.url, underlying: error)
            responseState.withLock { $0.failure = failure }
            return .enough
        }
        return recordDemand(client.hopSpliced(self, piece.count))
    }

    /// Records that the client wants no more content if `demand` is `.enough`. Returns `demand`.
    private func recordDemand(_ demand: Demand) -> Demand {
        if case .enough = demand { responseState.withLock { $0.discardsContent = true } }
        return demand
    }

    // MARK: decoding

    /// Decodes content piece by piece. While the client pauses, the remaining input stays encoded, so that the decoded content of
    /// a small body never fills the memory. When the allowance of the loop's turn is spent, decoding continues in the next turn,
    /// as after a pause.
    private func decode(_ bytes: Span<UInt8>) -> Demand {
        var decodedCount = 0
        while true {
            let (result, isAllowanceSpent) = responseState.withLock { responseState in
                responseState.decode(bytes.extracting(droppingFirst: decodedCount))
            }
            switch result {
            case .inputConsumed:
                if !isAllowanceSpent { return .more }
                // Pauses until the next turn, in which the job of `resumeReading` runs.
                resumeReading()
                return .pause
            case .pieceFull(let consumed), .limitReached(let consumed): decodedCount += consumed
            case .failed(let error):
                // The content that was decoded before the error is delivered.
                let piece = responseState.withLock { $0.collector.takePiece() }
                if let piece, case .enough = deliver(piece) { return .enough }
                fail(error)
                return .enough
            }
            let piece = responseState.withLock { $0.collector.room == 0 ? $0.collector.takePiece() : nil }
            let demand: Demand = if let piece { deliver(piece) } else { .more }
            switch demand {
            case .more:
                if !isAllowanceSpent { continue }
                storePendingInput(bytes.extracting(droppingFirst: decodedCount))
                // As above, decoding continues in the next turn.
                resumeReading()
                return .pause
            case .enough: return .enough
            case .pause:
                storePendingInput(bytes.extracting(droppingFirst: decodedCount))
                return .pause
            }
        }
    }

    /// Copies encoded input, which is decoded when the client resumes.
    private func storePendingInput(_ encoded: Span<UInt8>) {
        var bytes: [UInt8] = []
        bytes.append(encoded, encoded.indices)
        // A constant, which the closure may capture.
        let input = bytes
        responseState.withLock { $0.decoder?.pendingInput = input }
    }

    /// Continues after a pause: decodes the pending input, then reads from the connection.
    func continueReading(_ exchange: Exchange) {
        if let pendingInput = responseState.withLock({ $0.decoder?.pendingInput.take() }) {
            switch decode(pendingInput.span) {
            case .more: break
            case .pause: return
            case .enough: return exchange.skip()
            }
        }
        exchange.resumeNow()
    }

    /// Records a decoding error. The hop ends with it when the exchange has ended.
    private func fail(_ error: CodingError) {
        let (url, origin) = (hopRequest.request.url, WebOrigin(hopRequest.request.url))
        let failure = URLError(
            .coding(host: origin?.host ?? "", port: UInt16(clamping: origin?.port ?? 0), error), url: url)
        responseState.withLock { $0.failure = failure }
    }

    // MARK: the end

    func exchangeEnded(_ result: Result<Fields, TransportError>, _ metrics: ExchangeMetrics) {
        reportUnreportedBytes()
        let (piece, isContentWanted) = responseState.withLock { responseState -> (Data?, Bool) in
            let isContentWanted = !responseState.discardsContent && responseState.failure == nil
            return (isContentWanted ? responseState.collector.takePiece() : nil, isContentWanted)
        }
        // Content that the client does not want may be incomplete.
        var checksCompleteness = isContentWanted
        if let piece, !isCancelled, case .enough = deliver(piece) { checksCompleteness = false }
        if checksCompleteness, !isCancelled, case .success = result,
            let error = responseState.withLock({ $0.decoder?.finish() })
        {
            fail(error)
        }
        finish(result, responseState.withLock { $0.earlierAttempts } + CollectionOfOne(metrics))
    }
}

/// Ignores the bytes of an upgraded connection whose response is unknown. The connection is closed.
private final class MissingResponseUpgradeHandler: UpgradeHandler {
    func received(_ bytes: Span<UInt8>) -> Demand { .enough }
    func drained() {}
    func closed(_ error: TransportError?) {}
}
