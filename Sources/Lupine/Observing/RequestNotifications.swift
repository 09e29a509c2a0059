// SPDX-License-Identifier: MIT

import Foundation

/// Notifications about one request that are posted together, in the order of their raw values.
struct RequestNotifications: OptionSet, Sendable {
    let rawValue: UInt8

    static let didResume = RequestNotifications(rawValue: 1 << 0)
    static let didResumeTask = RequestNotifications(rawValue: 1 << 1)
    static let didSuspend = RequestNotifications(rawValue: 1 << 2)
    static let didSuspendTask = RequestNotifications(rawValue: 1 << 3)
    static let didCancel = RequestNotifications(rawValue: 1 << 4)
    static let didCancelTask = RequestNotifications(rawValue: 1 << 5)
    static let didCompleteTask = RequestNotifications(rawValue: 1 << 6)
    static let didFinish = RequestNotifications(rawValue: 1 << 7)

    /// Each notification with its name, in the order in which they are posted.
    static let all: [(notification: RequestNotifications, name: Notification.Name)] = [
        (.didResume, Request.didResumeNotification),
        (.didResumeTask, Request.didResumeTaskNotification),
        (.didSuspend, Request.didSuspendNotification),
        (.didSuspendTask, Request.didSuspendTaskNotification),
        (.didCancel, Request.didCancelNotification),
        (.didCancelTask, Request.didCancelTaskNotification),
        (.didCompleteTask, Request.didCompleteTaskNotification),
        (.didFinish, Request.didFinishNotification),
    ]

    /// Adds one notification. Returns false, without adding it, if notifications that come after it are in the set already: it
    /// would be posted before them.
    mutating func append(_ notification: RequestNotifications) -> Bool {
        // A notification is one bit, higher than the bits of all that come before it.
        if notification.rawValue <= rawValue { return false }
        formUnion(notification)
        return true
    }
}
