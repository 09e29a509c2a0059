// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// What is told about a fetch while it is under way: its requests, the heads of its responses, its attempts.
struct FetchTeller: Sendable {
    let invocation: Invocation
    let surroundings: Surroundings
    let output: OutputPlan
    /// Whether its requests ask for codings.
    let asksForCodings: Bool

    private var margins: HeadText {
        HeadText(
            style: output.errorStyle,
            hides: invocation.showsSecrets ? [] : HeadText.secrets.subtracting(["cookie", "set-cookie"]))
    }

    /// Tells of a request that goes out.
    func request(_ request: URLRequest) {
        var text = TerminalText()
        if invocation.isVerbose {
            var head = margins
            head.margin = "> "
            surroundings.errors.say(head.request(request, asksForCodings: asksForCodings))
        }
        if output.parts.contains(.requestHead) {
            text += HeadText(style: output.outputStyle).request(request, asksForCodings: asksForCodings)
        }
        if output.parts.contains(.requestBody), let body = request.httpBody {
            let type = request.value(forHTTPHeaderField: "Content-Type")
            try? surroundings.output.print(text)
            text = TerminalText()
            var presenter = BodyPresenter(
                sink: surroundings.output, manner: output.manner, style: output.outputStyle, type: type)
            try? presenter.take(body)
            try? presenter.finish()
            try? surroundings.output.print("\n\n")
        }
        if !text.isEmpty { try? surroundings.output.print(text) }
    }

    /// Tells of a head that has come.
    func response(_ response: HTTPURLResponse) {
        guard invocation.isVerbose else { return }
        var head = margins
        head.margin = "< "
        surroundings.errors.say(head.response(response))
    }

    /// Says why and when it is tried again.
    func retry(
        after wait: Double, of failure: CommandFailure?, _ response: HTTPURLResponse?, left: Int
    ) {
        guard !invocation.isSilent else { return }
        let reason =
            failure.map { $0.code.meaning } ?? response.map { "the status is \($0.statusCode)" }
            ?? "no answer"
        surroundings.errors.say(
            "lupine: \(reason); trying again in \(ByteText.duration(wait)) (\(left) more after that)\n")
    }

    /// Writes a head into the file of `-D`.
    func keep(_ response: HTTPURLResponse) throws {
        guard let file = invocation.headFile else { return }
        let text = HeadText(style: Style(isOn: false), lineEnd: "\r\n").response(response)
        if file == "-" {
            try surroundings.output.print(text)
        } else {
            try HeadFile.append(text.plain, to: surroundings.path(file), shown: file)
        }
    }

    /// A head as it is printed or saved.
    func head(_ response: HTTPURLResponse) -> TerminalText {
        let isForPeople = surroundings.output.isTerminal
        return HeadText(style: output.outputStyle, lineEnd: isForPeople ? "\n" : "\r\n").response(response)
    }
}
