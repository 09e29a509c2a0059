// SPDX-License-Identifier: MIT

/// Which end of a connection a codec is.
package enum HTTP2Role: Hashable, Sendable, CaseIterable {
    case client, server
}
