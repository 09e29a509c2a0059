// SPDX-License-Identifier: MIT

import Dispatch

/// A monitor of a `CompositeEventMonitor`, and its queue. An `AlamofireNotifications`, which every session has by default, is
/// called without dynamic dispatch.
final class EventListener: Sendable {
    private let monitor: any EventMonitor
    /// The monitor, if it is an `AlamofireNotifications`.
    private let notifications: AlamofireNotifications?
    /// The queue of the monitor.
    let queue: DispatchQueue

    init(_ monitor: any EventMonitor) {
        queue = monitor.queue
        self.monitor = monitor
        notifications = monitor as? AlamofireNotifications
    }

    /// Whether the monitor is an `AlamofireNotifications`, which ignores events without a notification.
    var postsNotifications: Bool { notifications != nil }

    /// Calls the monitor's method for the event. Called on `queue`. The notifications of a batch share `userInfo`.
    func receive(
        _ event: MonitorEvent, reusing userInfo: inout AlamofireNotifications.ReusableUserInfo?
    ) {
        guard let notifications else { return event.deliver(to: monitor) }
        // Nil for an event without a notification.
        guard let (notification, request) = event.notification else { return }
        notifications.post(notification, about: request, reusing: &userInfo)
    }

    /// Posts notifications, if the monitor is an `AlamofireNotifications`; ignores them otherwise. Called on `queue`. The
    /// notifications of a batch share `userInfo`.
    func receive(
        _ notifications: RequestNotifications, about request: Request,
        reusing userInfo: inout AlamofireNotifications.ReusableUserInfo?
    ) {
        self.notifications?.post(notifications, about: request, reusing: &userInfo)
    }
}
