// SPDX-License-Identifier: MIT

internal import Dispatch
internal import Foundation
internal import Lupine

/// Prints the events of requests as they happen (`--events`). The session calls its methods on `queue`.
final class EventReporter: EventMonitor {
    let queue = DispatchQueue(label: "lupine.events")
    private let sink: ProcessContext.Sink
    private let style: Style
    private let showsSecrets: Bool
    private let clock = ContinuousClock()
    private let startTime: ContinuousClock.Instant

    init(sink: ProcessContext.Sink, style: Style, showsSecrets: Bool) {
        self.sink = sink
        self.style = style
        self.showsSecrets = showsSecrets
        startTime = clock.now
    }

    /// Prints the name and the details of an event, with the time since the start.
    private func printEvent(_ name: String, _ details: String = "") {
        let time = ByteText.duration((clock.now - startTime) / .seconds(1))
        let spaceAndDetails = details.isEmpty ? "" : " \(details)"
        sink.say("\(style.paint(time.padded(to: 9), .faint)) \(style.paint(name, .name))\(spaceAndDetails)\n")
    }

    /// Returns the method and the URL of a request. Unless the user asks for secrets, the URL lacks its query and credentials.
    private func methodAndURL(_ request: URLRequest?) -> String {
        guard let request, let url = request.url else { return "" }
        let shownURL = showsSecrets ? url.absoluteString : ShownAddress.text(url)
        return "\(request.httpMethod ?? "GET") \(shownURL)"
    }

    func request(_ request: Request, didCreateURLRequest urlRequest: URLRequest) {
        printEvent("request made", methodAndURL(urlRequest))
    }

    func request(_ request: Request, didCreateTask task: URLSessionTask) {
        printEvent("task made", "number \(task.taskIdentifier)")
    }

    func request(_ request: Request, didResumeTask task: URLSessionTask) { printEvent("task resumed") }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge
    ) {
        let space = challenge.protectionSpace
        let method = space.authenticationMethod.replacing("NSURLAuthenticationMethod", with: "")
        printEvent("challenge", "\(method) from \(space.host):\(space.port)")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest
    ) {
        printEvent("redirect", "\(response.statusCode) to \(methodAndURL(request))")
    }

    func urlSession(_ session: URLSession, taskNeedsNewBodyStream task: URLSessionTask) {
        printEvent("body asked for again")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        printEvent("content", "\(data.count) bytes")
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        let time = ByteText.duration(metrics.taskInterval.duration)
        let reusedCount = metrics.transactionMetrics.filter(\.isReusedConnection).count
        printEvent(
            "metrics",
            "\(metrics.transactionMetrics.count) transactions, \(reusedCount) on a used connection, \(time)")
    }

    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        let status = (task.response as? HTTPURLResponse).map { "status \($0.statusCode)" } ?? "no response"
        printEvent("task complete", error.map { "\(status); \($0.localizedDescription)" } ?? status)
    }

    func requestIsRetrying(_ request: Request) { printEvent("retry") }

    func requestDidCancel(_ request: Request) { printEvent("cancelled") }

    func requestDidFinish(_ request: Request) { printEvent("finished") }
}
