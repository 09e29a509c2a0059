// SPDX-License-Identifier: MIT

internal import LupineTestKit

/// Everything about one request that is decided beforehand, from seed and number alone: its form, the misbehaviour at each of its
/// attempts, and its caller's actions.
package struct ChaosPlan: Hashable, Sendable {
    /// The time at which the caller cancels the request.
    package enum Cancellation: Hashable, Sendable {
        case never
        /// Before it is resumed.
        case atOnce
        /// This many milliseconds after it is resumed.
        case after(milliseconds: Int)
        /// While this attempt, from 0, is adapted.
        case inAdapter(attempt: Int)
    }

    /// The retrier that decides about the request.
    package enum Retrying: Hashable, Sendable {
        /// The request's own interceptor, which retries after every error.
        case own
        /// The session's `RetryPolicy`.
        case policy
    }

    package let seed: UInt64
    package let number: Int
    /// Whether it is sent over TLS.
    package let isSecure: Bool
    /// The HTTP version.
    package let version: ChaosVersion
    package let form: ChaosForm
    /// Octets of the response's filling.
    package let size: Int
    /// Octets of the request's filling.
    package let uploadSize: Int
    /// The misbehaviour at each attempt; their number is the limit of attempts.
    package let misbehaviours: [Misbehaviour]
    /// The timeout, in milliseconds, of an attempt that will stay silent.
    package let silenceTimeout: Int
    package let cancellation: Cancellation
    package let retrying: Retrying
    /// The delay in milliseconds of the request's own retrier; with 0 it retries at once.
    package let retryDelay: Int
    /// The number of response handlers.
    package let handlers: Int
    /// Whether it is suspended and resumed once.
    package let pauses: Bool
    /// Whether its caller suspends it for a while at the first piece of its body, like a slow consumer.
    package let suspendsBriefly: Bool

    /// Makes the plan of request `number` of a seed.
    package init(seed: UInt64, number: Int, secure isSecure: Bool, over version: ChaosVersion = .http1) {
        var random = ChaosContent.random(seed, number, purpose: 4)
        self.seed = seed
        self.number = number
        self.isSecure = isSecure
        self.version = version
        retrying = seed % 4 < 2 ? .own : .policy
        let form = Self.formsByChance.randomElement(using: &random) ?? .data
        self.form = form
        let catalogue = Misbehaviour.catalogue(for: form, secure: isSecure, over: version)
        var misbehaviours: [Misbehaviour] = []
        let attempts = form.isRepeatable ? 3 : 1
        for attempt in 0..<attempts {
            let isPlain = Int.random(in: 0..<10, using: &random) < (attempt == 2 ? 7 : 3)
            misbehaviours.append(isPlain ? .none : catalogue.randomElement(using: &random) ?? .none)
        }
        self.misbehaviours = misbehaviours
        let wanted =
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<60: Int.random(in: 0...2_000, using: &random)
            case 60..<85: Int.random(in: 0...16_000, using: &random)
            case 85..<98: Int.random(in: 0...70_000, using: &random)
            default: Int.random(in: 0...400_000, using: &random)
            }
        size = min(wanted, misbehaviours.map(\.largestContent).min() ?? wanted)
        uploadSize = form.isUpload ? Int.random(in: 1...40_000, using: &random) : 0
        silenceTimeout = Int.random(in: 80...160, using: &random)
        cancellation =
            switch Int.random(in: 0..<100, using: &random) {
            case 0: .atOnce
            case 1...3: .after(milliseconds: Int.random(in: 0...60, using: &random))
            case 4: .inAdapter(attempt: Int.random(in: 0..<attempts, using: &random))
            default: .never
            }
        retryDelay = max(0, Int.random(in: -5...5, using: &random))
        handlers = Int.random(in: 1...2, using: &random)
        pauses = Int.random(in: 0..<40, using: &random) == 0
        suspendsBriefly = form == .stream && Int.random(in: 0..<4, using: &random) == 0
    }

    private static let formsByChance: [ChaosForm] = [
        .data, .data, .data, .text, .decodable, .decodable, .stream, .stream, .download, .placedDownload,
        .upload, .upload, .fileUpload, .post, .streamUpload, .form, .storedForm,
    ]

    /// Returns the trial of an attempt, from 0.
    package func trial(_ attempt: Int) -> ChaosTrial {
        ChaosTrial(
            seed: seed, number: number, attempt: attempt, misbehaviour: misbehaviour(attempt), form: form,
            size: size, uploadSize: uploadSize)
    }

    /// Returns the misbehaviour at an attempt.
    package func misbehaviour(_ attempt: Int) -> Misbehaviour {
        attempt < misbehaviours.count ? misbehaviours[attempt] : .none
    }

    /// Returns the door to which an attempt is sent.
    package func door(_ attempt: Int) -> ChaosDoor {
        if let door = misbehaviour(attempt).door { return door }
        if version == .http2 { return .streams }
        return form.isIdempotent ? .main : .calm
    }

    /// Returns the timeout of an attempt in seconds.
    package func timeout(_ attempt: Int) -> Double {
        misbehaviour(attempt).isSilent ? Double(silenceTimeout) / 1_000 : 60
    }
}

extension Misbehaviour {
    /// Returns the misbehaviours that can be planned for a request of this form.
    package static func catalogue(
        for form: ChaosForm, secure isSecure: Bool, over version: ChaosVersion
    ) -> [Misbehaviour] {
        allCases.filter { candidate in
            (isSecure || !candidate.needsTLS) && (form.isUpload || !candidate.needsUpload)
                && candidate.version ?? version == version
                // A stream body cannot be sent again, whoever requests it.
                && (form.isRepeatable || candidate != .redirect && candidate != .refusedOnce)
                // The origin does not record whether it handled the requests after one that it disclaims.
                && (form.isIdempotent || !candidate.leavesTrap && candidate != .disclaimed)
        }
    }
}
