// SPDX-License-Identifier: MIT

// How a request reports the events that have a notification.

extension Request.MutableState {
    /// Notifications that have to be passed on now.
    struct DeferredNotifications {
        let notifications: RequestNotifications
        let monitors: CompositeEventMonitor
        /// Whether the request has handlers of the program, which are called after the notifications are posted.
        let precedeHandlers: Bool

        /// Posts the notifications.
        func forward(about request: Request) {
            // The notifications must be posted before handlers are called. Without handlers they may wait: those of all requests
            // in one turn of an event loop then share one block on the main queue.
            if precedeHandlers {
                monitors.forward(notifications, about: request)
            } else {
                monitors.forwardBatched(notifications, about: request)
            }
        }
    }

    /// Defers the notification if that is possible, as `report` says.
    ///
    /// - Returns: Whether the notification was deferred, the deferred ones that have to be posted before it, and the monitors.
    mutating func deferNotification(
        _ notification: RequestNotifications
    ) -> (isDeferred: Bool, earlier: RequestNotifications, monitors: CompositeEventMonitor?) {
        let mayDefer = lane.isRunningOffRoot && eventMonitor?.onlyPostsNotifications == true
        if mayDefer, deferredNotifications.append(notification) { return (true, [], nil) }
        let earlier = deferredNotifications
        deferredNotifications = mayDefer ? notification : []
        return (mayDefer, earlier, eventMonitor)
    }

    /// Removes and returns the deferred notifications; nil if there are none.
    mutating func takeDeferredNotifications() -> DeferredNotifications? {
        if deferredNotifications.isEmpty { return nil }
        defer { deferredNotifications = [] }
        return eventMonitor.map {
            DeferredNotifications(
                notifications: deferredNotifications, monitors: $0,
                precedeHandlers: serializerChain.hasHandlers)
        }
    }
}

extension Request {
    /// Reports an event that has a notification to the monitors.
    ///
    /// If the step runs off the root queue and the only monitor is the one that posts notifications, only the notification is
    /// stored. It is passed on together with the step's next ones: when another step begins, before the pass ends, or when their
    /// order would change. This wakes the main queue once instead of several times.
    ///
    /// - Parameters:
    ///   - notification: The notification of the event.
    ///   - event: The event. Evaluated only if it is passed on at once.
    func report(_ notification: RequestNotifications, _ event: @autoclosure () -> MonitorEvent) {
        let (isDeferred, earlier, monitors) = mutableState.write { $0.deferNotification(notification) }
        guard let monitors else { return }
        if !earlier.isEmpty { monitors.forward(earlier, about: self) }
        if !isDeferred { monitors.forward(notificationEvent: event()) }
    }

    /// Passes the deferred notifications to the monitors. Called before handlers are called.
    func forwardDeferredNotifications() {
        mutableState.write { $0.takeDeferredNotifications() }?.forward(about: self)
    }
}
