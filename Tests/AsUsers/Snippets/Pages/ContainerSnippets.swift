// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import LupineTestKit
import LupineTransport
import Testing

/// The snippets of `Containers.md`, run against an origin with the certificate of the fixtures.
@Suite(.timeLimit(.minutes(10))) struct ContainerSnippets {
    @Test func oneMoreAuthority() async throws {
        let authority = PKI.path("root.pem")
        try await API.serve(isSecure: true) { api in
            let configuration = URLSessionConfiguration.af.default
            configuration.lupine.tls.roots = TrustRoots(includesSystem: true, files: [authority])
            let session = Session(configuration: configuration)
            let response = await session.request("\(api)/get").serializingData().response
            #expect(response.response?.statusCode == 200)
        }
    }
}
