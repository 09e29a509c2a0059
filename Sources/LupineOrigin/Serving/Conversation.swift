// SPDX-License-Identifier: MIT

/// The protocol on one connection, such as HTTP/1.1 (`HTTP1Conversation`) or a script (`ScriptConversation`). Used on the loop
/// only.
protocol Conversation: AnyObject {
    /// Whether the connection should read from the socket. If not, bytes stay in the kernel, and the client has to wait.
    var wantsInput: Bool { get }
    /// Whether the conversation waits for the client only. The idle timeout applies only then.
    var awaitsClient: Bool { get }
    /// Processes as much input as there is space for output. Returns false if nothing could be done.
    func advance(_ connection: ServerConnection) -> Bool
    /// Called when the wait that the conversation has begun with `ServerConnection.wait` ends.
    func resume(_ connection: ServerConnection)
}
