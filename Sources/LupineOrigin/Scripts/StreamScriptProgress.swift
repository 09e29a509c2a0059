// SPDX-License-Identifier: MIT

/// The progress of a stream through its script. Part of an `OriginStream`.
struct StreamScriptProgress {
    private let steps: [StreamScript.Step]
    /// The index of the current step.
    private var position = 0
    /// The content of the request that has arrived.
    var receivedContent: [UInt8] = []
    /// Whether a `withholdWindowUpdates` step has run. Then `unconsumedOctets` counts the octets of later content.
    var withholdsWindowUpdates = false
    /// The number of received octets of content that have not been returned to the flow-control windows.
    var unconsumedOctets = 0
    /// Whether the current step has begun. Used only by steps that begin something and then wait.
    var hasStepBegun = false

    init(_ script: StreamScript) { steps = script.steps }

    /// The current step; nil after the last one.
    var currentStep: StreamScript.Step? { position < steps.count ? steps[position] : nil }

    /// The maximum number of octets of a DATA frame in the current step; 1 if the step sends no content.
    var maximumFrameSize: Int {
        guard case .content(_, let frameSize, _)? = currentStep else { return 1 }
        return max(1, frameSize)
    }

    /// Ends the current step. The next step becomes the current one.
    mutating func advance() {
        position += 1
        hasStepBegun = false
    }
}
