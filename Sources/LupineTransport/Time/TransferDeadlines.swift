// SPDX-License-Identifier: MIT

/// The time-out that expired. Each is a separate error, so that a program can distinguish a slow connect from a silent server.
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
    /// There was no progress in either direction for too long, counted from the name look-up on.
    case idle
    /// The exchange as a whole took too long, even if bytes were moving.
    case whole
}

/// The time limits of each part of an exchange; `nil` means no limit.
package struct TransferTimeouts: Hashable, Sendable {
    /// From the beginning of the dial until the connection is established, tunnel included.
    package var connect: Interval?
    /// From the first byte of the handshake until it is complete.
    package var tlsHandshake: Interval?
    /// From the last byte of the request to the first byte of a response.
    package var firstByte: Interval?
    /// The longest time without a byte received, once a response has begun.
    package var idleRead: Interval?
    /// The longest time without a byte accepted by the peer, while there are bytes to send.
    package var idleWrite: Interval?
    /// The longest time without progress: an established connection, a part of a TLS handshake, or a byte in either direction.
    /// The time runs while a connection is opened for the exchange, but not while the exchange waits in the pool's queue.
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

    /// Returns the limit of one part.
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

/// Computes which time-out of an exchange expires next, and when. It has neither a timer nor a clock.
///
/// The driver sets one timer for `next` and calls `expired` when the timer fires. Usually bytes have moved meanwhile, and the
/// driver sets the timer again.
///
/// The two directions are timed separately: an early response may be read while the body is still being sent. A direction
/// that waits for the local side, because reading is paused or the body has no bytes yet, is not timed.
package struct TransferDeadlines: Hashable, Sendable {
    /// An event that the driver reports. It updates the times of the directions that it concerns.
    package enum Event: Hashable, Sendable {
        /// A connection is being opened for the exchange.
        case connecting
        /// The TLS handshake of that connection has begun.
        case handshaking
        /// The exchange runs on a connection; its request is being sent.
        case sending
        /// The peer accepted bytes.
        case wrote
        /// The body's source has no bytes now; `wrote` or `sending` resumes the timing.
        case sourceDry
        /// The request has been sent completely.
        case sent
        /// Bytes of a response arrived, which ends the wait for the first byte.
        case received
        /// The bytes that arrived were an interim response (1xx). While the request is still being sent, the server need not send
        /// anything else, so reading is not timed.
        case interim
        /// The consumer has paused reading.
        case readingPaused
        case readingResumed
        /// The owner has suspended the exchange: only `whole` runs until it is resumed.
        case suspended
        case unsuspended
        /// The exchange waits in a queue, or has ended: only `whole` runs.
        case waiting
    }

    /// The phase of opening a connection that is being timed.
    private enum Setup: Hashable {
        /// No connection is being opened.
        case none
        case connecting(since: Instant)
        case handshaking(since: Instant)
    }
    /// Whether the sending of the request is being timed.
    private enum RequestState: Hashable {
        /// The request has not begun, or its body has no bytes at present.
        case none
        /// Bytes are being sent; the peer last accepted some at this time.
        case timed(since: Instant)
        case sent
    }
    /// Whether the receiving of the response is being timed.
    private enum ResponseState: Hashable {
        /// The request has not been sent completely, and no response has begun.
        case none
        /// The request has been sent, and no byte of a response has arrived.
        case awaitingFirst(since: Instant)
        /// A response has begun; its last byte arrived at this time.
        case timed(since: Instant)
        /// The consumer has paused reading.
        case paused
    }

    private let timeouts: TransferTimeouts
    /// When the exchange began.
    private let start: Instant
    private var setup = Setup.none
    private var request = RequestState.none
    private var response = ResponseState.none
    /// The time of the last progress; nil while the exchange waits in a queue, where `idle` does not run.
    private var lastProgress: Instant?
    private var isSuspended = false

    /// Creates the deadlines of an exchange that begins at `now`; only `whole` runs until the first event.
    package init(_ timeouts: TransferTimeouts, at now: Instant) {
        self.timeouts = timeouts
        start = now
    }

    /// Updates the times for an event. Only this method and `restart` change `setup`, `request` and `response`.
    package mutating func handle(_ event: Event, at now: Instant) {
        // The first `switch` decides whether the event is progress.
        switch event {
        case .sourceDry, .readingPaused: break
        case .waiting: lastProgress = nil
        case .connecting, .handshaking, .sending, .wrote, .sent, .received, .interim, .readingResumed,
            .suspended, .unsuspended:
            lastProgress = now
        }
        // The second `switch` decides what is timed from now on.
        switch event {
        case .connecting:
            (setup, request, response) = (.connecting(since: now), .none, .none)
        case .handshaking:
            (setup, request, response) = (.handshaking(since: now), .none, .none)
        case .waiting:
            (setup, request, response) = (.none, .none, .none)
        case .sending:
            setup = .none
            request = .timed(since: now)
        case .wrote:
            request = .timed(since: now)
        case .sourceDry:
            // `sourceDry` after the end of the request changes nothing.
            if request != .sent { request = .none }
        case .sent:
            request = .sent
            // A response may have begun before the end of the request.
            if response == .none { response = .awaitingFirst(since: now) }
        case .received:
            // Bytes may still arrive after the pause, but a paused direction is not timed.
            if response != .paused { response = .timed(since: now) }
        case .interim:
            if request != .sent, case .timed = response { response = .none }
        case .readingPaused:
            if case .timed = response { response = .paused }
        case .readingResumed:
            if response == .paused { response = .timed(since: now) }
        case .suspended:
            isSuspended = true
        case .unsuspended:
            isSuspended = false
            restart(at: now)
        }
    }

    /// Restarts the time of everything that is being timed.
    private mutating func restart(at now: Instant) {
        switch setup {
        case .none: break
        case .connecting: setup = .connecting(since: now)
        case .handshaking: setup = .handshaking(since: now)
        }
        switch request {
        case .none, .sent: break
        case .timed: request = .timed(since: now)
        }
        switch response {
        case .none, .paused: break
        case .awaitingFirst: response = .awaitingFirst(since: now)
        case .timed: response = .timed(since: now)
        }
    }

    /// The earliest deadline and its time-out. If several time-outs have the same deadline, the most specific is returned;
    /// `whole` is the least specific.
    package var next: (instant: Instant, timeout: TransferTimeout)? {
        var earliest: (instant: Instant, timeout: TransferTimeout)?
        // Replaces `earliest` if a time-out that runs since this instant expires before it.
        func consider(_ since: Instant, _ interval: Interval?, _ timeout: TransferTimeout) {
            guard let interval else { return }
            let instant = since + interval
            if let earliest, earliest.instant <= instant { return }
            earliest = (instant, timeout)
        }
        guard !isSuspended else {
            consider(start, timeouts.whole, .whole)
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
        case .timed(let since): consider(since, timeouts.idleRead, .idleRead)
        }
        switch request {
        case .none, .sent: break
        case .timed(let since): consider(since, timeouts.idleWrite, .idleWrite)
        }
        // While the consumer has paused reading, a lack of progress is not the peer's fault.
        if let lastProgress, response != .paused { consider(lastProgress, timeouts.idle, .idle) }
        consider(start, timeouts.whole, .whole)
        return earliest
    }

    /// Returns the time-out that has expired at `now`; nil if none has.
    package func expired(at now: Instant) -> TransferTimeout? {
        guard let next, next.instant <= now else { return nil }
        return next.timeout
    }
}
