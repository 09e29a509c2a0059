// SPDX-License-Identifier: MIT

import LupineHTTP

/// How streams and the connection end, and what happens to their exchanges.
///
/// A completion, which is a call to a sink that its exchange has ended, may close the connection or start a request on it. So
/// `completionDepth` delays a close until all completions have returned.
extension HTTP2Connection {
    /// Ends one stream because of a local error or a cancellation; the connection continues.
    func fail(_ stream: HTTP2Stream, _ error: TransportError) {
        perform(stream.machine.handle(.cancel), on: stream, .failure(error))
    }

    /// Performs the machine's actions. If the exchange ends, it ends with `result`. An error in `result` is ignored if the action
    /// is `succeed`, because the consumer has all it needs.
    func perform(
        _ actions: StreamExchangeMachine.Actions, on stream: HTTP2Stream,
        _ result: Result<Fields, TransportError>
    ) {
        guard actions.exchange != .keep, isCarrying(stream) else { return }
        if case .failure = result { finishSplice(of: stream) }
        var result = actions.exchange == .succeed ? result.flatMapError { _ in .success(Fields()) } : result
        // The owner has cancelled the exchange before this end, even if the loop job of the cancellation has not run yet.
        if let error = stream.deferredCancellation { result = .failure(error) }
        remove(stream)
        // `HTTP2Machine` sends RST_STREAM only if a half of the stream is still open.
        machine.reset(stream.id, .cancel)
        writeSoon()
        completionDepth += 1
        // Returned to the pool first, so that a request that the completion starts can reuse the connection.
        returnToPool()
        reportEnd(result, of: stream)
        completionDepth -= 1
        closeIfPending()
    }

    /// Ends a stream that the peer has not processed; the pool sends its exchange again, if possible.
    func sendAgain(_ stream: HTTP2Stream, _ error: TransportError) {
        // The exchange of a tunnel has ended, so only the tunnel's handler is told.
        if stream.tunnel != nil { return fail(stream, error) }
        if let error = stream.deferredCancellation { return fail(stream, error) }
        let actions = stream.machine.handle(.broken)
        guard actions.exchange == .fail else {
            // The consumer needs no more of the response, so the exchange succeeds.
            return perform(.init(exchange: .succeed), on: stream, .failure(error))
        }
        remove(stream)
        completionDepth += 1
        returnToPool()
        pool.replayOrFail(
            stream.exchange, stream.metrics, attributed(error, to: stream.exchange),
            requestBegan: stream.requestBegan, connectionWasReused: stream.metrics.isReused,
            isUnprocessed: true)
        completionDepth -= 1
        closeIfPending()
    }

    /// Ends the connection because of an error, and closes the socket. Streams with undelivered content still deliver it, and
    /// then the error. The pool sends the other exchanges again if they may be replayed, and fails them otherwise.
    func end(_ error: TransportError) {
        guard life == .open else { return }
        failure = error
        for stream in streams.ordered where stream.holdsResponse && stream.heldEnd == nil {
            stream.heldEnd = .broken(error)
        }
        let brokenStreams = streams.ordered.filter { $0.heldEnd == nil }
        closeSocket(delivering: brokenStreams.count < streams.count)
        // This comes before the completions, so that a request that a completion starts gets another connection.
        pool.retireConnection(id)
        completionDepth += 1
        for stream in brokenStreams where isCarrying(stream) {
            if let error = stream.deferredCancellation {
                fail(stream, error)
                continue
            }
            finishSplice(of: stream)
            // The sink that `finishSplice` calls may have cancelled the exchange.
            guard isCarrying(stream) else { continue }
            let actions = stream.machine.handle(.broken)
            guard actions.exchange == .fail else {
                // The consumer needs no more of the response, so the exchange succeeds.
                remove(stream)
                stream.exchange.end(.success(Fields()), stream.metrics)
                continue
            }
            remove(stream)
            let error = truncationError(of: stream, replacing: error)
            if let tunnel = stream.tunnel {
                tunnel.streamEnded(error)
                continue
            }
            // Not `metrics.isReused`: several exchanges may have begun before the connection carried its first response.
            pool.replayOrFail(
                stream.exchange, stream.metrics, attributed(error, to: stream.exchange),
                requestBegan: stream.requestBegan, connectionWasReused: stream.isOnUsedConnection)
        }
        failExchangesAwaitingSettings(error)
        completionDepth -= 1
        // This must come last: a pool that is shut down reports its end when it loses its last connection.
        if life == .closed { return pool.connectionClosed(id) }
        closeIfPending()
    }

    /// Performs a delayed close. After the last delivery on a connection that is `delivering`, reports its end to the pool.
    private func closeIfPending() {
        guard completionDepth == 0 else { return }
        if life == .delivering, streams.isEmpty {
            life = .closed
            pool.connectionClosed(id)
        } else if isClosePending {
            isClosePending = false
            close()
        }
    }

    /// Returns a more exact error if the connection ended without an error code in the middle of the stream's response; otherwise
    /// returns `error`.
    func truncationError(of stream: HTTP2Stream, replacing error: TransportError) -> TransportError {
        guard case .http(let host, let port, .truncated(.beforeHead)) = error, stream.metrics.version != nil
        else { return error }
        let received = stream.metrics.responseContentBytes
        let truncation: HTTPError.Truncation =
            if let expected = stream.expectedLength {
                .insideBody(received: received, expected: expected)
            } else {
                .insideBodyOfUnknownLength(received: received)
            }
        return .http(host: host, port: port, .truncated(truncation))
    }
}
