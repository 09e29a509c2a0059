// SPDX-License-Identifier: MIT

/// The priority of an exchange among those that wait for a connection.
package enum ExchangePriority {
    /// The default.
    package static let normal: Float = 0.5
}
