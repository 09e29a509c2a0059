// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineTransport

/// Prints the messages of a fetch as the options ask for them: its requests, the heads of its responses, its retries. Errors of
/// printing are ignored, except for the file of `-D`.
struct FetchReporter: Sendable {
    let invocation: Invocation
    let context: ProcessContext
    let output: OutputPlan
    /// The request, with its content.
    let request: URLRequest

    /// Returns the format of the heads that `-v` prints. Cookies are shown, other secrets only with `--show-secrets`.
    private func verboseFormat(margin: TerminalText) -> HeadText {
        let secretFields = HeadText.secretFields.subtracting(["cookie", "set-cookie"])
        return HeadText(
            style: output.errorStyle, margin: margin,
            hiddenFields: invocation.showsSecrets ? [] : secretFields)
    }

    /// Prints a request: its head as the octets that were sent, and its content if it has any.
    func printRequest(_ head: [UInt8], hasContent: Bool) {
        if invocation.isVerbose { context.errors.say(verboseFormat(margin: "> ").request(head)) }
        if output.parts.contains(.requestHead) {
            try? context.output.print(HeadText(style: output.outputStyle).request(head))
        }
        if hasContent, output.parts.contains(.requestBody), let body = request.httpBody {
            let type = request.value(forHTTPHeaderField: "Content-Type")
            var presenter = BodyPresenter(
                sink: context.output, manner: output.manner, style: output.outputStyle, type: type)
            try? presenter.write(body)
            try? presenter.finish()
            try? context.output.print("\n\n")
        }
    }

    /// Prints an event of an HTTP/2 connection, such as a GOAWAY, if the options ask for these events (`-vv`).
    func printNotice(_ notice: HTTP2Notice) {
        guard invocation.reportsHTTP2Events else { return }
        let text = output.errorStyle.paint("* HTTP/2: \(notice)", .faint)
        context.errors.say("\(text)\n")
    }

    /// Prints the head of a response when it arrives.
    func printResponseHead(_ head: TransferHead) {
        if invocation.isVerbose { context.errors.say(verboseFormat(margin: "< ").response(head)) }
        if output.printsHeadsOnArrival {
            try? context.output.print(outputFormat.response(head))
        }
    }

    /// Prints why and when the request is retried.
    func printRetry(
        after delay: Double, of failure: CommandFailure?, _ response: HTTPURLResponse?, retriesLeft: Int
    ) {
        guard !invocation.isSilent else { return }
        let reason =
            failure.map { $0.code.meaning } ?? response.map { "the status is \($0.statusCode)" }
            ?? "no answer"
        context.errors.say(
            "lupine: \(reason); trying again in \(ByteText.duration(delay)) (\(retriesLeft) more after that)\n"
        )
    }

    /// Appends a head to the file of `-D`.
    func appendToHeadFile(_ response: HTTPURLResponse) throws {
        guard let file = invocation.headFile else { return }
        let text = HeadText(style: Style(isOn: false), lineEnd: "\r\n").response(response)
        if file == "-" {
            try context.output.print(text)
        } else {
            try HeadFile.append(text.plain, to: context.path(file), shownName: file)
        }
    }

    /// Formats a head for printing or saving.
    func headText(_ response: HTTPURLResponse) -> TerminalText { outputFormat.response(response) }

    /// The format of response heads on the standard output. Lines end with CRLF, as in the message, unless the output is a
    /// terminal.
    private var outputFormat: HeadText {
        HeadText(style: output.outputStyle, lineEnd: context.output.isTerminal ? "\n" : "\r\n")
    }
}
