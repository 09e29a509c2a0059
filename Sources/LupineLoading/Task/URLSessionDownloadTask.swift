// SPDX-License-Identifier: MIT

public import Foundation

/// A task whose content goes into a temporary file.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// Cancels the task so that another can go on where it ended, if the server allows that.
    ///
    /// - Parameter completionHandler: Called once on the delegate queue, before the task completes: with what
    ///   `downloadTask(withResumeData:)` takes, or with nil when a download would have to start again.
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        core.askForResumeData(completionHandler)
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Where an error's user info holds what a failed download can be resumed from.
public let URLSessionDownloadTaskResumeData: String = "NSURLSessionDownloadTaskResumeData"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Where an error's user info holds what a failed download can be resumed from.
public let NSURLSessionDownloadTaskResumeData: String = "NSURLSessionDownloadTaskResumeData"
