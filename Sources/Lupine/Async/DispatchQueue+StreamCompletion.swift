// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

extension DispatchQueue {
    private static let streamCompletions = DispatchQueue(
        label: "org.alamofire.concurrencyStreamCompletionQueue", attributes: .concurrent)

    /// Returns a new serial queue for the handler of one asynchronous sequence of `request`. All of these queues target one
    /// concurrent queue, so they share its threads.
    static func streamCompletion(of request: Request) -> DispatchQueue {
        DispatchQueue(
            label: "org.alamofire.concurrencyStreamCompletionQueue-\(request.id)", target: streamCompletions)
    }
}
