// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading

@testable import Lupine

/// Callbacks that receive progress or the resume data, or choose a download's destination.
extension Callback {
    static let transfers = [
        Callback("upload progress", holds: .itself) { stage, hook in
            stage.session.upload(Data(count: 4096), to: stage.url("/post")).uploadProgress(
                queue: stage.queue()
            ) {
                _ in hook.call()
            }
        },
        Callback("download progress", holds: .itself) { stage, hook in
            stage.get().downloadProgress(queue: stage.queue()) { _ in hook.call() }
        },
        Callback("handler of heads", holds: .itself) { stage, hook in
            stage.get().onHTTPResponse(on: stage.queue()) { _ in hook.call() }
        },
        Callback("judge of heads", holds: .itself) { stage, hook in
            stage.session.streamRequest(stage.url()).onHTTPResponse(on: stage.queue()) { _, answer in
                hook.call()
                answer(.allow)
            }
        },
        Callback("handler of URL requests", holds: .itself) { stage, hook in
            stage.get().onURLRequestCreation(on: stage.queue()) { _ in hook.call() }
        },
        Callback("handler of tasks", holds: .itself) { stage, hook in
            stage.get().onURLSessionTaskCreation(on: stage.queue()) { _ in hook.call() }
        },
        Callback("handler of the curl command", holds: .itself) { stage, hook in
            stage.get().cURLDescription(on: stage.queue(), calling: { _ in hook.call() })
        },
        Callback("destination") { stage, hook in
            stage.session.download(
                stage.url(),
                to: { temporary, _ in
                    hook.call()
                    return (temporary, [])
                })
        },
        Callback("opener of a file") { stage, hook in
            stage.session.streamRequest(stage.url()).saveContent { _ in
                hook.call()
                return nil
            }
        },
        Callback("resume data") { stage, hook in
            // A download that does not end before it is cancelled.
            let request = stage.session.download(
                stage.url("/delay/3600"), requestModifier: { $0.timeoutInterval = 3_600 })
            request.onURLSessionTaskCreation(on: stage.queue()) { [weak request] _ in
                request?.cancel(byProducingResumeData: { _ in hook.call() })
            }
            return request
        },
        Callback("all requests") { stage, hook in
            let request = stage.get()
            stage.session.withAllRequests { _ in hook.call() }
            return request
        },
        Callback("end of cancelling all", holds: .itself) { stage, hook in
            let request = stage.get()
            stage.session.cancelAllRequests(completingOnQueue: stage.queue()) { hook.call() }
            return request
        },
    ]

    static let observing = [
        Callback(
            "monitor", holds: .itself,
            prepare: { setUp, hook in
                let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "hostile.monitor"))
                monitor.requestDidCreateTask = { _, _ in hook.call() }
                setUp.monitors = [monitor]
            }),
        Callback(
            "monitor of the URLSession", holds: .itself,
            prepare: { setUp, hook in
                let monitor = ClosureEventMonitor(queue: DispatchQueue(label: "hostile.monitor"))
                monitor.taskDidComplete = { _, _, _ in hook.call() }
                setUp.monitors = [monitor]
            }),
        Callback("place of log lines", holds: .itself) { stage, hook in
            stage.get().eventMonitor(LoggingEventMonitor { _ in hook.call() })
        },
    ]
}
