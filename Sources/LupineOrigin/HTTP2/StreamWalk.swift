// SPDX-License-Identifier: MIT

/// How far a stream has come with its script. It belongs to its `OriginStream`.
struct StreamWalk {
    private let steps: [StreamScript.Step]
    private var position = 0
    /// The request's content so far.
    var received: [UInt8] = []
    /// Content is not taken any more.
    var keepsContent = false
    /// Octets of content that came and were not taken.
    var kept = 0
    /// The present step has begun and is not over.
    var isUnderWay = false

    init(_ script: StreamScript) { steps = script.steps }

    /// The present step; nil behind the last one.
    var step: StreamScript.Step? { position < steps.count ? steps[position] : nil }

    /// The most octets of a DATA frame.
    var frameSize: Int {
        guard case .content(_, let frames, _)? = step else { return 1 }
        return max(1, frames)
    }

    /// The present step is over.
    mutating func advance() {
        position += 1
        isUnderWay = false
    }
}
