// SPDX-License-Identifier: MIT

import LupineHTTP

/// How streams and the connection end, and what becomes of their exchanges.
///
/// A completion may close the connection, or start a request that gets it: `completionDepth` puts the close off until the
/// completions have returned.
extension HTTP2Connection {
    /// Ends one stream because of a local error or a cancellation; the connection continues.
    func fail(_ stream: HTTP2Stream, _ error: TransportError) {
        perform(stream.machine.handle(.cancel), on: stream, .failure(error))
    }

    /// Performs the machine's actions. If the exchange ends, it ends with `result`; but an exchange that has received all it
    /// needs succeeds despite an error.
    func perform(
        _ actions: StreamExchangeMachine.Actions, on stream: HTTP2Stream,
        _ result: Result<Fields, TransportError>
    ) {
        guard actions.exchange != .keep, isCarrying(stream) else { return }
        if case .failure = result { keepGathered(of: stream) }
        var result = actions.exchange == .succeed ? result.flatMapError { _ in .success(Fields()) } : result
        if let error = stream.deferredCancellation { result = .failure(error) }
        remove(stream)
        // The machine sends RST_STREAM only if a half of the stream is open.
        machine.reset(stream.id, .cancel)
        writeSoon()
        completionDepth += 1
        // Returned to the pool first, so that a request started from the completion can reuse it.
        returnToPool()
        reportEnd(result, of: stream)
        completionDepth -= 1
        closeIfDue()
    }

    /// Handles a stream that the peer has not processed: its exchange is sent again, if possible.
    func sendAgain(_ stream: HTTP2Stream, _ error: TransportError) {
        if stream.tunnel != nil { return fail(stream, error) }
        if let error = stream.deferredCancellation { return fail(stream, error) }
        guard stream.machine.handle(.broken).exchange == .fail else {
            // The consumer needs no more of the response.
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
        closeIfDue()
    }

    /// Ends the connection. Streams with undelivered content still deliver it, followed by the error. The pool sends the other
    /// exchanges again if they may be replayed, and fails them otherwise.
    func end(_ error: TransportError) {
        guard life == .open else { return }
        failure = error
        for stream in streams.ordered where stream.holdsResponse && stream.heldEnd == nil {
            stream.heldEnd = .broken(error)
        }
        let broken = streams.ordered.filter { $0.heldEnd == nil }
        closeSocket(delivering: broken.count < streams.count)
        // Before the completions, so that a request started from one of them gets another connection.
        pool.retireConnection(id)
        completionDepth += 1
        for stream in broken where isCarrying(stream) {
            if let error = stream.deferredCancellation {
                fail(stream, error)
                continue
            }
            keepGathered(of: stream)
            // The sink that `keepGathered` calls may have cancelled the exchange.
            guard isCarrying(stream) else { continue }
            guard stream.machine.handle(.broken).exchange == .fail else {
                // The consumer needs no more of the response.
                remove(stream)
                stream.exchange.end(.success(Fields()), stream.metrics)
                continue
            }
            remove(stream)
            let error = truncated(stream, error)
            if let tunnel = stream.tunnel {
                tunnel.ended(error)
                continue
            }
            pool.replayOrFail(
                stream.exchange, stream.metrics, attributed(error, to: stream.exchange),
                requestBegan: stream.requestBegan, connectionWasReused: stream.isOnUsedConnection)
        }
        failAwaiting(error)
        completionDepth -= 1
        // This comes last: when the pool has been shut down and loses its last connection, it reports that it has ended.
        if life == .closed { return pool.lost(id) }
        closeIfDue()
    }

    /// Closes the connection if that was put off, or reports its loss when the last stream has been delivered.
    private func closeIfDue() {
        guard completionDepth == 0 else { return }
        if life == .delivering, streams.isEmpty {
            life = .closed
            pool.lost(id)
        } else if isCloseDue {
            isCloseDue = false
            close()
        }
    }

    /// Returns a more exact error if the connection ended without an error code in the middle of the stream's response.
    func truncated(_ stream: HTTP2Stream, _ error: TransportError) -> TransportError {
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
