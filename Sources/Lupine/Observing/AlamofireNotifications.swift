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
        post(.didResume, about: request)
    }

    /// Posts `Request.didSuspendNotification`.
    public func requestDidSuspend(_ request: Request) {
        post(.didSuspend, about: request)
    }

    /// Posts `Request.didCancelNotification`.
    public func requestDidCancel(_ request: Request) {
        post(.didCancel, about: request)
    }

    /// Posts `Request.didFinishNotification`.
    public func requestDidFinish(_ request: Request) {
        post(.didFinish, about: request)
    }

    /// Posts `Request.didResumeTaskNotification`.
    public func request(_ request: Request, didResumeTask task: URLSessionTask) {
        post(.didResumeTask, about: request)
    }

    /// Posts `Request.didSuspendTaskNotification`.
    public func request(_ request: Request, didSuspendTask task: URLSessionTask) {
        post(.didSuspendTask, about: request)
    }

    /// Posts `Request.didCancelTaskNotification`.
    public func request(_ request: Request, didCancelTask task: URLSessionTask) {
        post(.didCancelTask, about: request)
    }

    /// Posts `Request.didCompleteTaskNotification`.
    public func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        post(.didCompleteTask, about: request)
    }

    /// Posts notifications outside a batch.
    private func post(_ notifications: RequestNotifications, about request: Request) {
        var userInfo: ReusableUserInfo?
        post(notifications, about: request, reusing: &userInfo)
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

    /// Posts notifications about a request. `userInfo` is nil before the first notification of a batch.
    func post(
        _ notifications: RequestNotifications, about request: Request,
        reusing userInfo: inout ReusableUserInfo?
    ) {
        if userInfo == nil { userInfo = ReusableUserInfo(request) } else { userInfo?.change(to: request) }
        for (notification, name) in RequestNotifications.all where notifications.contains(notification) {
            NotificationCenter.default.post(
                Notification(name: name, object: nil, userInfo: userInfo?.dictionary))
        }
    }
}
