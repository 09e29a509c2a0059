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
        if let notifications {
            notifications.postNotifications(of: event, reusing: &userInfo)
        } else {
            event.deliver(to: monitor)
        }
    }
}
