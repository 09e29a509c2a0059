// SPDX-License-Identifier: MIT

public import Foundation

/// A data task that sends a body: data, a file, or a stream that the delegate supplies.
open class URLSessionUploadTask: URLSessionDataTask, @unchecked Sendable {
    /// Cancels the task. There is no resume data, because uploads cannot be resumed: a task of `uploadTask(withResumeData:)`
    /// always fails.
    ///
    /// - Parameter completionHandler: Called with nil on the delegate queue, before the task completes.
    open func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        core.askForResumeData(completionHandler)
    }
}
