// SPDX-License-Identifier: MIT

extension URLSession {
    /// Whether no `URLProtocol` of the program's is asked about the session's tasks.
    package var callsNoProtocols: Bool { !core.context.loads.asksProgram(core.context) }
}
