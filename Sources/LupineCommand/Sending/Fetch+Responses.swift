// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

// The verdict on a response, made when its head arrives, and the output of the head.

extension Fetch {
    /// Decides what happens with a response, when its head arrives. Returns whether its body is to be received. Blocks until all
    /// earlier heads are printed, so that the body does not precede them.
    func receiveHead(_ response: HTTPURLResponse) -> Bool {
        if wireReporter != nil { WireReporter.blockUntilEventsAreReported(of: session) }
        do {
            return try state.withLock { state in try setVerdict(on: response, &state) }
        } catch {
            let failure =
                error as? CommandFailure ?? CommandFailure(.write, "Cannot write to the standard output.")
            state.withLock { $0.verdict = .refused(failure) }
            return false
        }
    }

    /// Sets the verdict on a response, prints its head, and opens the destination of its content. Returns whether its body is to
    /// be received.
    private func setVerdict(on response: HTTPURLResponse, _ state: inout State) throws -> Bool {
        state.report.response = response
        // This is the response of a redirect that is not allowed.
        if let failure = state.redirects.failure {
            state.verdict = .refused(failure)
            return false
        }
        let status = response.statusCode
        let isFailure = invocation.failsOnErrorStatus && status >= 400
        // The delay is nil if the retry would start too late: then this response is treated like any other.
        if canSendBodyAgain, state.schedule.allowsRetry(after: status, isFailure: isFailure),
            let delay = state.retryDelay(retryAfter: RetrySchedule.retryAfter(response))
        {
            state.verdict = .retry(delay)
            return false
        }
        if isFailure, !invocation.failsWithBody {
            try printHead(response, &state)
            state.verdict = .refused(statusFailure(response))
            return false
        }
        // Only a request with a condition expects a 304.
        if status == 304, invocation.timeCondition != nil || invocation.etagCompareFile != nil {
            try printHead(response, &state)
            state.verdict = .unchanged
            return false
        }
        if let limit = invocation.maximumFileSize,
            let length = response.value(forHTTPHeaderField: "Content-Length").flatMap({ Int64($0) }),
            length > limit
        {
            state.verdict = .refused(Self.tooLargeFailure(plan.url, limit))
            return false
        }
        if offset > 0 {
            switch resumption.verdict(on: response, decodes: !invocation.keepsEncoding) {
            // `isFramed`: whether the message framing ends the content after `count` bytes, so that no more can arrive.
            case .resume(let count, let isFramed):
                state.remainder = Remainder(count: count, isFramed: isFramed)
            case .complete:
                state.verdict = .complete
                return false
            case .refuse(let failure):
                state.verdict = .refused(failure)
                return false
            }
        }
        state.verdict = .accepted
        // The destination is opened first: with `-i -o FILE`, the head is written into the file.
        try openDestination(for: response, &state)
        try printHead(response, &state)
        return true
    }

    /// Returns the failure for a status from 400 on, which `--fail` asks for.
    func statusFailure(_ response: HTTPURLResponse) -> CommandFailure {
        let status = response.statusCode
        let reason = response.lupine.reason
        let address = ShownAddress.text(plan.url)
        let option = invocation.isDownload ? "--download" : "--fail"
        return CommandFailure(
            status < 500 ? .clientError : .serverError,
            "The server answered \(status)\(reason.isEmpty ? "" : " \(reason)") for \(address), which \(option) makes a failure. --fail-with-body prints its body all the same."
        )
    }

    /// Returns the failure for content that is longer than the limit of --max-filesize.
    static func tooLargeFailure(_ url: URL, _ limit: Int64) -> CommandFailure {
        CommandFailure(
            .tooLarge,
            "Will not load \(ShownAddress.text(url)): it has more than the \(limit) bytes that --max-filesize allows."
        )
    }

    /// Prints or saves the head of a response, as far as the options ask for it and `WireReporter` has not printed it.
    func printHead(_ response: HTTPURLResponse, _ state: inout State) throws {
        // The file of `-D` gets the head in any case.
        try reporter.appendToHeadFile(response)
        guard output.parts.contains(.responseHead), !output.printsHeadsOnArrival else { return }
        let text = reporter.headText(response)
        if state.saver != nil, invocation.savesHead {
            try state.saver?.write(Data(text.plain.utf8))
        } else if state.saver == nil || invocation.printedParts != nil {
            // The head of a saved body is printed only if --print asks for it.
            try context.output.print(text)
        }
    }
}
