// SPDX-License-Identifier: MIT

import Foundation
public import LupineLoading

/// Posts notifications of what happens to requests: what a session's `eventMonitors` are by default.
///
/// They are posted on the main queue, to `NotificationCenter.default`, with the `Request` in their user info
/// (`Notification.request`). The names are constants of `Request`.
public final class AlamofireNotifications: EventMonitor {
    /// A monitor that posts.
    public init() {}

    /// Posts `Request.didResumeNotification`.
    public func requestDidResume(_ request: Request) {
        post(Request.didResumeNotification, about: request)
    }

    /// Posts `Request.didSuspendNotification`.
    public func requestDidSuspend(_ request: Request) {
        post(Request.didSuspendNotification, about: request)
    }

    /// Posts `Request.didCancelNotification`.
    public func requestDidCancel(_ request: Request) {
        post(Request.didCancelNotification, about: request)
    }

    /// Posts `Request.didFinishNotification`.
    public func requestDidFinish(_ request: Request) {
        post(Request.didFinishNotification, about: request)
    }

    /// Posts `Request.didResumeTaskNotification`.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        post(Request.didResumeTaskNotification, about: request)
    }

    /// Posts `Request.didSuspendTaskNotification`.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        post(Request.didSuspendTaskNotification, about: request)
    }

    /// Posts `Request.didCancelTaskNotification`.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        post(Request.didCancelTaskNotification, about: request)
    }

    /// Posts `Request.didCompleteTaskNotification`.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        post(Request.didCompleteTaskNotification, about: request)
    }

    private func post(_ name: Notification.Name, about request: Request) {
        NotificationCenter.default.post(Notification(name: name, about: request))
    }
}
