// SPDX-License-Identifier: MIT

public import Foundation

/// A data task with a body of its own: data, a file, or a stream that the delegate supplies.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
    /// Cancels the task. It leaves no resume data: uploads start again (`uploadTask(withResumeData:)`).
    ///
    /// - Parameter completionHandler: Called with nil on the delegate queue, before the task completes.
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        core.askForResumeData(completionHandler)
    }
}
