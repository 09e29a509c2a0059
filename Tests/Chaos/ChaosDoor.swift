// SPDX-License-Identifier: MIT

/// A port of the chaos origin. What goes wrong before there is a request cannot be asked for in the request, so each such
/// misbehaviour has a port of its own; everything else is asked for at `main` or `calm`.
package enum ChaosDoor: String, CaseIterable, Sendable {
    /// Does with each request what that asks for.
    case main
    /// The same, but leaves no connection that looks usable and is not: for requests that cannot be sent twice.
    case calm
    /// Nobody listens.
    case refused
    /// Somebody listens and never accepts, and the queue is full: the kernel drops who comes.
    case unanswered
    /// Resets as soon as it has accepted.
    case resetting
    /// Closes as soon as it has accepted.
    case closing
    /// Accepts, and that is all.
    case silent
    /// Says something of its own, and reads no request.
    case babbling

    // For HTTP/2 only: one misbehaviour concerns all streams of a connection.

    /// Does nothing to its connections but what a stream needs.
    case streams
    /// Says now and then that its connections go, changes what they allow, and has narrow windows: some requests may have to
    /// be sent again.
    case leaving
    /// Says of requests that it has done nothing about them, and of those behind them.
    case disclaiming
    /// Breaks its connections.
    case breaking
    /// Has its connections fall silent.
    case stalling

    // With TLS only.

    /// Answers the handshake with an alert.
    case alerting
    /// Stops in the middle of its side of the handshake.
    case stallingHandshake
    /// Resets in the middle of its side of the handshake.
    case resettingHandshake
    /// Ends the stream in the middle of its side of the handshake.
    case cuttingHandshake
    /// A certificate that has expired.
    case expired
    /// A certificate for another host.
    case foreign
    /// A certificate of an authority that nobody trusts.
    case untrusted
    /// One connection a good certificate, the next another good one, the third one that has expired.
    case turning
    /// TLS 1.2.
    case old

    /// Whether it makes sense without TLS.
    package var isPlainToo: Bool {
        switch self {
        case .main, .calm, .refused, .unanswered, .resetting, .closing, .silent, .babbling, .streams,
            .leaving,
            .disclaiming, .breaking, .stalling:
            true
        case .alerting, .stallingHandshake, .resettingHandshake, .cuttingHandshake, .expired, .foreign,
            .untrusted, .turning, .old:
            false
        }
    }
}

extension ChaosDoor {
    /// The errors that a request may end with here because of what was done to another one on its connection.
    package var collateral: Set<ChaosFailure> {
        switch self {
        case .leaving: [.lost]
        // Of two who are disclaimed the first may be above the second, which no GOAWAY may say.
        case .disclaiming, .breaking: [.lost, .badResponse]
        default: []
        }
    }
}

/// Where the doors of an origin are: what it prints for the other process.
package struct ChaosDoors: Hashable, Sendable {
    private var ports: [String: UInt16] = [:]

    /// None yet.
    package init() {}

    /// Reads what `description` says; nil if that is not all of it.
    package init?(_ text: String) {
        for pair in text.split(separator: ",") {
            let halves = pair.split(separator: "=")
            guard halves.count == 2, let port = UInt16(halves[1]) else { return nil }
            ports[String(halves[0])] = port
        }
        let isWhole = ChaosDoor.allCases.allSatisfy { door in
            self[door, secure: true] != nil && (!door.isPlainToo || self[door, secure: false] != nil)
        }
        guard isWhole else { return nil }
    }

    /// The port of a door, with TLS or without.
    package subscript(_ door: ChaosDoor, secure isSecure: Bool) -> UInt16? {
        get { ports[Self.name(door, isSecure)] }
        set { ports[Self.name(door, isSecure)] = newValue }
    }

    private static func name(_ door: ChaosDoor, _ isSecure: Bool) -> String {
        (isSecure ? "tls-" : "") + door.rawValue
    }
}

extension ChaosDoors: CustomStringConvertible {
    package var description: String {
        ports.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
    }
}
