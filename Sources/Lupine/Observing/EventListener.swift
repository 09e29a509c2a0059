// SPDX-License-Identifier: MIT

import Dispatch

/// A monitor as a `CompositeEventMonitor` knows it: the one that every session has by default is called directly.
final class EventListener: Sendable {
    private let monitor: any EventMonitor
    private let notifications: AlamofireNotifications?
    /// Where it is told.
    let queue: DispatchQueue

    init(_ monitor: any EventMonitor) {
        queue = monitor.queue
        self.monitor = monitor
        notifications = monitor as? AlamofireNotifications
    }

    /// Whether it hears of nothing but what notifications are posted for.
    var hearsNotedEventsOnly: Bool { notifications != nil }

    /// Calls the monitor's method for the event. On `queue`; `subject` is for those that hear of one event after the other.
    func hear(_ event: MonitorEvent, _ subject: inout AlamofireNotifications.Subject?) {
        if let notifications { notifications.post(event, &subject) } else { event.tell(monitor) }
    }
}
