// SPDX-License-Identifier: MIT

import Foundation

/// A foreign WebSocket server: Python's `websockets`, with a few lines that implement the paths.
///
/// `/echo` sends messages back; `/fragments` sends them back in fragments; `/close/CODE` closes with that code and the reason
/// `bye`, `/close` without a code; `/push/N` sends N numbered messages, then closes; `/ping` pings and sends `ponged`; `/abort`
/// aborts the connection after one message. It supports the subprotocol `lupine`.
struct WebSocketServer: ServerRecipe {
    /// Whether it accepts permessage-deflate.
    var compresses = true

    let programs = ["python3"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] {
        [("server.py", Self.program(compresses: compresses))]
    }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        let packages = FileManager.default.currentDirectoryPath + "/.build/python-packages"
        return [program, "-u", place.folder + "/server.py", packages, "\(place.port)"]
    }

    private static func program(compresses: Bool) -> String {
        """
        import asyncio, signal, sys
        sys.path.insert(0, sys.argv[1])
        from websockets.asyncio.server import serve

        async def handle(socket):
            words = socket.request.path.strip("/").split("/")
            if words[0] == "echo":
                async for message in socket:
                    await socket.send(message)
            elif words[0] == "fragments":
                async for message in socket:
                    size = max(1, len(message) // 3)
                    pieces = [message[at:at + size] for at in range(0, len(message), size)]
                    await socket.send(pieces or [message])
            elif words[0] == "close":
                if len(words) == 1:
                    socket.transport.write(bytes([0x88, 0x00]))
                    await socket.wait_closed()
                else:
                    await socket.close(int(words[1]), "bye")
            elif words[0] == "push":
                for number in range(int(words[1])):
                    await socket.send(str(number))
            elif words[0] == "ping":
                await (await socket.ping(b"are you there"))
                await socket.send("ponged")
                async for message in socket:
                    pass
            elif words[0] == "abort":
                await socket.recv()
                socket.transport.abort()
            elif words[0] == "code":
                await socket.wait_closed()

        async def main():
            stop = asyncio.get_running_loop().create_future()
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set_result, None)
            async with serve(handle, "127.0.0.1", int(sys.argv[2]), max_size=64 << 20, subprotocols=["lupine"],
                             select_subprotocol=lambda socket, offered: "lupine" if "lupine" in offered else None,
                             compression=\(compresses ? "\"deflate\"" : "None")):
                await stop

        asyncio.run(main())

        """
    }
}
