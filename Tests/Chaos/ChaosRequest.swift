// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import Lupine
internal import LupineLoading
internal import LupineTransport

/// One request in progress: makes it as planned, and collects the observation. Any thread.
final class ChaosRequest: Sendable {
    private struct State {
        var calls: [Int]
        var outcome: ChaosObservation.Outcome?
        var name: String?
        var wrongPart: String?
        var matcher: PieceMatcher?
        var isOver = false
        var hasDawdled = false
    }

    let plan: ChaosPlan
    let begin = ContinuousClock.now
    private let interceptor: ChaosInterceptor
    private let folder: URL
    private let content: [UInt8]
    private let state: Lock<State>
    private let ended: @Sendable (ChaosRequest) -> Void

    /// Creates the request of a plan. `ended` is called once, when each handler has been called.
    init(
        _ plan: ChaosPlan, _ doors: ChaosDoors, folder: URL,
        ended: @escaping @Sendable (ChaosRequest) -> Void
    ) {
        self.plan = plan
        self.folder = folder
        self.ended = ended
        content = plan.trial(0).content
        interceptor = ChaosInterceptor(plan, doors)
        state = Lock(State(calls: Array(repeating: 0, count: plan.handlers)))
    }

    /// The observation so far.
    var observation: ChaosObservation {
        let (attempts, failures) = (interceptor.attempts, interceptor.failures)
        return state.withLock { state in
            ChaosObservation(
                calls: state.calls, outcome: state.outcome ?? .wrong("it has not ended"), attempts: attempts,
                failures: failures, name: state.name, wrongPart: state.wrongPart)
        }
    }

    /// A description of its progress.
    var stage: String { interceptor.stage }

    /// Makes the request and sends it. Returns it, so that its deallocation can be observed.
    func start(_ session: Session) -> Request {
        var base = URLRequest(url: URL(filePath: "/"))
        base.method = HTTPMethod(rawValue: plan.form.method)
        let request: Request
        switch plan.form {
        case .data: request = data(session.request(base, interceptor: interceptor))
        case .text: request = text(session.request(base, interceptor: interceptor))
        case .decodable: request = decodable(session.request(base, interceptor: interceptor))
        case .stream: request = stream(session.streamRequest(base, interceptor: interceptor))
        case .download: request = download(session.download(base, interceptor: interceptor))
        case .placedDownload:
            let place = own("placed")
            request = download(
                session.download(base, interceptor: interceptor) { _, _ in (place, [.removePreviousFile]) })
        case .upload:
            request = data(
                session.upload(Data(plan.trial(0).upload), with: base, interceptor: interceptor))
        case .post:
            request = data(
                session.upload(Data(plan.trial(0).upload), with: base, interceptor: interceptor))
        case .fileUpload: request = data(session.upload(file(), with: base, interceptor: interceptor))
        case .streamUpload:
            let body = InputStream(data: Data(plan.trial(0).upload))
            request = data(session.upload(body, with: base, interceptor: interceptor))
        case .form:
            request = data(
                session.upload(multipartFormData: ownForm, with: base, interceptor: interceptor))
        case .storedForm:
            request = data(
                session.upload(
                    multipartFormData: ownForm, with: base, usingThreshold: 0, interceptor: interceptor))
        }
        interceptor.setRequest(request)
        performCallerActions(request)
        return request
    }

    /// Performs the caller's planned actions: suspension and cancellation.
    private func performCallerActions(_ request: Request) {
        if plan.pauses {
            request.suspend()
            DispatchQueue.global().async { request.resume() }
        } else {
            request.resume()
        }
        switch plan.cancellation {
        case .never, .inAdapter: break
        case .atOnce: request.cancel()
        case .after(let milliseconds):
            let delay = DispatchTimeInterval.milliseconds(milliseconds)
            DispatchQueue.global().asyncAfter(deadline: .now() + delay) { [weak request] in
                request?.cancel()
            }
        }
    }

    // MARK: forms

    private func data(_ request: DataRequest) -> Request {
        request.validate()
        for index in 0..<plan.handlers {
            request.responseData(queue: .global()) { [self] response in
                called(index, response.response, response.error, part: response.data) {
                    compare(response.value)
                }
            }
        }
        return request
    }

    private func text(_ request: DataRequest) -> Request {
        request.validate()
        for index in 0..<plan.handlers {
            request.responseString(queue: .global()) { [self] response in
                called(index, response.response, response.error, part: response.data) {
                    compare(response.value.map { Data($0.utf8) })
                }
            }
        }
        return request
    }

    private func decodable(_ request: DataRequest) -> Request {
        request.validate()
        for index in 0..<plan.handlers {
            request.responseDecodable(of: ChaosContent.Document.self, queue: .global()) { [self] response in
                called(index, response.response, response.error, part: response.data) {
                    let expected = ChaosContent.document(
                        seed: plan.seed, number: plan.number, size: plan.size)
                    guard response.value == expected else { return "another document" }
                    return compare(response.data)
                }
            }
        }
        return request
    }

    private func stream(_ request: DataStreamRequest) -> Request {
        request.validate()
        state.withLock { $0.matcher = PieceMatcher(content) }
        for index in 0..<plan.handlers {
            let queue = DispatchQueue(label: "chaos.stream")
            request.responseStream(on: queue) { [self, weak request] stream in
                switch stream.event {
                case .stream(.success(let piece)):
                    guard index == 0 else { return }
                    state.withLock { $0.matcher?.add(piece) }
                    suspendBriefly(request)
                case .complete(let completion):
                    called(index, completion.response, completion.error, part: nil) {
                        state.withLock { $0.matcher?.isWhole == true ? nil : "the pieces are not the body" }
                    }
                }
            }
        }
        return request
    }

    /// Suspends a stream once, for a moment.
    private func suspendBriefly(_ request: DataStreamRequest?) {
        let isDue = state.withLock { state in
            defer { state.hasDawdled = true }
            return plan.suspendsBriefly && !state.hasDawdled
        }
        guard isDue, let request else { return }
        request.suspend()
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { [weak request] in
            request?.resume()
        }
    }

    private func download(_ request: DownloadRequest) -> Request {
        request.validate()
        for index in 0..<plan.handlers {
            request.response(queue: .global()) { [self] response in
                // The first handler reads the file and removes it; the others only count.
                let content = index == 0 ? response.fileURL.flatMap { try? Data(contentsOf: $0) } : nil
                if index == 0, let file = response.fileURL { try? FileManager.default.removeItem(at: file) }
                called(index, response.response, response.error, part: content) {
                    index == 0 ? compare(content) : nil
                }
            }
        }
        return request
    }

    /// Returns the URL of a file of this request.
    private func own(_ name: String) -> URL { folder.appendingPathComponent("\(name)-\(plan.number)") }

    private func file() -> URL {
        let place = own("upload")
        _ = try? Data(plan.form.isMultipart ? filling : plan.trial(0).upload).write(to: place)
        return place
    }

    /// The content of a form's file.
    private var filling: [UInt8] {
        ChaosContent.request(seed: plan.seed, number: plan.number, size: plan.uploadSize)
    }

    /// The request's form.
    private var ownForm: MultipartFormData {
        let form = MultipartFormData(
            boundary: ChaosContent.boundary(seed: plan.seed, number: plan.number))
        form.append(Data("\(plan.seed)/\(plan.number)".utf8), withName: "name")
        if plan.form == .storedForm {
            form.append(file(), withName: "filling", fileName: "filling.txt", mimeType: "text/plain")
        } else {
            form.append(
                Data(filling), withName: "filling", fileName: "filling.txt", mimeType: "text/plain")
        }
        return form
    }

    // MARK: the end

    /// Returns the reason why a body is not the request's own; nil if it is.
    private func compare(_ body: Data?) -> String? {
        guard let body else { return "no body" }
        if body.elementsEqual(content) { return nil }
        let text = String(decoding: body.prefix(40), as: UTF8.self).debugDescription
        return "\(body.count) octets instead of \(content.count): \(text)"
    }

    private func called(
        _ index: Int, _ response: HTTPURLResponse?, _ error: AFError?, part: Data?,
        isWrong: () -> String?
    ) {
        let outcome: ChaosObservation.Outcome =
            if let error {
                .failure(ChaosFailure(error), "\(error)")
            } else if let reason = isWrong() {
                .wrong(reason)
            } else {
                .whole
            }
        let wrongPart =
            error == nil ? nil : part.flatMap { content.starts(with: $0) ? nil : "\($0.count) octets" }
        // The response must not be read under the lock.
        let name = response?.value(forHTTPHeaderField: "X-Chaos")
        let isOver = state.withLock { state in
            state.calls[index] += 1
            if index == 0 || state.outcome == nil { state.outcome = outcome }
            if index == 0 { state.name = name }
            state.wrongPart = state.wrongPart ?? wrongPart ?? state.matcher?.wrongPiece
            defer { state.isOver = state.calls.allSatisfy { $0 > 0 } }
            return !state.isOver && state.calls.allSatisfy { $0 > 0 }
        }
        guard isOver else { return }
        switch plan.form {
        case .fileUpload, .storedForm: try? FileManager.default.removeItem(at: own("upload"))
        // An attempt that was refused for its status has left its file at the caller's destination.
        case .placedDownload: try? FileManager.default.removeItem(at: own("placed"))
        case .data, .text, .decodable, .stream, .download, .upload, .post, .streamUpload, .form: break
        }
        ended(self)
    }
}
