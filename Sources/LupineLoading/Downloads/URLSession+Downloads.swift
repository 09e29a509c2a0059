// SPDX-License-Identifier: MIT

public import Foundation

/// Creates download tasks.
extension URLSession {
    /// Creates a download task for a request.
    func makeDownloadTask(
        _ request: URLRequest, handler: DownloadSink.Handler?,
        delegate: DelegateSet? = nil
    ) -> URLSessionDownloadTask {
        let folder = core.context.settings.temporaryDirectory
        return makeDownloadTask(DownloadStore(request, folder: folder), handler, delegate)
    }

    /// Creates a task that resumes a download. The task fails if the resume data is not valid.
    func makeDownloadTask(
        resuming resumeData: Data, handler: DownloadSink.Handler?,
        delegate: DelegateSet? = nil
    ) -> URLSessionDownloadTask {
        if let data = ResumeData(resumeData) {
            let folder = core.context.settings.temporaryDirectory
            return makeDownloadTask(DownloadStore(resuming: data, folder: folder), handler, delegate)
        }
        // The request is part of the resume data. Without valid data, the task has no request (U-7.14).
        let unusedStore = DownloadStore(
            URLRequest(url: URL(fileURLWithPath: "/")), folder: core.context.settings.temporaryDirectory)
        let sink = DownloadSink(unusedStore, decodesContent: false, handler)
        let task = core.makeTask(originalRequest: nil, sink: sink) { task in
            FailedLoad(
                .loading(.unsupportedURL, url: nil, reason: "this is no resume data"), created: task.created,
                client: task)
        }
        return task.begin(as: URLSessionDownloadTask(task), in: self, delegate: delegate)
    }

    /// Discards a download that resume data could resume: removes the partial file. Does nothing if the file no longer exists, or
    /// if the data is not valid resume data.
    ///
    /// A partial file that is neither resumed nor discarded is removed when it is older than a week.
    public class func discardDownload(withResumeData resumeData: Data) {
        guard let part = ResumeData(resumeData)?.file else { return }
        try? FileManager.default.removeItem(atPath: part)
    }

    /// Creates a download task that stores its content in `store`.
    private func makeDownloadTask(
        _ store: DownloadStore, _ handler: DownloadSink.Handler?, _ delegate: DelegateSet?
    ) -> URLSessionDownloadTask {
        let sink = DownloadSink(store, decodesContent: core.context.settings.lupine.decodesContent, handler)
        var definition = TaskDefinition(
            kind: .download, request: store.requestToSend, body: .request, mayDecode: store.mayDecode)
        definition.mustStartOver = { store.mustStartOver(after: $0) }
        let task = core.makeTask(definition, sink: sink)
        return task.begin(as: URLSessionDownloadTask(task), in: self, delegate: delegate)
    }
}
