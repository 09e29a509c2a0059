// SPDX-License-Identifier: MIT

import LupineOrigin
import Testing

@testable import LupineChaos

/// Plans and their parts depend only on seed and number.
struct ChaosPlanTests {
    private static let some = plans(seed: 7)

    private static func plans(seed: UInt64) -> [ChaosPlan] {
        (0..<6_000).map { number in
            ChaosPlan(
                seed: seed, number: number, secure: number % 2 == 0,
                over: number % 4 < 2 ? .http1 : .http2)
        }
    }

    @Test("the same seed and number make the same plan, others make others")
    func determinism() {
        #expect(Self.some == Self.plans(seed: 7))
        let other = Self.plans(seed: 8)
        let alike = zip(Self.some, other).count { $0.misbehaviours == $1.misbehaviours && $0.size == $1.size }
        #expect(alike < 60)
    }

    @Test("the same trial is answered by the same script, byte for byte")
    func scripts() {
        for plan in Self.some.prefix(300) {
            let (one, two) = (plan.trial(0), plan.trial(0))
            let streamScript = one.misbehaviour.streamScript(for: one, isFirst: true)
            #expect("\(streamScript)" == "\(two.misbehaviour.streamScript(for: two, isFirst: true))")
            let script = one.misbehaviour.script(for: one, bodyInChunks: false)
            #expect("\(script)" == "\(two.misbehaviour.script(for: two, bodyInChunks: false))")
        }
    }

    @Test("every misbehaviour is planned, and only where it can be")
    func catalogue() {
        var met: Set<Misbehaviour> = []
        for plan in Self.some {
            met.formUnion(plan.misbehaviours)
            for misbehaviour in plan.misbehaviours {
                #expect(plan.isSecure || !misbehaviour.needsTLS)
                #expect(plan.form.isUpload || !misbehaviour.needsUpload)
                #expect(plan.size <= misbehaviour.largestContent)
                #expect(plan.form.isIdempotent || !misbehaviour.leavesTrap)
                #expect(misbehaviour.version ?? plan.version == plan.version)
                #expect(misbehaviour.door.map { plan.isSecure || $0.isPlainToo } ?? true)
            }
            #expect(plan.misbehaviours.count == (plan.form.isRepeatable ? 3 : 1))
        }
        #expect(met == Set(Misbehaviour.allCases))
        #expect(Set(Self.some.map(\.form)) == Set(ChaosForm.allCases))
    }

    @Test("a trial is read from its URL as it was written")
    func trials() throws {
        for plan in Self.some.prefix(200) {
            let trial = plan.trial(plan.misbehaviours.count - 1)
            let query = try #require(trial.target.split(separator: "?").last)
            #expect(ChaosTrial(FormPairs(String(query))) == trial)
        }
        #expect(ChaosTrial(FormPairs("s=1&n=2&a=3")) == nil)
        #expect(ChaosTrial(FormPairs("s=1&n=2&a=3&k=nothing&f=data&c=1&u=0")) == nil)
    }

    @Test("a body names its request, and is another one for each")
    func content() {
        let size = 500
        for form in ChaosForm.allCases {
            let one = ChaosContent.response(form, seed: 1, number: 2, size: size)
            #expect(one == ChaosContent.response(form, seed: 1, number: 2, size: size))
            #expect(String(decoding: one.prefix(20), as: UTF8.self).contains("1/2"))
            #expect(one.count >= size)
            for (seed, number) in [(UInt64(2), 2), (1, 3)] {
                #expect(one != ChaosContent.response(form, seed: seed, number: number, size: size))
            }
        }
        #expect(ChaosContent.request(seed: 1, number: 2, size: 9).allSatisfy { $0 >= 32 && $0 < 128 })
    }

    @Test("doors are read from what is printed of them; what lacks one is refused")
    func doors() {
        var doors = ChaosDoors()
        var port: UInt16 = 1_000
        for isSecure in [false, true] {
            for door in ChaosDoor.allCases {
                doors[door, secure: isSecure] = port
                port += 1
            }
        }
        #expect(ChaosDoors("\(doors)") == doors)
        doors[.calm, secure: true] = nil
        #expect(ChaosDoors("\(doors)") == nil)
        #expect(ChaosDoors("main") == nil)
    }
}
