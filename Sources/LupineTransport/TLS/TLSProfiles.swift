// SPDX-License-Identifier: MIT

package import LupineTLS

/// The profiles of one client. Equal settings give the same profile, so that requests with equal settings share connections and
/// sessions, and requests with different settings never do.
///
/// The number of profiles is limited: a program that creates a new evaluator for every request gets a new profile each time, and
/// the least recently used profile is removed; its connections continue. Any thread may call.
package final class TLSProfiles: Sendable {
    private struct Key: Hashable, Sendable {
        let configuration: TLSConfiguration
        let trust: TrustEvaluator
    }

    private struct Entry: Sendable {
        let profile: TLSProfile
        var lastUse: UInt64
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        /// The number of look-ups so far: the clock of `Entry.lastUse`.
        var uses: UInt64 = 0
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
        // The removed entry is released outside of the lock: its evaluator may retain objects of the program.
        let (profile, _) = state.withLock { [revocation, limit] state -> (TLSProfile, Entry?) in
            state.uses &+= 1
            let uses = state.uses
            if let entry = state.entries[key] {
                state.entries[key]?.lastUse = uses
                return (entry.profile, nil)
            }
            var removed: Entry?
            // Profiles that differ only in the evaluator share the loaded context.
            let settings =
                state.entries.first { $0.key.configuration == configuration }?.value.profile.settings
                ?? TLSSettings(configuration)
            if state.entries.count >= limit,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
            {
                removed = state.entries.removeValue(forKey: oldest)
            }
            let profile = TLSProfile(settings, trust: trust, revocation: revocation, identitySource: nil)
            state.entries[key] = Entry(profile: profile, lastUse: uses)
            return (profile, removed)
        }
        return profile
    }
}
