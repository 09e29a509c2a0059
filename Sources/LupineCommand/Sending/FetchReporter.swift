// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine
internal import LupineTransport

/// Prints the progress of a fetch: its requests, the heads of its responses, its retries.
struct FetchReporter: Sendable {
    let invocation: Invocation
    let context: ProcessContext
    let output: OutputPlan
    /// The request, with its content.
    let request: URLRequest

    private func margins(_ margin: TerminalText) -> HeadText {
        HeadText(
            style: output.errorStyle, margin: margin,
            hides: invocation.showsSecrets ? [] : HeadText.secrets.subtracting(["cookie", "set-cookie"]))
    }

    /// Prints a request from its head as sent.
    func sent(_ head: [UInt8], hasContent: Bool) {
        if invocation.isVerbose { context.errors.say(margins("> ").request(head)) }
        if output.parts.contains(.requestHead) {
            try? context.output.print(HeadText(style: output.outputStyle).request(head))
        }
        if hasContent, output.parts.contains(.requestBody), let body = request.httpBody {
            let type = request.value(forHTTPHeaderField: "Content-Type")
            var presenter = BodyPresenter(
                sink: context.output, manner: output.manner, style: output.outputStyle, type: type)
            try? presenter.take(body)
            try? presenter.finish()
            try? context.output.print("\n\n")
        }
    }

    /// Prints HTTP/2 events other than messages.
    func received(_ notice: HTTP2Notice) {
        guard invocation.reportsHTTP2Events else { return }
        let text = output.errorStyle.paint("* HTTP/2: \(notice)", .faint)
        context.errors.say("\(text)\n")
    }

    /// Prints a received head.
    func received(_ head: TransferHead) {
        if invocation.isVerbose { context.errors.say(margins("< ").response(head)) }
        if output.printsHeadsAsTheyCome {
            try? context.output.print(self.head { $0.response(head) })
        }
    }

    /// Prints why and when the request is retried.
    func retry(
        after wait: Double, of failure: CommandFailure?, _ response: HTTPURLResponse?, left: Int
    ) {
        guard !invocation.isSilent else { return }
        let reason =
            failure.map { $0.code.meaning } ?? response.map { "the status is \($0.statusCode)" }
            ?? "no answer"
        context.errors.say(
            "lupine: \(reason); trying again in \(ByteText.duration(wait)) (\(left) more after that)\n")
    }

    /// Writes a head into the file of `-D`.
    func dumpHead(_ response: HTTPURLResponse) throws {
        guard let file = invocation.headFile else { return }
        let text = HeadText(style: Style(isOn: false), lineEnd: "\r\n").response(response)
        if file == "-" {
            try context.output.print(text)
        } else {
            try HeadFile.append(text.plain, to: context.path(file), shown: file)
        }
    }

    /// Formats a head for printing or saving.
    func head(_ response: HTTPURLResponse) -> TerminalText { head { $0.response(response) } }

    private func head(_ text: (HeadText) -> TerminalText) -> TerminalText {
        let isForPeople = context.output.isTerminal
        return text(HeadText(style: output.outputStyle, lineEnd: isForPeople ? "\n" : "\r\n"))
    }
}
