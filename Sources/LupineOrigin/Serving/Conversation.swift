// SPDX-License-Identifier: MIT

/// What is spoken on one connection: HTTP (`HTTPConversation`) or a script (`ScriptConversation`). On the loop.
protocol Conversation: AnyObject {
    /// Whether bytes are to be read when there are some; otherwise they stay in the kernel and hold the client back.
    var wantsInput: Bool { get }
    /// Whether it is the client's turn: then its silence ends the connection after a while, otherwise nothing does.
    var awaitsClient: Bool { get }
    /// Does what can be done with the input, the room for output and the time; false when that was nothing.
    func advance(_ connection: ServerConnection) -> Bool
    /// The timer or gate that it waited for has come.
    func resume(_ connection: ServerConnection)
}
