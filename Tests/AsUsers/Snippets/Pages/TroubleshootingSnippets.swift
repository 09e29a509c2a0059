// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Troubleshooting.md`.
@Suite(.timeLimit(.minutes(10))) struct TroubleshootingSnippets {
    @Test func theWayToTheCause() async throws {
        var codes: [URLError.Code] = []
        let address = "http://127.0.0.1:1/"
        let response = await AF.request(address).validate().serializingData().response
        if let error = response.error {
            print(error.localizedDescription)
            if let cause = error.underlyingError as? URLError {
                print(cause.code.rawValue, cause.failingURL?.absoluteString ?? "")
                print(cause.userInfo[NSUnderlyingErrorKey] ?? "")
                codes.append(cause.code)  // not on the page
            }
        }
        #expect(codes == [.cannotConnectToHost])
    }
}
