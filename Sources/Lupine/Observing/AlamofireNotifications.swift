// SPDX-License-Identifier: MIT

import Foundation
public import LupineLoading

/// Posts a notification for each of the most important events of a request. By default a session has this monitor only.
///
/// The notifications are posted on the main queue, to `NotificationCenter.default`. Their user info contains the `Request`, which
/// `Notification.request` returns. Their names are constants of `Request`.
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

    /// Posts the notifications of a single event, outside a batch.
    private func post(_ event: MonitorEvent) {
        var userInfo: ReusableUserInfo?
        postNotifications(of: event, reusing: &userInfo)
    }

    /// The user info of the latest notification in a batch. The next notification reuses its dictionary, because creating one is
    /// the largest part of the cost of most notifications. If an observer has retained the dictionary, the change copies it.
    struct ReusableUserInfo {
        /// The request that `dictionary` contains.
        private var request: Request
        private(set) var dictionary: [AnyHashable: Any]
        /// The position of the request in `dictionary`. Changing the value at a position needs no look-up of the key.
        private let requestIndex: [AnyHashable: Any].Index

        fileprivate init?(_ request: Request) {
            self.request = request
            dictionary = Notification.userInfo(about: request)
            // The request is the only entry.
            guard let index = dictionary.indices.first else { return nil }
            requestIndex = index
        }

        /// Replaces the request in the dictionary, unless it is the same.
        fileprivate mutating func change(to request: Request) {
            if self.request === request { return }
            self.request = request
            dictionary.values[requestIndex] = request
        }
    }

    /// Posts the notifications of an event: two for `started` and `ended`, which combine two events each; none for an event that
    /// has no notification. `userInfo` is nil before the first notification of a batch.
    func postNotifications(of event: MonitorEvent, reusing userInfo: inout ReusableUserInfo?) {
        switch event {
        case .started(let request, _):
            post(Request.didResumeNotification, about: request, reusing: &userInfo)
            post(Request.didResumeTaskNotification, about: request, reusing: &userInfo)
        case .ended(let request, _, _):
            post(Request.didCompleteTaskNotification, about: request, reusing: &userInfo)
            post(Request.didFinishNotification, about: request, reusing: &userInfo)
        default:
            guard let (name, request) = Self.notification(of: event) else { return }
            post(name, about: request, reusing: &userInfo)
        }
    }

    private func post(
        _ name: Notification.Name, about request: Request, reusing userInfo: inout ReusableUserInfo?
    ) {
        if userInfo == nil { userInfo = ReusableUserInfo(request) } else { userInfo?.change(to: request) }
        NotificationCenter.default.post(Notification(name: name, object: nil, userInfo: userInfo?.dictionary))
    }

    /// Returns the notification of an event that is not combined from two; nil if it has none.
    private static func notification(
        of event: MonitorEvent
    ) -> (name: Notification.Name, request: Request)? {
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
