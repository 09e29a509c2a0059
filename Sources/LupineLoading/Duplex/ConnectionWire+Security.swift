// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTransport

extension ConnectionWire {
    /// The settings for starting TLS.
    struct Security {
        let profile: TLSProfile
        /// Asks the delegates whether to trust the server, and for the client's certificate; nil without such delegates.
        let verifier: TaskPeerVerifier?
        /// How long the handshake may take; nil for no limit.
        let timeout: Interval?
    }
}
