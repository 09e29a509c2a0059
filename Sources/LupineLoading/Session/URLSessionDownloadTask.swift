// SPDX-License-Identifier: MIT

public import Foundation

/// A task that writes its content to a temporary file.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// Cancels the task, and passes the data with which another task can resume the download to the handler.
    ///
    /// - Parameter completionHandler: Called once on the delegate queue, before the task completes: with the data for
    ///   `downloadTask(withResumeData:)`, or with nil if the download cannot be resumed.
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        core.askForResumeData(completionHandler)
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key in an error's user info for the data that a failed download can be resumed with.
public let URLSessionDownloadTaskResumeData: String = "NSURLSessionDownloadTaskResumeData"

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key in an error's user info for the data that a failed download can be resumed with.
public let NSURLSessionDownloadTaskResumeData: String = "NSURLSessionDownloadTaskResumeData"
