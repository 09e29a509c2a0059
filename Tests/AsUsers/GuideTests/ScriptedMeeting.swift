// SPDX-License-Identifier: MIT

import LupineOrigin

/// Scripts of a server that holds requests, so that a test can have several of them at once.
enum ScriptedMeeting {
    /// Opens the gate `NAME asked`, waits for the gate `go`, and answers with `body`.
    static func plan(_ name: String, body: String) -> ScriptPlan {
        ScriptPlan(
            .signal("\(name) asked"), .waitForSignal("go"),
            .send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"), .close)
    }
}
