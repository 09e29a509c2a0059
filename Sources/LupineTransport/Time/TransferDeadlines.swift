// SPDX-License-Identifier: MIT

/// The time-out that expired. Each is a separate error, so that "slow to connect" and "silent" can be told apart.
public enum TransferTimeout: Error, Hashable, Sendable, CaseIterable {
    /// No connection to the origin or its proxy was established, tunnel included.
    case connect
    /// The TLS handshake did not complete.
    case tlsHandshake
    /// The request was sent and no byte of a response arrived.
    case firstByte
    /// A response began, and then no byte arrived for too long.
    case idleRead
    /// The peer accepted no byte of the request for too long.
    case idleWrite
    /// No progress in either direction, from the name look-up on.
    case idle
    /// The exchange as a whole took too long, however active it was.
    case whole
}

/// The time limits of each part of an exchange; `nil` means no limit.
package struct TransferTimeouts: Hashable, Sendable {
    /// From the first step towards a connection until it is established, tunnel included.
    package var connect: Interval?
    /// From the first byte of the handshake until it is complete.
    package var tlsHandshake: Interval?
    /// From the last byte of the request to the first byte of a response.
    package var firstByte: Interval?
    /// Without a byte received, once a response has begun.
    package var idleRead: Interval?
    /// Without a byte accepted by the peer, while there are bytes to send.
    package var idleWrite: Interval?
    /// Without progress of any kind: an established connection, a step of TLS, a byte in either direction. It runs while a
    /// connection is opened for the exchange, but not while the exchange waits in the queue.
    package var idle: Interval?
    /// From the exchange's beginning to its end.
    package var whole: Interval?

    /// Creates limits for the named parts and none for the others.
    package init(
        connect: Interval? = nil, tlsHandshake: Interval? = nil, firstByte: Interval? = nil,
        idleRead: Interval? = nil, idleWrite: Interval? = nil, idle: Interval? = nil, whole: Interval? = nil
    ) {
        self.connect = connect
        self.tlsHandshake = tlsHandshake
        self.firstByte = firstByte
        self.idleRead = idleRead
        self.idleWrite = idleWrite
        self.idle = idle
        self.whole = whole
    }

    /// The limit of one part.
    subscript(_ timeout: TransferTimeout) -> Interval? {
        switch timeout {
        case .connect: connect
        case .tlsHandshake: tlsHandshake
        case .firstByte: firstByte
        case .idleRead: idleRead
        case .idleWrite: idleWrite
        case .idle: idle
        case .whole: whole
        }
    }
}

/// The next time-out of an exchange and its time. Pure arithmetic: the driver sets one timer for `next`, and asks `expired`
/// when it fires; usually bytes have moved meanwhile, and the timer is set again.
///
/// The two directions are watched separately: an early response may be read while the body is still being sent. A direction
/// that waits for the local side, because reading is paused or the body has no bytes yet, is not timed.
package struct TransferDeadlines: Hashable, Sendable {
    /// Reported by the driver. Each event updates the directions that it concerns.
    package enum Event: Hashable, Sendable {
        /// A connection is being opened for the exchange.
        case connecting
        case handshaking
        /// The exchange runs on a connection; its request is being sent.
        case sending
        /// The peer accepted bytes.
        case wrote
        /// The body's source has no bytes now; `wrote` or `sending` resumes the watch.
        case sourceDry
        /// The request has been sent completely.
        case sent
        /// Bytes of a response arrived; the first end the wait for the first byte.
        case received
        /// They were an interim response: while the request is still being sent, the server owes nothing more for now.
        case interim
        /// The consumer stops reading for now.
        case readingPaused
        case readingResumed
        /// The owner has suspended the exchange: only `whole` runs until it is resumed.
        case suspended
        case unsuspended
        /// The exchange waits in a queue, or has ended: only `whole` runs.
        case waiting
    }

    private enum Setup: Hashable {
        case none
        case connecting(since: Instant)
        case handshaking(since: Instant)
    }
    private enum RequestState: Hashable {
        case none
        case watched(since: Instant)
        case sent
    }
    private enum ResponseState: Hashable {
        case none
        case awaitingFirst(since: Instant)
        case watched(since: Instant)
        case paused
    }

    private let timeouts: TransferTimeouts
    private let began: Instant
    private var setup = Setup.none
    private var request = RequestState.none
    private var response = ResponseState.none
    /// The time of the last progress; nil before the first step.
    private var progress: Instant?
    private var isSuspended = false

    /// Creates the deadlines of an exchange that begins at `now`; only `whole` runs until the first event.
    package init(_ timeouts: TransferTimeouts, at now: Instant) {
        self.timeouts = timeouts
        began = now
    }

    /// The only writer of the states.
    package mutating func handle(_ event: Event, at now: Instant) {
        switch event {
        case .sourceDry, .readingPaused: break
        case .waiting: progress = nil
        case .connecting, .handshaking, .sending, .wrote, .sent, .received, .interim, .readingResumed,
            .suspended, .unsuspended:
            progress = now
        }
        switch event {
        case .connecting:
            (setup, request, response) = (.connecting(since: now), .none, .none)
        case .handshaking:
            (setup, request, response) = (.handshaking(since: now), .none, .none)
        case .waiting:
            (setup, request, response) = (.none, .none, .none)
        case .sending:
            setup = .none
            request = .watched(since: now)
        case .wrote:
            request = .watched(since: now)
        case .sourceDry:
            if request != .sent { request = .none }
        case .sent:
            request = .sent
            if response == .none { response = .awaitingFirst(since: now) }
        case .received:
            if response != .paused { response = .watched(since: now) }
        case .interim:
            if request != .sent, case .watched = response { response = .none }
        case .readingPaused:
            if case .watched = response { response = .paused }
        case .readingResumed:
            if response == .paused { response = .watched(since: now) }
        case .suspended:
            isSuspended = true
        case .unsuspended:
            isSuspended = false
            restart(at: now)
        }
    }

    /// Restarts everything that is being watched at `now`.
    private mutating func restart(at now: Instant) {
        switch setup {
        case .none: break
        case .connecting: setup = .connecting(since: now)
        case .handshaking: setup = .handshaking(since: now)
        }
        switch request {
        case .none, .sent: break
        case .watched: request = .watched(since: now)
        }
        switch response {
        case .none, .paused: break
        case .awaitingFirst: response = .awaitingFirst(since: now)
        case .watched: response = .watched(since: now)
        }
    }

    /// The earliest deadline. Of several at the same time, the most specific is named: `whole` comes last.
    package var next: (instant: Instant, timeout: TransferTimeout)? {
        var earliest: (instant: Instant, timeout: TransferTimeout)?
        func consider(_ since: Instant, _ interval: Interval?, _ timeout: TransferTimeout) {
            guard let interval else { return }
            let instant = since + interval
            if let known = earliest, known.instant <= instant { return }
            earliest = (instant, timeout)
        }
        guard !isSuspended else {
            consider(began, timeouts.whole, .whole)
            return earliest
        }
        switch setup {
        case .none: break
        case .connecting(let since): consider(since, timeouts.connect, .connect)
        case .handshaking(let since): consider(since, timeouts.tlsHandshake, .tlsHandshake)
        }
        switch response {
        case .none, .paused: break
        case .awaitingFirst(let since): consider(since, timeouts.firstByte, .firstByte)
        case .watched(let since): consider(since, timeouts.idleRead, .idleRead)
        }
        switch request {
        case .none, .sent: break
        case .watched(let since): consider(since, timeouts.idleWrite, .idleWrite)
        }
        if let progress, response != .paused { consider(progress, timeouts.idle, .idle) }
        consider(began, timeouts.whole, .whole)
        return earliest
    }

    /// The time-out that has expired by now, if any.
    package func expired(at now: Instant) -> TransferTimeout? {
        guard let next, next.instant <= now else { return nil }
        return next.timeout
    }
}
