// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTLS

@Suite struct EngineHandshakeTests {
    @Test(arguments: TLSVersion.tested, WireManner.all)
    func handshakeThenBytesBothWays(_ version: TLSVersion, _ manner: WireManner) throws {
        let pair = try EnginePair(.test(version), manner: manner)
        pair.shakeHands()
        #expect(pair.clientError == nil && pair.serverError == nil)
        try #require(pair.clientIsDone && pair.serverIsDone)
        #expect(pair.questions.count == 1)
        #expect(try pair.carry(Array("to the server".utf8), fromClient: true) == Array("to the server".utf8))
        #expect(try pair.carry(Array("to the client".utf8), fromClient: false) == Array("to the client".utf8))
    }
}
