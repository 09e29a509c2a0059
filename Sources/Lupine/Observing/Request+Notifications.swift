// SPDX-License-Identifier: MIT

public import Foundation

extension Request {
    /// Posted when a request was resumed. `Notification.request` is the request.
    public static let didResumeNotification = notificationName("didResume")
    /// Posted when a request was suspended. `Notification.request` is the request.
    public static let didSuspendNotification = notificationName("didSuspend")
    /// Posted when a request was cancelled. `Notification.request` is the request.
    public static let didCancelNotification = notificationName("didCancel")
    /// Posted when a request is finishing, before its handlers are called. `Notification.request` is the request.
    public static let didFinishNotification = notificationName("didFinish")
    /// Posted when the task of a request was resumed. `Notification.request` is the request.
    public static let didResumeTaskNotification = notificationName("didResumeTask")
    /// Posted when the task of a request was suspended. `Notification.request` is the request.
    public static let didSuspendTaskNotification = notificationName("didSuspendTask")
    /// Posted when the task of a request was cancelled. `Notification.request` is the request.
    public static let didCancelTaskNotification = notificationName("didCancelTask")
    /// Posted when the task of a request has ended, once per attempt. `Notification.request` is the request.
    public static let didCompleteTaskNotification = notificationName("didCompleteTask")

    /// The user info key of the request.
    fileprivate static let notificationKey = AnyHashable("org.alamofire.notification.key.request")

    private static func notificationName(_ event: String) -> Notification.Name {
        Notification.Name("org.alamofire.notification.name.request.\(event)")
    }
}

extension Notification {
    /// The request of a notification that the library has posted; nil for others.
    public var request: Request? { userInfo?[Request.notificationKey] as? Request }

    /// Returns the user info of a notification about a request.
    static func userInfo(about request: Request) -> [AnyHashable: Any] { [Request.notificationKey: request] }
}
