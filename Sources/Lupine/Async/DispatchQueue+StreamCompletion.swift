// SPDX-License-Identifier: MIT

import Dispatch
import Foundation

extension DispatchQueue {
    private static let streamCompletions = DispatchQueue(
        label: "org.alamofire.concurrencyStreamCompletionQueue", attributes: .concurrent)

    /// A serial queue for the handler of one asynchronous sequence of a request's. They have no threads of their own.
    static func streamCompletion(of request: Request) -> DispatchQueue {
        DispatchQueue(
            label: "org.alamofire.concurrencyStreamCompletionQueue-\(request.id)", target: streamCompletions)
    }
}
