// SPDX-License-Identifier: MIT

public import Foundation

/// A task whose content goes into a temporary file.
open class URLSessionDownloadTask: URLSessionTask, @unchecked Sendable {
    /// Cancels the task, and passes on the data with which another task can resume the download, if the server allows that.
    ///
    /// - Parameter completionHandler: Called once on the delegate queue, before the task completes: with the data for
    ///   `downloadTask(withResumeData:)`, or with nil if a download would have to start again.
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
