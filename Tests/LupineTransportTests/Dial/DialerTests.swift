// SPDX-License-Identifier: MIT

import Testing

@testable import LupineTransport

/// A single dial and its report, without the pool.
@Suite struct DialerTests {
    /// The pool may cancel a dial after it has created it, and before it starts it.
    @Test func aDialCancelledBeforeItsStartConnectsNothing() async throws {
        try await withLoop { loop in
            let reported = Box<[TransportError?]>([])
            await loop.run {
                let dialer = Dialer(
                    DialProgress(to: Origin(scheme: .http, host: "127.0.0.1", port: 1), at: loop.now),
                    configuration: DialConfiguration(),
                    resolver: Resolver(configuration: Resolver.Configuration()), loop: loop)
                dialer.cancel(.cancelled)
                dialer.start { outcome in
                    let error: TransportError? = if case .failure(let error) = outcome { error } else { nil }
                    reported.update { $0.append(error) }
                }
            }
            #expect(reported.value == [.cancelled])
        }
    }
}
