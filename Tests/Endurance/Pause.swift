// SPDX-License-Identifier: MIT

import Dispatch

/// A pause between two readings of a process, or before a late cancellation. No test depends on its length.
enum Pause {
    static func of(_ duration: Duration) async {
        let nanoseconds = Int(Waits.seconds(duration) * 1e9)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(nanoseconds)) {
                continuation.resume()
            }
        }
    }
}
