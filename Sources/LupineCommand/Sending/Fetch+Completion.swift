// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

// The end of a fetch: its failure, the last changes to its file, and its report.

extension Fetch {
    /// Returns the failure of an attempt; nil if the attempt succeeded. With the verdicts `complete`, `unchanged` and `retry` the
    /// request was cancelled on purpose, so that its error is no failure.
    func failure(of completion: DataStreamRequest.Completion, _ verdict: Verdict) -> CommandFailure? {
        // The request was cancelled after this failure, so `completion.error` does not name the cause.
        if case .refused(let failure) = verdict { return failure }
        if context.interruption.hasOccurred { return interruptedFailure }
        switch verdict {
        case .complete, .unchanged, .retry: return nil
        case .undecided, .accepted, .refused: break
        }
        return completion.error.map { ErrorMessage.failure(of: $0, url: plan.url, invocation: invocation) }
    }

    /// The failure of a fetch that the user has interrupted.
    var interruptedFailure: CommandFailure {
        CommandFailure(.interrupted, "Interrupted.")
    }

    /// Closes the file or the output, updates the resume record and the progress board, and returns the report.
    func finish(_ failure: CommandFailure?) -> FetchReport {
        state.withLock { state in
            var failure = failure
            // `FileSaver` throws a `CommandFailure`. Any other error comes from a write to the standard output.
            do {
                if failure == nil {
                    try state.presenter?.finish()
                    try state.saver?.checkByteCount()
                }
                try state.saver?.close()
                if failure == nil, invocation.setsModificationDate { setModificationDate(state) }
            } catch { failure = failure ?? error as? CommandFailure ?? Self.outputFailure(error) }
            // With --fail-with-body the content of an error response is accepted, and its status still is a failure.
            if failure == nil, invocation.failsOnErrorStatus, let response = state.report.response,
                response.statusCode >= 400, case .accepted = state.verdict
            {
                failure = statusFailure(response)
            }
            if failure == nil, let response = state.report.response, response.statusCode < 400 {
                do { try saveETag(response) } catch {
                    failure = error as? CommandFailure ?? Self.outputFailure(error)
                }
            }
            // An error page, or a part of one, is not the requested content and is not worth resuming. Without a response, as for
            // a file URL, there is no error page.
            let isError = (state.report.response?.statusCode ?? 200) >= 400
            if let saver = state.saver {
                if failure == nil { ResumeRecord.remove(saver.path) }
                // A failure to resume (`.resume`) would only occur again.
                let canResumeAfterFailure = failure != nil && failure?.code != .resume
                // `writtenByteCount` does not include the bytes that the file had before.
                let hasBytes = offset + saver.writtenByteCount > 0
                let savesPlainContent =
                    saver.isRegular && !invocation.savesHead && invocation.range == nil
                state.report.isResumable = canResumeAfterFailure && !isError && hasBytes && savesPlainContent
                state.report.shownFileName = saver.shownName
            }
            updateResumeRecord(state.verdict)
            state.report.failure = failure
            if let row = state.rowNumber { board?.finish(row, Self.rowOutcome(state.verdict, failure)) }
            return state.report
        }
    }

    /// Saves the ETag in the file of --etag-save, once the content is complete.
    private func saveETag(_ response: HTTPURLResponse) throws {
        guard let file = invocation.etagSaveFile, let tag = response.value(forHTTPHeaderField: "ETag") else {
            return
        }
        do { try Data("\(tag)\n".utf8).write(to: URL(fileURLWithPath: context.path(file))) } catch {
            throw CommandFailure.unwritable(file, error)
        }
    }

    /// Sets a saved file's modification date to the response's Last-Modified.
    private func setModificationDate(_ state: State) {
        guard let saver = state.saver, saver.isRegular,
            let date = state.report.response?.value(forHTTPHeaderField: "Last-Modified").flatMap(
                DateText.date)
        else { return }
        try? FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: saver.path)
    }

    /// Handles the resume record of a file to which nothing was written: removes it if the file is already complete. If the
    /// server has nothing newer than the file, and the file is partial, prints a warning.
    private func updateResumeRecord(_ verdict: Verdict) {
        guard let destination else { return }
        // nil: these verdicts concern the existing file, whatever name the server suggests.
        let location = SaveLocation(destination, nil, plan.url, context, in: invocation.outputFolder)
        switch verdict {
        case .complete: ResumeRecord.remove(location.path)
        case .unchanged where !invocation.isSilent && ResumeRecord.read(for: location.path) != nil:
            context.errors.say(
                "lupine: \(location.name) is a part of what the server has; -C - alone goes on with it\n")
        case .unchanged, .undecided, .accepted, .retry, .refused: break
        }
    }

    /// Returns the text that ends the fetch's row on the progress board.
    private static func rowOutcome(_ verdict: Verdict, _ failure: CommandFailure?) -> String {
        if let failure { return failure.code == .interrupted ? "interrupted" : "failed" }
        return switch verdict {
        case .complete: "is complete"
        case .unchanged: "has not changed"
        case .undecided, .accepted, .retry, .refused: "done"
        }
    }
}
