// SPDX-License-Identifier: MIT

import Dispatch

/// A monitor as a `CompositeEventMonitor` knows it: the one that every session has by default is called directly.
enum EventListener {
    case notifications(AlamofireNotifications, DispatchQueue)
    case monitor(any EventMonitor, DispatchQueue)

    init(_ monitor: any EventMonitor) {
        if let notifications = monitor as? AlamofireNotifications {
            self = .notifications(notifications, notifications.queue)
        } else {
            self = .monitor(monitor, monitor.queue)
        }
    }

    /// Where it is told.
    var queue: DispatchQueue {
        switch self {
        case .notifications(_, let queue), .monitor(_, let queue): queue
        }
    }

    /// Whether it hears of nothing but what notifications are posted for.
    var hearsNotedEventsOnly: Bool {
        switch self {
        case .notifications: true
        case .monitor: false
        }
    }

    /// Calls the monitor's method for the event. On `queue`.
    func hear(_ event: MonitorEvent) {
        switch self {
        case .notifications(let notifications, _): event.tell(notifications)
        case .monitor(let monitor, _): event.tell(monitor)
        }
    }
}
