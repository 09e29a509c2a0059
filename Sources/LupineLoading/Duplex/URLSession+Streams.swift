// SPDX-License-Identifier: MIT

import Foundation
import LupineTLS
import LupineTransport

/// Creates stream tasks.
extension URLSession {
    /// Creates a stream task for a connection to this host and port.
    func makeStreamTask(host: String, port: Int) -> URLSessionStreamTask {
        let stream = StreamCore()
        let task = core.makeTask(originalRequest: nil, sink: StreamSink(stream)) { [core] task in
            StreamLoad(stream, host: host, port: port, task: task, context: core.context)
        }
        stream.setPoster { [weak task] job in task?.callUnconditionally(job) }
        return task.begin(as: URLSessionStreamTask(task, stream), in: self)
    }
}
