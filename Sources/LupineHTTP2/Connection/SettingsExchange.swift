// SPDX-License-Identifier: MIT

/// The settings of both endpoints, and which of this endpoint's settings the peer has acknowledged: RFC 9113 §6.5.3.
///
/// An increased window, frame size or dynamic table applies as soon as this endpoint announces it, since the peer may use it
/// before its acknowledgement arrives. A reduced one applies when the peer has acknowledged it, since the peer may not have
/// received it before.
///
/// The limit of concurrent streams applies at once to streams that the peer opens: streams above it are refused, and their
/// requests can be sent again. It also limits the streams that have a priority without being open: a PRIORITY_UPDATE above the
/// limit is a connection error. For this check, a reduced limit therefore applies only when the peer has acknowledged it.
struct SettingsExchange: Sendable {
    /// Settings that this endpoint has sent.
    private struct Announcement: Sendable {
        var settings: HTTP2Settings
        /// The octets by which the windows of streams shrink on acknowledgement.
        var shrinkage: Int
        /// The time at which the settings were sent.
        var time: Duration
    }

    private let role: HTTP2Role
    /// The settings that this endpoint announced last.
    private(set) var local = HTTP2Settings()
    /// The settings that the peer acknowledged last.
    private(set) var acknowledged = HTTP2Settings()
    /// The announcements that the peer has not acknowledged, oldest first.
    private var pending: [Announcement] = []
    /// The peer's settings.
    private(set) var peer = HTTP2Settings()
    /// Whether the peer's first SETTINGS have been received.
    private(set) var hasPeerSettings = false
    /// The initial receive window of a new stream: the largest that the peer may assume.
    private(set) var initialReceiveWindow = FlowWindow.initial

    init(_ role: HTTP2Role) { self.role = role }

    /// The time of the oldest announcement that the peer has not acknowledged; nil if there is none.
    var pendingSince: Duration? { pending.first?.time }

    /// The longest payload of a frame that the peer may send.
    var maximumFrameSize: Int {
        pending.reduce(acknowledged.maxFrameSize) { max($0, $1.settings.maxFrameSize) }
    }

    /// The largest dynamic table that the peer's encoder may use.
    var headerTableSize: Int {
        pending.reduce(acknowledged.headerTableSize) { max($0, $1.settings.headerTableSize) }
    }

    /// Returns the limit of the streams that are open, or have a priority without being open. `fallback` replaces the limit of
    /// settings that have none.
    func prioritizedStreamLimit(unlimited fallback: Int) -> Int {
        pending.reduce(acknowledged.maxConcurrentStreams ?? fallback) {
            max($0, $1.settings.maxConcurrentStreams ?? fallback)
        }
    }

    /// Records an announcement of settings. Returns the octets by which the windows of open streams grow immediately; 0 if they
    /// shrink, which they do on acknowledgement.
    mutating func announce(_ settings: HTTP2Settings, at now: Duration) -> Int {
        let change = settings.initialWindowSize &- local.initialWindowSize
        pending.append(Announcement(settings: settings, shrinkage: max(-change, 0), time: now))
        local = settings
        // A reduction applies on acknowledgement.
        initialReceiveWindow &+= max(change, 0)
        return max(change, 0)
    }

    /// Records that the peer has acknowledged the oldest announcement. Returns the octets by which the windows of open streams
    /// shrink; nil if the peer had already acknowledged all announcements.
    mutating func acknowledge() -> Int? {
        guard !pending.isEmpty else { return nil }
        let announcement = pending.removeFirst()
        acknowledged = announcement.settings
        initialReceiveWindow &-= announcement.shrinkage
        return announcement.shrinkage
    }

    /// Applies a SETTINGS frame of the peer.
    mutating func receive(_ settings: [Setting]) throws(HTTP2Error) {
        let sender: HTTP2Role = role == .client ? .server : .client
        try peer.apply(settings, from: sender, isFirst: !hasPeerSettings)
        hasPeerSettings = true
    }
}
