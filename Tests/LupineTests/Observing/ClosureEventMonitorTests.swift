// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineTestKit
import Testing

@testable import Lupine

/// The monitor that calls a closure for each event.
struct ClosureEventMonitorTests {
    /// Returns, for each event, the name of its closure and a call of the monitor's method.
    private func events(_ stage: ObservedStage) async throws -> [(String, (ClosureEventMonitor) -> Void)] {
        let session = stage.session.session
        let url = try stage.url("/get").asURL()
        let urlRequest = URLRequest(url: url)
        let dataRequest = stage.session.request(urlRequest)
        let dataResponse = await withCheckedContinuation { continuation in
            dataRequest.response(queue: .main) { continuation.resume(returning: $0) }
        }
        let response = try #require(dataResponse.response)
        let metrics = try #require(dataResponse.metrics)
        let task = session.dataTask(with: url)
        let download = session.downloadTask(with: url)
        let cached = CachedURLResponse(response: response, data: Data())
        let challenge = URLAuthenticationChallenge(
            space: URLProtectionSpace(
                host: "127.0.0.1", port: 80, protocol: "http", realm: nil, authenticationMethod: nil),
            credential: nil, failures: 0, response: nil)
        let streamRequest = stage.stream("/get")
        let downloadRequest = stage.download("/get", to: FileManager.default.temporaryDirectory)
        let uploadRequest = UploadRequest(
            convertible: FailingUpload(), underlyingQueue: stage.session.rootQueue,
            serializationQueue: stage.session.serializationQueue, eventMonitor: nil, interceptor: nil,
            fileManager: .default, shouldAutomaticallyResume: nil, delegate: stage.session)
        let downloadResponse = DownloadResponse<URL?, AFError>(
            request: nil, response: nil, fileURL: nil, resumeData: nil, metrics: nil,
            serializationDuration: 0, result: .success(nil))
        return [
            (
                "sessionDidBecomeInvalidWithError",
                { $0.urlSession(session, didBecomeInvalidWithError: AFError.explicitlyCancelled) }
            ),
            ("taskDidReceiveChallenge", { $0.urlSession(session, task: task, didReceive: challenge) }),
            (
                "taskDidSendBodyData",
                {
                    $0.urlSession(
                        session, task: task, didSendBodyData: 1, totalBytesSent: 1,
                        totalBytesExpectedToSend: 1)
                }
            ),
            ("taskNeedNewBodyStream", { $0.urlSession(session, taskNeedsNewBodyStream: task) }),
            (
                "taskWillPerformHTTPRedirection",
                {
                    $0.urlSession(
                        session, task: task, willPerformHTTPRedirection: response, newRequest: urlRequest)
                }
            ),
            (
                "taskDidFinishCollectingMetrics",
                { $0.urlSession(session, task: task, didFinishCollecting: metrics) }
            ),
            (
                "taskDidComplete",
                { $0.urlSession(session, task: task, didCompleteWithError: AFError.explicitlyCancelled) }
            ),
            ("taskIsWaitingForConnectivity", { $0.urlSession(session, taskIsWaitingForConnectivity: task) }),
            ("dataTaskDidReceiveResponse", { $0.urlSession(session, dataTask: task, didReceive: response) }),
            ("dataTaskDidReceiveData", { $0.urlSession(session, dataTask: task, didReceive: Data()) }),
            (
                "dataTaskWillCacheResponse",
                { $0.urlSession(session, dataTask: task, willCacheResponse: cached) }
            ),
            (
                "downloadTaskDidResumeAtOffset",
                {
                    $0.urlSession(
                        session, downloadTask: download, didResumeAtOffset: 1, expectedTotalBytes: 1)
                }
            ),
            (
                "downloadTaskDidWriteData",
                {
                    $0.urlSession(
                        session, downloadTask: download, didWriteData: 1, totalBytesWritten: 1,
                        totalBytesExpectedToWrite: 1)
                }
            ),
            (
                "downloadTaskDidFinishDownloadingToURL",
                { $0.urlSession(session, downloadTask: download, didFinishDownloadingTo: url) }
            ),
            ("requestDidResume", { $0.requestDidResume(dataRequest) }),
            (
                "requestDidCreateInitialURLRequest",
                { $0.request(dataRequest, didCreateInitialURLRequest: urlRequest) }
            ),
            (
                "requestDidFailToCreateURLRequestWithError",
                { $0.request(dataRequest, didFailToCreateURLRequestWithError: AFError.explicitlyCancelled) }
            ),
            (
                "requestDidAdaptInitialRequestToAdaptedRequest",
                { $0.request(dataRequest, didAdaptInitialRequest: urlRequest, to: urlRequest) }
            ),
            (
                "requestDidFailToAdaptURLRequestWithError",
                {
                    $0.request(
                        dataRequest, didFailToAdaptURLRequest: urlRequest,
                        withError: AFError.explicitlyCancelled)
                }
            ),
            ("requestDidCreateURLRequest", { $0.request(dataRequest, didCreateURLRequest: urlRequest) }),
            ("requestDidCreateTask", { $0.request(dataRequest, didCreateTask: task) }),
            ("requestDidResumeTask", { $0.request(dataRequest, didResumeTask: task) }),
            ("requestDidSuspend", { $0.requestDidSuspend(dataRequest) }),
            ("requestDidSuspendTask", { $0.request(dataRequest, didSuspendTask: task) }),
            ("requestDidCancel", { $0.requestDidCancel(dataRequest) }),
            ("requestDidCancelTask", { $0.request(dataRequest, didCancelTask: task) }),
            ("requestDidGatherMetrics", { $0.request(dataRequest, didGatherMetrics: metrics) }),
            (
                "requestDidFailTaskEarlyWithError",
                { $0.request(dataRequest, didFailTask: task, earlyWithError: AFError.explicitlyCancelled) }
            ),
            (
                "requestDidCompleteTaskWithError",
                { $0.request(dataRequest, didCompleteTask: task, with: AFError.explicitlyCancelled) }
            ),
            ("requestIsRetrying", { $0.requestIsRetrying(dataRequest) }),
            ("requestDidFinish", { $0.requestDidFinish(dataRequest) }),
            (
                "requestDidValidateRequestResponseDataWithResult",
                {
                    $0.request(
                        dataRequest, didValidateRequest: urlRequest, response: response, data: Data(),
                        withResult: .success(()))
                }
            ),
            ("requestDidParseResponse", { $0.request(dataRequest, didParseResponse: dataResponse) }),
            (
                "requestDidValidateRequestResponseWithResult",
                {
                    $0.request(
                        streamRequest, didValidateRequest: urlRequest, response: response,
                        withResult: .success(()))
                }
            ),
            ("requestDidCreateUploadable", { $0.request(uploadRequest, didCreateUploadable: .data(Data())) }),
            (
                "requestDidFailToCreateUploadableWithError",
                { $0.request(uploadRequest, didFailToCreateUploadableWithError: AFError.explicitlyCancelled) }
            ),
            (
                "requestDidProvideInputStream",
                { $0.request(uploadRequest, didProvideInputStream: InputStream(data: Data())) }
            ),
            ("requestDidCreateDestinationURL", { $0.request(downloadRequest, didCreateDestinationURL: url) }),
            (
                "requestDidFinishDownloadingUsingTaskWithResult",
                { $0.request(downloadRequest, didFinishDownloadingUsing: task, with: .success(url)) }
            ),
            (
                "requestDidValidateRequestResponseFileURLWithResult",
                {
                    $0.request(
                        downloadRequest, didValidateRequest: urlRequest, response: response, fileURL: url,
                        withResult: .success(()))
                }
            ),
            (
                "requestDidParseDownloadResponse",
                { $0.request(downloadRequest, didParseResponse: downloadResponse) }
            ),
        ]
    }

    private struct FailingUpload: UploadConvertible {
        func asURLRequest() throws -> URLRequest { throw AFError.explicitlyCancelled }
        func createUploadable() throws -> UploadRequest.Uploadable { .data(Data()) }
    }

    @Test("each event calls its closure, and no other", arguments: TestedHTTP.allCases)
    func each(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage in
            let heard = ValueLog<String>()
            let monitor = ClosureEventMonitor()
            monitor.sessionDidBecomeInvalidWithError = { _, _ in heard.add("sessionDidBecomeInvalidWithError")
            }
            monitor.taskDidReceiveChallenge = { _, _, _ in heard.add("taskDidReceiveChallenge") }
            monitor.taskDidSendBodyData = { _, _, _, _, _ in heard.add("taskDidSendBodyData") }
            monitor.taskNeedNewBodyStream = { _, _ in heard.add("taskNeedNewBodyStream") }
            monitor.taskWillPerformHTTPRedirection = { _, _, _, _ in
                heard.add("taskWillPerformHTTPRedirection")
            }
            monitor.taskDidFinishCollectingMetrics = { _, _, _ in heard.add("taskDidFinishCollectingMetrics")
            }
            monitor.taskDidComplete = { _, _, _ in heard.add("taskDidComplete") }
            monitor.taskIsWaitingForConnectivity = { _, _ in heard.add("taskIsWaitingForConnectivity") }
            monitor.dataTaskDidReceiveResponse = { _, _, _ in heard.add("dataTaskDidReceiveResponse") }
            monitor.dataTaskDidReceiveData = { _, _, _ in heard.add("dataTaskDidReceiveData") }
            monitor.dataTaskWillCacheResponse = { _, _, _ in heard.add("dataTaskWillCacheResponse") }
            monitor.downloadTaskDidResumeAtOffset = { _, _, _, _ in heard.add("downloadTaskDidResumeAtOffset")
            }
            monitor.downloadTaskDidWriteData = { _, _, _, _, _ in heard.add("downloadTaskDidWriteData") }
            monitor.downloadTaskDidFinishDownloadingToURL = { _, _, _ in
                heard.add("downloadTaskDidFinishDownloadingToURL")
            }
            monitor.requestDidResume = { _ in heard.add("requestDidResume") }
            monitor.requestDidCreateInitialURLRequest = { _, _ in
                heard.add("requestDidCreateInitialURLRequest")
            }
            monitor.requestDidFailToCreateURLRequestWithError = { _, _ in
                heard.add("requestDidFailToCreateURLRequestWithError")
            }
            monitor.requestDidAdaptInitialRequestToAdaptedRequest = { _, _, _ in
                heard.add("requestDidAdaptInitialRequestToAdaptedRequest")
            }
            monitor.requestDidFailToAdaptURLRequestWithError = { _, _, _ in
                heard.add("requestDidFailToAdaptURLRequestWithError")
            }
            monitor.requestDidCreateURLRequest = { _, _ in heard.add("requestDidCreateURLRequest") }
            monitor.requestDidCreateTask = { _, _ in heard.add("requestDidCreateTask") }
            monitor.requestDidResumeTask = { _, _ in heard.add("requestDidResumeTask") }
            monitor.requestDidSuspend = { _ in heard.add("requestDidSuspend") }
            monitor.requestDidSuspendTask = { _, _ in heard.add("requestDidSuspendTask") }
            monitor.requestDidCancel = { _ in heard.add("requestDidCancel") }
            monitor.requestDidCancelTask = { _, _ in heard.add("requestDidCancelTask") }
            monitor.requestDidGatherMetrics = { _, _ in heard.add("requestDidGatherMetrics") }
            monitor.requestDidFailTaskEarlyWithError = { _, _, _ in
                heard.add("requestDidFailTaskEarlyWithError")
            }
            monitor.requestDidCompleteTaskWithError = { _, _, _ in
                heard.add("requestDidCompleteTaskWithError")
            }
            monitor.requestIsRetrying = { _ in heard.add("requestIsRetrying") }
            monitor.requestDidFinish = { _ in heard.add("requestDidFinish") }
            monitor.requestDidValidateRequestResponseDataWithResult = { _, _, _, _, _ in
                heard.add("requestDidValidateRequestResponseDataWithResult")
            }
            monitor.requestDidParseResponse = { _, _ in heard.add("requestDidParseResponse") }
            monitor.requestDidValidateRequestResponseWithResult = { _, _, _, _ in
                heard.add("requestDidValidateRequestResponseWithResult")
            }
            monitor.requestDidCreateUploadable = { _, _ in heard.add("requestDidCreateUploadable") }
            monitor.requestDidFailToCreateUploadableWithError = { _, _ in
                heard.add("requestDidFailToCreateUploadableWithError")
            }
            monitor.requestDidProvideInputStream = { _, _ in heard.add("requestDidProvideInputStream") }
            monitor.requestDidCreateDestinationURL = { _, _ in heard.add("requestDidCreateDestinationURL") }
            monitor.requestDidFinishDownloadingUsingTaskWithResult = { _, _, _ in
                heard.add("requestDidFinishDownloadingUsingTaskWithResult")
            }
            monitor.requestDidValidateRequestResponseFileURLWithResult = { _, _, _, _, _ in
                heard.add("requestDidValidateRequestResponseFileURLWithResult")
            }
            monitor.requestDidParseDownloadResponse = { _, _ in heard.add("requestDidParseDownloadResponse") }
            let events = try await events(stage)
            #expect(events.count == 41)
            for (_, emit) in events { emit(monitor) }
            #expect(heard.all == events.map(\.0))
        }
    }

    @Test(
        "a closure is read when its event is delivered; a replaced closure is not called",
        arguments: TestedHTTP.allCases)
    func readLate(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage in
            let queue = DispatchQueue(label: "suspended")
            queue.suspend()
            let monitor = ClosureEventMonitor(queue: queue)
            let heard = ValueLog<String>()
            monitor.taskIsWaitingForConnectivity = { _, _ in heard.add("first") }
            let composite = CompositeEventMonitor(monitors: [monitor])
            let task = stage.session.session.dataTask(with: try stage.url("/").asURL())
            composite.urlSession(stage.session.session, taskIsWaitingForConnectivity: task)
            monitor.taskIsWaitingForConnectivity = { _, _ in
                heard.add("second")
                monitor.taskIsWaitingForConnectivity = nil
            }
            composite.urlSession(stage.session.session, taskIsWaitingForConnectivity: task)
            queue.resume()
            queue.sync {}
            #expect(heard.all == ["second"])
            #expect(monitor.taskIsWaitingForConnectivity == nil)
        }
    }

    @Test(
        "the results of handlers without a serializer have a closure, those with one have none",
        arguments: TestedHTTP.allCases)
    func serializers(over testedHTTP: TestedHTTP) async throws {
        let monitor = ClosureEventMonitor()
        let heard = ValueLog<String>()
        monitor.requestDidParseResponse = { _, _ in heard.add("parsed") }
        monitor.requestDidFinish = { _ in heard.add("finished") }
        try await withObserved(monitors: [monitor], over: testedHTTP) { stage in
            _ = await stage.session.request(stage.url("/get")).serializingData().response
            await heard.wait(for: 1)
            let request = stage.session.request(stage.url("/get"))
            await withCheckedContinuation { continuation in
                request.response { _ in continuation.resume() }
            }
            #expect(await heard.wait(for: 3) == ["finished", "finished", "parsed"])
        }
    }

    @Test(
        "a subclass can override the methods, and `super` calls the closures", arguments: TestedHTTP.allCases)
    func subclass(over testedHTTP: TestedHTTP) async throws {
        try await withObserved(over: testedHTTP) { stage in
            let heard = ValueLog<String>()
            let monitor = Subclass(heard)
            let request = stage.session.request(stage.url("/get")).eventMonitor(monitor)
            _ = await request.serializingData().response
            #expect(await heard.wait(for: 2) == ["resumed", "resumed by closure"])
        }
    }
}

/// A subclass that overrides a method of the monitor.
private final class Subclass: ClosureEventMonitor, @unchecked Sendable {
    private let heard: ValueLog<String>

    init(_ heard: ValueLog<String>) {
        self.heard = heard
        super.init()
        requestDidResume = { _ in heard.add("resumed by closure") }
    }

    override func requestDidResume(_ request: Request) {
        heard.add("resumed")
        super.requestDidResume(request)
    }
}
