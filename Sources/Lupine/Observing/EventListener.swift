// SPDX-License-Identifier: MIT

import Dispatch

/// A monitor as a `CompositeEventMonitor` knows it: the one that every session has by default is called directly.
final class EventListener: Sendable {
    private enum Kind {
        case notifications(AlamofireNotifications)
        case monitor(any EventMonitor)
    }

    private let kind: Kind
    /// Where it is told.
    let queue: DispatchQueue

    init(_ monitor: any EventMonitor) {
        queue = monitor.queue
        kind = (monitor as? AlamofireNotifications).map { .notifications($0) } ?? .monitor(monitor)
    }

    /// Whether it hears of nothing but what notifications are posted for.
    var hearsNotedEventsOnly: Bool {
        switch kind {
        case .notifications: true
        case .monitor: false
        }
    }

    /// Calls the monitor's method for the event. On `queue`; `subject` is for those that hear of one event after the other.
    func hear(_ event: MonitorEvent, _ subject: inout AlamofireNotifications.Subject?) {
        switch kind {
        case .notifications(let notifications): notifications.post(event, &subject)
        case .monitor(let monitor): event.tell(monitor)
        }
    }
}
