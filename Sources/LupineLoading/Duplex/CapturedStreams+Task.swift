// SPDX-License-Identifier: MIT

import Foundation

extension CapturedStreams {
    /// Passes the streams to the delegate of the task.
    func passToDelegate(of task: TaskCore) {
        task.call { [pair] context in
            guard let task = context.task as? URLSessionStreamTask else { return }
            context.delegates.stream?.urlSession(
                context.session, streamTask: task, didBecome: pair.value.input,
                outputStream: pair.value.output)
        }
    }
}
