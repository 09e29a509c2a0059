// SPDX-License-Identifier: MIT

import LupineHTTP

/// Handles received control frames of streams and of the connection: RFC 9113 §6.3 to §6.9, RFC 9218 §7.1.
extension HTTP2Machine {
    /// Resets a stream because of an error of the peer, and emits `failed` if the stream was open.
    mutating func failStream(
        _ stream: StreamID, _ error: HTTP2StreamError, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        // A closed stream may still be reset, without an event: the owner already knows that the stream has ended.
        let wasOpen = streams.isOpen(stream)
        // False if RST_STREAM may not be sent: for example, because this endpoint has already sent it.
        guard streams.reset(stream, by: .send(.reset)) else { return }
        output.writeProvoked { FrameWriter.reset(stream, error.code, into: &$0) }
        if wasOpen { emit(.failed(stream, error)) }
        try floodGuard.record(.provokedResets, at: now)
    }

    /// Handles a stream error that the frame reader found (§5.4.2).
    mutating func receiveStreamError(
        _ stream: StreamID, _ error: HTTP2Error, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        // The reader reports only two errors: an increment of zero, and a PRIORITY frame of a wrong length.
        switch error {
        case .zeroIncrement: try floodGuard.record(.windowUpdates, at: now)
        default: try floodGuard.record(.priorities, at: now)
        }
        switch streams.status(of: stream) {
        case .open: try failStream(stream, .frame(error), now)
        // An idle stream cannot be reset: the error becomes a connection error.
        case .idle: throw .frame(error)
        // The peer may have sent the frame before it knew that the stream had ended.
        case .closed, .forgotten, .skipped: return
        }
    }

    /// Handles RST_STREAM.
    mutating func receiveReset(
        _ stream: StreamID, _ code: HTTP2ErrorCode, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        switch streams.status(of: stream) {
        case .idle, .skipped: throw .unexpectedFrame(.rstStream, stream, .protocolError)
        case .closed, .forgotten:
            // Emits no event: the owner already knows that the stream has ended.
            try floodGuard.record(.resets, at: now)
        case .open:
            // After a complete response, a server may stop the remaining request with NO_ERROR (§8.1). No work was wasted, so
            // this reset is not counted.
            let isAfterResponse =
                role == .client && code == .noError && !streams.peerMaySend(on: stream)
            // Always true: an open stream can be reset.
            guard streams.reset(stream, by: .receive(.reset)) else { return }
            emit(.reset(stream, code))
            if !isAfterResponse { try floodGuard.record(.resets, at: now) }
        }
    }

    // MARK: SETTINGS

    /// Applies SETTINGS and acknowledges them.
    mutating func receiveSettings(_ settings: [Setting], _ now: Duration) throws(HTTP2ConnectionError) {
        try floodGuard.record(.settings, at: now)
        let previous = settingsExchange.peer
        do throws(HTTP2Error) { try settingsExchange.receive(settings) } catch { throw .frame(error) }
        // The encoder receives every value, in order, since it must announce the smallest one too (RFC 7541 §4.2).
        for setting in settings where setting.identifier == .headerTableSize {
            encoder.setTableSizeLimit(Int(setting.value))
        }
        let (oldSize, newSize) = (previous.initialWindowSize, settingsExchange.peer.initialWindowSize)
        if oldSize != newSize {
            // `openStreams` has the order of identifiers, so that the error always names the same stream.
            for stream in openStreams { try changeSendWindow(of: stream, from: oldSize, to: newSize) }
        }
        output.writeProvoked { FrameWriter.settingsAcknowledgement(into: &$0) }
        emit(.settings(settingsExchange.peer))
    }

    /// Applies a change of the peer's SETTINGS_INITIAL_WINDOW_SIZE to the send window of a stream.
    private mutating func changeSendWindow(
        of stream: StreamID, from old: Int, to new: Int
    ) throws(HTTP2ConnectionError) {
        do throws(FlowControlError) {
            try streams.withEntry(of: stream) { entry throws(FlowControlError) in
                try entry.sendWindow.changeInitial(from: old, to: new)
            }
        } catch {
            throw .flowControl(error, stream)
        }
    }

    /// Handles an acknowledgement of SETTINGS: applies the settings that the peer has acknowledged.
    mutating func receiveSettingsAcknowledgement() throws(HTTP2ConnectionError) {
        guard let shrinkage = settingsExchange.acknowledge() else { throw .unexpectedAcknowledgement }
        reader.maximumFrameSize = settingsExchange.maximumFrameSize
        // First the acknowledged limit, then the one that applies now. The latter is larger if this endpoint has since announced
        // a larger table. The decoder remembers the smaller one, to which the next header block must reduce the table.
        decoder.setTableSizeLimit(settingsExchange.acknowledged.headerTableSize)
        decoder.setTableSizeLimit(settingsExchange.headerTableSize)
        changeReceiveWindows(by: -shrinkage)
        emit(.settingsAcknowledged)
    }

    /// Applies a change of SETTINGS_INITIAL_WINDOW_SIZE to the receive windows of all streams, but not to the connection's
    /// (§6.9.2).
    mutating func changeReceiveWindows(by difference: Int) {
        guard difference != 0 else { return }
        // `openStreams` has the order of identifiers, so that the WINDOW_UPDATE frames are sent in that order.
        for stream in openStreams {
            let increment = streams.withEntry(of: stream) { entry in
                let increment = entry.receiveWindow.change(by: difference)
                // After the end of the peer's side, a WINDOW_UPDATE has no use.
                return entry.peerMaySend ? increment : 0
            }
            guard let increment, increment > 0 else { continue }
            output.writeProvoked { FrameWriter.windowUpdate(stream, increment: increment, into: &$0) }
        }
    }

    // MARK: Windows and GOAWAY

    /// Handles WINDOW_UPDATE.
    mutating func receiveWindowUpdate(
        _ stream: StreamID, _ increment: Int, _ now: Duration
    ) throws(HTTP2ConnectionError) {
        try floodGuard.record(.windowUpdates, at: now)
        if stream.isConnection {
            let wasExhausted = sendWindow.available == 0
            do throws(FlowControlError) { try sendWindow.credit(increment) } catch {
                throw .flowControl(error, .connection)
            }
            // The window is positive now. It never is negative, because settings do not change the connection's window.
            if wasExhausted { emit(.windowOpened(.connection)) }
            return
        }
        switch streams.receive(.windowUpdate, on: stream) {
        case .proceed:
            do throws(FlowControlError) {
                let isReopened = try streams.withEntry(of: stream) { entry throws(FlowControlError) in
                    let wasExhausted = entry.sendWindow.available == 0
                    try entry.sendWindow.credit(increment)
                    // A negative window may remain exhausted.
                    return wasExhausted && entry.sendWindow.available > 0
                }
                if isReopened == true { emit(.windowOpened(stream)) }
            } catch {
                try failStream(stream, .flowControl(error), now)
            }
        // A received frame never gets the verdict `mayNotSend`.
        case .ignore, .mayNotSend: return
        case .streamError(let code): try failStream(stream, .closed(.windowUpdate, code), now)
        case .connectionError(let code): throw .unexpectedFrame(.windowUpdate, stream, code)
        }
    }

    /// Handles GOAWAY: on a client, emits `refused` for the streams that the server has not processed.
    mutating func receiveGoAway(
        _ last: StreamID, _ code: HTTP2ErrorCode, _ debug: [UInt8], _ now: Duration
    ) throws(HTTP2ConnectionError) {
        // GOAWAY has no allowance of its own: it shares that of the ignored frames.
        try floodGuard.record(.ignoredFrames, at: now)
        switch goAway.handle(.received(last: last)) {
        case .raised(let previous): throw .goAwayRaised(last, after: previous)
        case .refuse(let last):
            emit(.goAway(last: last, code, debug: debug))
            // A server opens no streams, so the client refuses none.
            guard role == .client else { return }
            for stream in openStreams where stream > last {
                // A reset of an open stream always succeeds.
                _ = streams.reset(stream, by: .receive(.reset))
                emit(.refused(stream))
            }
        // Actions for other events than `received`.
        case .nothing, .send: return
        }
    }

    // MARK: Priorities

    /// Handles PRIORITY_UPDATE, which a client may send before it opens the stream. Such streams and the open ones together may
    /// not exceed the limit of concurrent streams (RFC 9218 §7.1).
    mutating func receivePriorityUpdate(
        _ stream: StreamID, _ value: [UInt8], _ now: Duration
    ) throws(HTTP2ConnectionError) {
        try floodGuard.record(.priorities, at: now)
        switch streams.status(of: stream) {
        case .open: emit(.priority(stream, value: value))
        case .closed, .forgotten, .skipped: return
        case .idle:
            // `limits.openStreams` applies if the settings of this endpoint set no limit.
            let limit = settingsExchange.prioritizedStreamLimit(unlimited: limits.openStreams)
            let replacesPriority = earlyPriorities[stream] != nil
            let hasRoom = replacesPriority || earlyPriorities.count &+ streams.count < limit
            guard stream.isClientInitiated, hasRoom else {
                throw .priorityOfUnknownStream(stream)
            }
            earlyPriorities[stream] = value
        }
    }
}
