// SPDX-License-Identifier: MIT

/// Whether a certificate of a path has been revoked.
package struct RevocationCheck: Sendable, Hashable {
    let options: RevocationOptions
    let lists: [RevocationList]
    init(_ options: RevocationOptions, lists: [RevocationList] = []) {
        self.options = options
        self.lists = lists
    }

    /// Whether it may wait for the network.
    var reachesNetwork: Bool {
        !options.contains(.networkAccessDisabled) && !options.isDisjoint(with: .any)
    }

    package static func == (left: RevocationCheck, right: RevocationCheck) -> Bool { left.options == right.options }
    package func hash(into hasher: inout Hasher) { hasher.combine(options) }

    func failure(
        of trust: PeerTrust, on path: TrustPath, at time: UnixTime, access: RevocationAccess
    ) -> TrustFailure? { nil }

    static func staple(of trust: PeerTrust, on path: TrustPath, at time: UnixTime) -> TrustFailure? { nil }
}
