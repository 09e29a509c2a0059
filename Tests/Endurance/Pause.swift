// SPDX-License-Identifier: MIT

import Dispatch

/// A while in which nothing is done: between two readings of a process, or before what is cancelled late is cancelled. Nothing
/// is guessed by it.
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
