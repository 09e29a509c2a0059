// SPDX-License-Identifier: MIT

import LupineTLS
import LupineTransport

extension ConnectionWire {
    /// The settings for starting TLS.
    struct Security {
        let profile: TLSProfile
        /// Answers questions about the peer and the client's identity; nil when no delegate is to be asked.
        let verifier: TaskTrust?
        let timeout: Interval?
    }
}
