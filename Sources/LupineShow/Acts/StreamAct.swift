// SPDX-License-Identifier: MIT

import Lupine

/// Server-sent events are delivered one by one as they arrive.
enum StreamAct: DemoAct {
    static let title = "A stream of events"
    static let code = """
        let stream = session.streamRequest("\\(root)/events?count=3&interval=0.2").streamTask()
        for await part in stream.streamingResponses(serializedUsing: .serverSentEvents) {
            if let event = part.value { show(event) }
        }
        """

    static func run(in demo: DemoContext) async throws {
        let (session, root) = (demo.session, demo.root)
        var count = 0
        let show = { (event: ServerSentEvent) in
            count += 1
            demo.printResult("\(event.type) \(event.lastEventID): \(event.data)")
        }
        let stream = session.streamRequest("\(root)/events?count=3&interval=0.2").streamTask()
        for await part in stream.streamingResponses(serializedUsing: .serverSentEvents) {
            if let event = part.value { show(event) }
        }
        try demo.require(count == 3, "three events come")
    }
}
