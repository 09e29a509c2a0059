// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

extension DispatchQueue {
    /// The concurrent queue that the queues of all asynchronous sequences target.
    private static let streamCompletions = DispatchQueue(
        label: "org.alamofire.concurrencyStreamCompletionQueue", attributes: .concurrent)

    /// Returns a new serial queue for the handler of one asynchronous sequence of `request`. All of these queues share the
    /// threads of `streamCompletions`.
    static func streamCompletion(of request: Request) -> DispatchQueue {
        DispatchQueue(
            label: "org.alamofire.concurrencyStreamCompletionQueue-\(request.id)", target: streamCompletions)
    }
}
