// SPDX-License-Identifier: MIT

import LupineTestKit

/// `openssl s_server`, answering every request with a page about the connection.
struct OpenSSLServer: ServerRecipe {
    /// The certificate's name in the PKI.
    let leaf: String
    /// The name of the stapled OCSP response.
    var staple: String?
    /// Further options, such as `-tls1_2`.
    var options: [String] = []

    let programs = ["openssl"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] { [] }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        var words = [program, "s_server", "-accept", "127.0.0.1:\(place.port)", "-www"]
        words += ["-cert", PKI.path("\(leaf).pem"), "-key", PKI.path("\(leaf).key")]
        words += ["-cert_chain", PKI.path("\(leaf)-chain.pem"), "-cipher", "DEFAULT:@SECLEVEL=0"]
        if let staple { words += ["-status_file", PKI.path("ocsp/\(staple).der")] }
        return words + options
    }
}
