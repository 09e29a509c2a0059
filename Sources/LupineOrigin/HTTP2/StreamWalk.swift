// SPDX-License-Identifier: MIT

/// A stream's progress in its script. It belongs to its `OriginStream`.
struct StreamWalk {
    private let steps: [StreamScript.Step]
    private var position = 0
    /// The request's content so far.
    var received: [UInt8] = []
    /// Whether content is no longer consumed.
    var keepsContent = false
    /// The number of octets of content received but not consumed.
    var kept = 0
    /// Whether the present step has started but not ended.
    var isUnderWay = false

    init(_ script: StreamScript) { steps = script.steps }

    /// The present step; nil behind the last one.
    var step: StreamScript.Step? { position < steps.count ? steps[position] : nil }

    /// The most octets of a DATA frame.
    var frameSize: Int {
        guard case .content(_, let frames, _)? = step else { return 1 }
        return max(1, frames)
    }

    /// Moves to the next step.
    mutating func advance() {
        position += 1
        isUnderWay = false
    }
}
