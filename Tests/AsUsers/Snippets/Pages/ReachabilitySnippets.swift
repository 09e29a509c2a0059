// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The snippets of `Reachability.md`, run.
@Suite(.timeLimit(.minutes(10))) struct ReachabilitySnippets {
    @Test func listening() async {
        let (statuses, status) = AsyncStream.makeStream(
            of: NetworkReachabilityManager.NetworkReachabilityStatus.self)
        let manager = NetworkReachabilityManager(host: "127.0.0.1")
        manager?.startListening(onQueue: DispatchQueue(label: "org.example.reachability")) { new in
            print(new)
            status.yield(new)  // not on the page
        }
        var iterator = statuses.makeAsyncIterator()
        #expect(await iterator.next() == manager?.status)
        manager?.stopListening()
    }

    @Test func retrying() async throws {
        try await API.serve { api in
            let session = Session(interceptor: .offlineRetrier(maximumWait: .seconds(30)))
            #expect(await session.request("\(api)/get").serializingData().response.error == nil)
        }
    }
}
