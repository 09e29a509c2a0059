// SPDX-License-Identifier: MIT

/// What a fetch prints and in which form, decided once from the options and from whether the outputs are terminals.
struct OutputPlan: Sendable {
    /// The parts that are printed on the standard output. If the body is saved, a head of `-i` is saved into the same file.
    let parts: Invocation.MessageParts
    /// Whether `WireReporter` prints each response head when it arrives, redirects included, so that heads and requests are in
    /// order.
    let printsHeadsOnArrival: Bool
    /// Whether the heads of redirects are printed too.
    let showsRedirectHeads: Bool
    /// How bodies are printed.
    let manner: BodyPresenter.Manner
    let outputStyle: Style
    let errorStyle: Style

    /// Creates the plan for one URL.
    ///
    /// - Parameters:
    ///   - invocation: The options.
    ///   - context: The context, which has the outputs.
    ///   - savesContent: Whether the content is saved to a file.
    init(_ invocation: Invocation, _ context: ProcessContext, saves savesContent: Bool) {
        let isTerminal = context.output.isTerminal
        outputStyle = Style(isOn: context.usesColor(on: context.output, invocation.color))
        errorStyle = Style(isOn: context.usesColor(on: context.errors, invocation.color))
        if let print = invocation.printedParts {
            parts = print
        } else if invocation.isOffline {
            parts = [.requestHead, .requestBody]
        } else if invocation.asksForHead {
            parts = .responseHead
        } else if invocation.includesHead {
            parts = [.responseHead, .responseBody]
        } else if isTerminal, !savesContent, !invocation.isVerbose, !invocation.followsEvents {
            parts = [.responseHead, .responseBody]
        } else {
            parts = .responseBody
        }
        // With `-i -o FILE`, `Fetch` writes the response head into the file.
        printsHeadsOnArrival =
            parts.isSuperset(of: [.requestHead, .responseHead]) && !(savesContent && invocation.savesHead)
        showsRedirectHeads =
            invocation.includesHead || invocation.asksForHead || invocation.showsRedirectHeads
        // The content is formatted on a terminal and with --color=always, unless --pretty says otherwise.
        let pretty = invocation.pretty ?? (isTerminal || invocation.color == .always ? .all : .none)
        // While content streams (-N), a JSON value stays on one line, unless --pretty=format is given on a terminal.
        switch (pretty, invocation.streamsContent) {
        case (.none, _): manner = .verbatim
        case (let pretty, true): manner = .lines(breaksLines: pretty == .format && isTerminal)
        case (.all, false), (.format, false): manner = .pretty(breaksLines: true)
        case (.colors, false): manner = .pretty(breaksLines: false)
        }
    }
}
