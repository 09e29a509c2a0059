// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTransport

extension ConnectionWire {
    /// The settings for starting TLS.
    struct Security {
        let profile: TLSProfile
        /// Asks the delegates whether to trust the server, and for the client's certificate; nil if there are none to ask.
        let verifier: TaskPeerVerifier?
        let timeout: Interval?
    }
}
