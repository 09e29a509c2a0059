// SPDX-License-Identifier: MIT

/// The protocol on one connection, such as HTTP/1.1 (`HTTPConversation`) or a script (`ScriptConversation`). Used on the loop
/// only.
protocol Conversation: AnyObject {
    /// Whether the connection should read from the socket. If not, bytes stay in the kernel, and the client has to wait.
    var wantsInput: Bool { get }
    /// Whether it is the client's turn. Only then does the idle timeout apply.
    var awaitsClient: Bool { get }
    /// Makes progress with the input and the free output space. Returns false if there was none.
    func advance(_ connection: ServerConnection) -> Bool
    /// Called when the timer has fired or the gate has opened that the conversation waits for.
    func resume(_ connection: ServerConnection)
}
