// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

extension DispatchQueue {
    private static let streamCompletions = DispatchQueue(
        label: "org.alamofire.concurrencyStreamCompletionQueue", attributes: .concurrent)

    /// Returns a serial queue for the handler of one asynchronous sequence of `request`. These queues have no threads of
    /// their own: all of them target one concurrent queue.
    static func streamCompletion(of request: Request) -> DispatchQueue {
        DispatchQueue(
            label: "org.alamofire.concurrencyStreamCompletionQueue-\(request.id)", target: streamCompletions)
    }
}
