// SPDX-License-Identifier: MIT

/// The protocol spoken on one connection: HTTP (`HTTPConversation`) or a script (`ScriptConversation`), for example. On the loop.
protocol Conversation: AnyObject {
    /// Whether to read bytes that have arrived; if not, they stay in the kernel, whose flow control stops the client.
    var wantsInput: Bool { get }
    /// Whether the client has to act next. Only then does a timeout end the connection.
    var awaitsClient: Bool { get }
    /// Does as much as the input, the space for output and the time allow; returns false when it did nothing.
    func advance(_ connection: ServerConnection) -> Bool
    /// Called when the timer has fired or the gate has opened.
    func resume(_ connection: ServerConnection)
}
