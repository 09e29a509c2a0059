// SPDX-License-Identifier: MIT

package import LupineOrigin
package import LupineTestKit

/// One attempt of one request, encoded in its URL: the client selects the misbehaviour, the origin performs it.
package struct ChaosTrial: Hashable, Sendable {
    /// The seed of the run.
    package var seed: UInt64
    /// The request's number, from 0.
    package var number: Int
    /// The attempt, from 0.
    package var attempt: Int
    /// The misbehaviour that it meets.
    package var misbehaviour: Misbehaviour
    /// The form of the request.
    package var form: ChaosForm
    /// Octets of the response's filling.
    package var size: Int
    /// Octets of the request's filling; 0 for a request without a body.
    package var uploadSize: Int

    /// Creates an attempt.
    package init(
        seed: UInt64, number: Int, attempt: Int, misbehaviour: Misbehaviour, form: ChaosForm, size: Int,
        uploadSize: Int
    ) {
        self.seed = seed
        self.number = number
        self.attempt = attempt
        self.misbehaviour = misbehaviour
        self.form = form
        self.size = size
        self.uploadSize = uploadSize
    }

    /// Parses the query of its URL.
    package init?(_ pairs: FormPairs) {
        guard let seed = pairs["s"].flatMap({ UInt64($0) }), let number = pairs["n"].flatMap({ Int($0) }),
            let attempt = pairs["a"].flatMap({ Int($0) }),
            let misbehaviour = pairs["k"].flatMap(Misbehaviour.init(rawValue:)),
            let form = pairs["f"].flatMap(ChaosForm.init(rawValue:)),
            let size = pairs["c"].flatMap({ Int($0) }), let uploadSize = pairs["u"].flatMap({ Int($0) })
        else { return nil }
        self.init(
            seed: seed, number: number, attempt: attempt, misbehaviour: misbehaviour, form: form, size: size,
            uploadSize: uploadSize)
    }

    /// Path and query of its URL.
    package var target: String {
        "\(misbehaviour.isServed ? "/served" : "/chaos")?s=\(seed)&n=\(number)&a=\(attempt)"
            + "&k=\(misbehaviour.rawValue)&f=\(form.rawValue)&c=\(size)&u=\(uploadSize)"
    }

    /// The value of the response's `X-Chaos`.
    package var name: String { "\(seed)/\(number)/\(attempt)" }

    /// The response's body.
    package var content: [UInt8] {
        ChaosContent.response(form, seed: seed, number: number, size: size)
    }

    /// The request's body.
    package var upload: [UInt8] {
        let filling = ChaosContent.request(seed: seed, number: number, size: uploadSize)
        return form.isMultipart
            ? ChaosContent.multipart(filling, seed: seed, number: number) : filling
    }

    /// The random numbers for the origin's choices: where to cut, and into which pieces.
    package var random: SeededRandom {
        ChaosContent.random(seed, number, purpose: 16 + UInt64(truncatingIfNeeded: attempt))
    }
}
