// SPDX-License-Identifier: MIT

/// What both ends have set, and what of this end's the peer has acknowledged: RFC 9113 §6.5.3.
///
/// What this end allows more of holds from its announcement on, since the peer may act on it before its acknowledgement
/// comes; what it allows less of holds from the acknowledgement on, since the peer may not have heard of it before.
struct SettingsExchange: Sendable {
    private struct Announcement: Sendable {
        var settings: HTTP2Settings
        /// By how much the windows of streams shrink when it is acknowledged.
        var shrinkage: Int
        var time: Duration
    }

    private let role: HTTP2Role
    /// What this end has announced last.
    private(set) var own = HTTP2Settings()
    /// What the peer has acknowledged last.
    private(set) var acknowledged = HTTP2Settings()
    private var pending: [Announcement] = []
    /// What the peer has set.
    private(set) var peer = HTTP2Settings()
    /// Whether the peer's first SETTINGS have come.
    private(set) var peerHasSet = false
    /// The largest window that the peer may take for that of a new stream.
    private(set) var receiveInitial = FlowWindow.initial

    init(_ role: HTTP2Role) { self.role = role }

    /// When the announcement was made that the peer has owed an acknowledgement for longest.
    var waitsSince: Duration? { pending.first?.time }

    /// The longest payload that the peer may send.
    var maximumFrameSize: Int {
        pending.reduce(acknowledged.maxFrameSize) { max($0, $1.settings.maxFrameSize) }
    }

    /// The largest dynamic table that the peer's encoder may use.
    var headerTableSize: Int {
        pending.reduce(acknowledged.headerTableSize) { max($0, $1.settings.headerTableSize) }
    }

    /// This end announces settings. By how much windows of open streams grow at once.
    mutating func announce(_ settings: HTTP2Settings, at now: Duration) -> Int {
        let change = settings.initialWindowSize &- own.initialWindowSize
        pending.append(Announcement(settings: settings, shrinkage: max(-change, 0), time: now))
        own = settings
        receiveInitial &+= max(change, 0)
        return max(change, 0)
    }

    /// The peer acknowledges the oldest announcement. By how much windows of open streams shrink; nil when none was due.
    mutating func acknowledge() -> Int? {
        guard !pending.isEmpty else { return nil }
        let announcement = pending.removeFirst()
        acknowledged = announcement.settings
        receiveInitial &-= announcement.shrinkage
        return announcement.shrinkage
    }

    /// The peer sets parameters.
    mutating func receive(_ settings: [Setting]) throws(HTTP2Error) {
        let sender: HTTP2Role = role == .client ? .server : .client
        try peer.apply(settings, from: sender, isFirst: !peerHasSet)
        peerHasSet = true
    }
}
