// SPDX-License-Identifier: MIT

package import LupineTLS

/// The TLS profiles of one client. Equal settings give the same profile, so that requests with equal settings share connections
/// and sessions, and requests with different settings never do.
///
/// The number of profiles is limited, because a program that creates a new evaluator for every request gets a new profile each
/// time. Beyond the limit, the least recently used profile is removed; its connections continue. Any thread may call.
package final class TLSProfiles: Sendable {
    /// The settings that a profile belongs to.
    private struct Key: Hashable, Sendable {
        let configuration: TLSConfiguration
        let trust: TrustEvaluator
    }

    private struct Entry: Sendable {
        let profile: TLSProfile
        /// The value of `State.useCount` at the latest look-up of the profile.
        var lastUse: UInt64
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The number of look-ups so far, which orders the values of `Entry.lastUse`.
        var useCount: UInt64 = 0
    }

    private let revocation: RevocationSupport
    /// The maximum number of entries.
    private let limit: Int
    private let state = Lock(State())

    /// Creates an empty collection of at most `limit` profiles, which will check revocation with `revocation`.
    package init(revocation: RevocationSupport, limit: Int = 64) {
        self.revocation = revocation
        self.limit = max(1, limit)
    }

    /// Returns the profile for these settings, and creates it if necessary.
    package func profile(_ configuration: TLSConfiguration, trust: TrustEvaluator) -> TLSProfile {
        let key = Key(configuration: configuration, trust: trust)
        // The closure also returns the removed entry, so that it is released outside of the lock: its evaluator may retain
        // objects of the program.
        let (profile, _) = state.withLock { [revocation, limit] state -> (TLSProfile, Entry?) in
            state.useCount &+= 1
            let use = state.useCount
            if let entry = state.entries[key] {
                state.entries[key]?.lastUse = use
                return (entry.profile, nil)
            }
            var removedEntry: Entry?
            // Profiles that differ only in the evaluator share the loaded context.
            let settings =
                state.entries.first { $0.key.configuration == configuration }?.value.profile.settings
                ?? TLSSettings(configuration)
            if state.entries.count >= limit,
                let leastRecent = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
            {
                removedEntry = state.entries.removeValue(forKey: leastRecent)
            }
            let profile = TLSProfile(settings, trust: trust, revocation: revocation, identitySource: nil)
            state.entries[key] = Entry(profile: profile, lastUse: use)
            return (profile, removedEntry)
        }
        return profile
    }
}
