// SPDX-License-Identifier: MIT

import Dispatch

/// A monitor of a `CompositeEventMonitor`. `AlamofireNotifications`, which every session has by default, is called directly.
final class EventListener: Sendable {
    private let monitor: any EventMonitor
    private let notifications: AlamofireNotifications?
    /// The queue of the monitor.
    let queue: DispatchQueue

    init(_ monitor: any EventMonitor) {
        queue = monitor.queue
        self.monitor = monitor
        notifications = monitor as? AlamofireNotifications
    }

    /// Whether the monitor receives only events that have a notification.
    var hearsNotedEventsOnly: Bool { notifications != nil }

    /// Calls the monitor's method for the event. On `queue`; `subject` is shared by the events of a batch.
    func hear(_ event: MonitorEvent, _ subject: inout AlamofireNotifications.Subject?) {
        if let notifications { notifications.post(event, &subject) } else { event.tell(monitor) }
    }
}
