// SPDX-License-Identifier: MIT

package import LupineTLS

/// The profiles of one client: equal settings give the same profile, so that their connections and sessions are shared, and those
/// of different settings never are.
///
/// Bounded: a program that creates a new evaluator for every request gets a new profile each time, and the least recently used
/// ones are forgotten; their connections continue. Any thread may call.
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
        var uses: UInt64 = 0
    }

    private let revocation: RevocationSupport
    private let limit: Int
    private let state = Lock(State())

    /// No profiles yet; those to come check revocation with `revocation`.
    package init(revocation: RevocationSupport, limit: Int = 64) {
        self.revocation = revocation
        self.limit = max(1, limit)
    }

    /// Returns the profile for these settings.
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
            var gone: Entry?
            // The loaded context of a configuration does not depend on the evaluator.
            let settings =
                state.entries.first { $0.key.configuration == configuration }?.value.profile.settings
                ?? TLSSettings(configuration)
            if state.entries.count >= limit,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })?.key
            {
                gone = state.entries.removeValue(forKey: oldest)
            }
            let profile = TLSProfile(settings, trust: trust, revocation: revocation, identitySource: nil)
            state.entries[key] = Entry(profile: profile, lastUse: uses)
            return (profile, gone)
        }
        return profile
    }
}
