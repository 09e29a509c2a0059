// SPDX-License-Identifier: MIT

import Lupine
import Testing

/// The evaluator of a host, regardless of how the program spells the host.
@Suite struct EvaluatorByHostTests {
    @Test(
        "[I-9.1] an evaluator is found for other spellings of its host",
        arguments: [
            ("api.example.com", "api.example.com"), ("API.example.COM", "api.example.com"),
            ("[::1]", "::1"), ("::1", "::1"), ("[2001:DB8::1]", "2001:db8::1"),
            ("b\u{FC}cher.example", "xn--bcher-kva.example"),
            ("xn--bcher-kva.example", "xn--bcher-kva.example"),
            ("api.example.com", "api.example.com."), ("api.example.com.", "api.example.com"),
            ("::1", "0:0:0:0:0:0:0:1"), ("[0:0::0:1]", "::1"), ("2001:db8::1", "2001:DB8:0::0:1"),
        ])
    func spellings(_ key: String, _ host: String) throws {
        let manager = ServerTrustManager(evaluators: [key: DisabledTrustEvaluator()])
        #expect(try manager.serverTrustEvaluator(forHost: host) is DisabledTrustEvaluator)
        #expect(manager.evaluators.keys.elementsEqual([key]))
    }

    @Test("[I-9.1] the exact spelling precedes other spellings, and other hosts have no evaluator")
    func precedence() throws {
        let manager = ServerTrustManager(
            allHostsMustBeEvaluated: false,
            evaluators: ["A.test": DisabledTrustEvaluator(), "a.test": DefaultTrustEvaluator()])
        #expect(try manager.serverTrustEvaluator(forHost: "a.test") is DefaultTrustEvaluator)
        #expect(try manager.serverTrustEvaluator(forHost: "A.test") is DisabledTrustEvaluator)
        for host in ["b.test", "x.a.test", "test", "", ".", "a.test.."] {
            #expect(try manager.serverTrustEvaluator(forHost: host) == nil)
        }
    }
}
