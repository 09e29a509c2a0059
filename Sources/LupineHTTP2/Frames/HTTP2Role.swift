// SPDX-License-Identifier: MIT

/// The role of an endpoint of a connection.
package enum HTTP2Role: Hashable, Sendable, CaseIterable {
    case client, server
}
