// SPDX-License-Identifier: MIT

/// What the origin does with the input of a connection: it speaks HTTP/1.1 (`HTTP1Conversation`), follows a script
/// (`ScriptConversation`), and so on. Used on the connection's loop only.
protocol Conversation: AnyObject {
    /// Whether the connection should read from the socket. If not, bytes stay in the kernel, and the client has to wait.
    var wantsInput: Bool { get }
    /// Whether the conversation waits for the client only. Otherwise no idle timeout applies.
    var awaitsClient: Bool { get }
    /// Parses input and produces output, as far as there is space for output. Returns false if it has neither parsed nor produced
    /// anything.
    func advance(_ connection: ServerConnection) -> Bool
    /// Continues after a wait that the conversation has begun with `ServerConnection.wait`.
    func resume(_ connection: ServerConnection)
}
