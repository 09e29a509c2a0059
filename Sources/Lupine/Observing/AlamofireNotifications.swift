// SPDX-License-Identifier: MIT

import Foundation
public import LupineLoading

/// Posts notifications of request events. The default of a session's `eventMonitors`.
///
/// The notifications are posted on the main queue, to `NotificationCenter.default`, with the `Request` in their user info
/// (`Notification.request`). The names are constants of `Request`.
public final class AlamofireNotifications: EventMonitor {
    /// Creates a monitor.
    public init() {}

    /// Posts `Request.didResumeNotification`.
    public func requestDidResume(_ request: Request) {
        post(.resumed(request))
    }

    /// Posts `Request.didSuspendNotification`.
    public func requestDidSuspend(_ request: Request) {
        post(.suspended(request))
    }

    /// Posts `Request.didCancelNotification`.
    public func requestDidCancel(_ request: Request) {
        post(.cancelled(request))
    }

    /// Posts `Request.didFinishNotification`.
    public func requestDidFinish(_ request: Request) {
        post(.finished(request))
    }

    /// Posts `Request.didResumeTaskNotification`.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        post(.resumedTask(request, task))
    }

    /// Posts `Request.didSuspendTaskNotification`.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        post(.suspendedTask(request, task))
    }

    /// Posts `Request.didCancelTaskNotification`.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        post(.cancelledTask(request, task))
    }

    /// Posts `Request.didCompleteTaskNotification`.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        post(.completedTask(request, task, error))
    }

    private func post(_ event: MonitorEvent) {
        var subject: Subject?
        postNotifications(of: event, &subject)
    }

    /// The request of the last notification in a batch, and the user info that holds it. The next notification reuses the user
    /// info dictionary unless an observer has retained it: creating a dictionary costs more than all else that most postings do.
    struct Subject {
        private var request: Request
        private(set) var userInfo: [AnyHashable: Any]
        /// The position of the request in `userInfo`, which saves looking up its key.
        private let requestIndex: [AnyHashable: Any].Index

        fileprivate init?(_ request: Request) {
            self.request = request
            userInfo = Notification.userInfo(about: request)
            guard let index = userInfo.indices.first else { return nil }
            requestIndex = index
        }

        fileprivate mutating func change(to request: Request) {
            if self.request === request { return }
            self.request = request
            userInfo.values[requestIndex] = request
        }
    }

    /// Posts the notifications of an event: two for a combined event, none for an event without a notification. `subject` is nil
    /// before the first notification of a batch.
    func postNotifications(of event: MonitorEvent, _ subject: inout Subject?) {
        switch event {
        case .started(let request, _):
            post(Request.didResumeNotification, about: request, &subject)
            post(Request.didResumeTaskNotification, about: request, &subject)
        case .ended(let request, _, _):
            post(Request.didCompleteTaskNotification, about: request, &subject)
            post(Request.didFinishNotification, about: request, &subject)
        default:
            guard let (name, request) = Self.notification(of: event) else { return }
            post(name, about: request, &subject)
        }
    }

    private func post(_ name: Notification.Name, about request: Request, _ subject: inout Subject?) {
        if subject == nil { subject = Subject(request) } else { subject?.change(to: request) }
        NotificationCenter.default.post(Notification(name: name, object: nil, userInfo: subject?.userInfo))
    }

    private static func notification(of event: MonitorEvent) -> (Notification.Name, Request)? {
        switch event {
        case .resumed(let request): (Request.didResumeNotification, request)
        case .suspended(let request): (Request.didSuspendNotification, request)
        case .cancelled(let request): (Request.didCancelNotification, request)
        case .finished(let request): (Request.didFinishNotification, request)
        case .resumedTask(let request, _): (Request.didResumeTaskNotification, request)
        case .suspendedTask(let request, _): (Request.didSuspendTaskNotification, request)
        case .cancelledTask(let request, _): (Request.didCancelTaskNotification, request)
        case .completedTask(let request, _, _): (Request.didCompleteTaskNotification, request)
        default: nil
        }
    }
}
