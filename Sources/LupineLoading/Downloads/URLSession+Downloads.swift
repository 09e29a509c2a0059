// SPDX-License-Identifier: MIT

import Foundation

/// Making download tasks.
extension URLSession {
    func download(
        _ request: URLRequest, handler: DownloadSink.Handler?,
        delegate: DelegateSet? = nil
    ) -> URLSessionDownloadTask {
        download(DownloadStore(request), handler, delegate)
    }

    func download(
        resuming resumeData: Data, handler: DownloadSink.Handler?,
        delegate: DelegateSet? = nil
    ) -> URLSessionDownloadTask {
        if let data = ResumeData(resumeData) {
            return download(DownloadStore(resuming: data), handler, delegate)
        }
        // Nobody knows what was asked for (U-7.14).
        let nowhere = DownloadStore(URLRequest(url: URL(fileURLWithPath: "/")))
        let sink = DownloadSink(nowhere, decodes: false, handler)
        let task = core.makeTask(originalRequest: nil, sink: sink) { task in
            FailedLoad(
                .loading(.unsupportedURL, url: nil, reason: "this is no resume data"), created: task.created,
                client: task)
        }
        return task.begin(as: URLSessionDownloadTask(task), in: self, delegate: delegate)
    }

    private func download(
        _ store: DownloadStore, _ handler: DownloadSink.Handler?, _ delegate: DelegateSet?
    ) -> URLSessionDownloadTask {
        let sink = DownloadSink(store, decodes: core.context.settings.lupine.decodesContent, handler)
        let order = TaskOrder(
            kind: .download, request: store.requestToSend, body: .request, mayDecode: store.mayDecode)
        let task = core.makeTask(order, sink: sink)
        return task.begin(as: URLSessionDownloadTask(task), in: self, delegate: delegate)
    }
}
