# SPDX-License-Identifier: MIT
"""Relays in front of an origin that record what clients send: plain, over TLS, on a Unix-domain socket, as an HTTP proxy and as a
SOCKS proxy. They record requests, in the order in which these began to arrive."""

import re
import select
import socket
import ssl
import threading


class Request:
    """One request as it was on the wire."""

    def __init__(self, way, line, fields, body):
        self.way, self.fields, self.body = way, fields, body
        self.method, self.target = (line.split(" ") + ["", ""])[:2]

    def values(self, name):
        return [value for field, value in self.fields if field.lower() == name.lower()]


class Recorder:
    """The relays of one line. All lead to the origin at `port` of 127.0.0.1."""

    def __init__(self, port, certificate=None, key=None, client_roots=None, unix_path=None):
        self.origin = ("127.0.0.1", port)
        self.connections = []
        self.failures = []
        self.lock = threading.Lock()
        self.acceptors, self.relays, self.listeners = [], [], []
        self.ports = {}
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(certificate, key)
        self.tls.set_alpn_protocols(["http/1.1"])
        self.tls.load_verify_locations(client_roots)
        self.tls.verify_mode = ssl.CERT_OPTIONAL
        for way in ("plain", "TLS", "proxy", "SOCKS"):
            self.listen(way)
        if unix_path:
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(unix_path)
            listener.listen()
            self.serve(listener, "Unix socket")

    def listen(self, way):
        """On both loopback addresses, with one port."""
        for _ in range(50):
            first = socket.create_server(("127.0.0.1", 0), backlog=64)
            port = first.getsockname()[1]
            try:
                second = socket.create_server(("::1", port), family=socket.AF_INET6, backlog=64)
            except OSError:
                if has_ipv6():
                    first.close()
                    continue
                second = None
            self.ports[way] = port
            for listener in filter(None, (first, second)):
                self.serve(listener, way)
            return
        raise OSError("no port is free on both loopback addresses")

    def serve(self, listener, way):
        self.listeners.append(listener)
        self.start(self.acceptors, self.accept, listener, way)

    def start(self, threads, work, *arguments):
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        thread.start()
        with self.lock:
            threads.append(thread)

    def accept(self, listener, way):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            self.start(self.relays, self.relay, client, way)

    def close(self):
        for listener in self.listeners:
            try:
                listener.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        for thread in self.acceptors:
            thread.join()
        for listener in self.listeners:
            listener.close()

    def take(self):
        """The requests of a client that has ended, in the order in which its connections began to speak. Each connection ends with
        the client, and whatever was answered has been recorded."""
        while self.relays:
            with self.lock:
                thread = self.relays.pop()
            thread.join()
        found = [request for way, data in self.connections for request in requests(way, bytes(data))]
        self.connections.clear()
        return found

    # One connection.

    def relay(self, client, way):
        upstream = None
        try:
            if way == "TLS":
                client = self.tls.wrap_socket(client, server_side=True)
                peer = client.getpeercert()
                if peer:
                    names = dict(pair for part in peer["subject"] for pair in part)
                    way = f"TLS as {names.get('commonName')}"
            if way == "SOCKS":
                upstream = self.socks(client)
            elif way == "proxy":
                upstream, way = self.proxy(client)
            else:
                upstream = socket.create_connection(self.origin)
            self.pump(client, upstream, None if way in ("SOCKS", "tunnel") else way)
        except (OSError, ValueError) as error:
            self.failures.append(f"{way}: {error}")
        finally:
            client.close()
            if upstream:
                upstream.close()

    def record(self, way):
        data = bytearray()
        with self.lock:
            self.connections.append((way, data))
        return data

    def pump(self, client, upstream, way, data=b""):
        record = None
        while True:
            if isinstance(client, ssl.SSLSocket) and client.pending():
                ready = [client]
            else:
                ready, _, _ = select.select([client, upstream], [], [])
            if client in ready:
                data = client.recv(1 << 16)
                if not data:
                    return
                if way:
                    record = record if record is not None else self.record(way)
                    record += data
                upstream.sendall(data)
            if upstream in ready:
                data = upstream.recv(1 << 16)
                if not data:
                    if isinstance(client, ssl.SSLSocket):
                        client.unwrap()
                    return
                client.sendall(data)

    def read(self, client, count):
        data = b""
        while len(data) < count:
            piece = client.recv(count - len(data))
            if not piece:
                raise ValueError("the connection ended")
            data += piece
        return data

    def socks(self, client):
        """The server's part of SOCKS5 (RFC 1928), without credentials."""
        _, count = self.read(client, 2)
        self.read(client, count)
        client.sendall(b"\5\0")
        _, _, _, kind = self.read(client, 4)
        if kind == 3:
            host = self.read(client, self.read(client, 1)[0]).decode()
            shown = f"name {host}"
        else:
            host = socket.inet_ntop(*((socket.AF_INET, self.read(client, 4)) if kind == 1 else
                                      (socket.AF_INET6, self.read(client, 16))))
            shown = "address"
        port = int.from_bytes(self.read(client, 2), "big")
        self.record("SOCKS").extend(f"SOCKS {shown}:{port} HTTP/1.1\r\n\r\n".encode())
        upstream = socket.create_connection(("127.0.0.1", port))
        client.sendall(b"\5\0\0\1\0\0\0\0\0\0")
        return upstream

    def proxy(self, client):
        """A tunnel behind CONNECT; other requests go to the origin as they are."""
        head = client.recv(1 << 16, socket.MSG_PEEK)
        if not head.startswith(b"CONNECT "):
            return socket.create_connection(self.origin), "proxy"
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.read(client, 1)
        self.record("proxy").extend(head)
        port = int(head.split(b" ")[1].rpartition(b":")[2])
        upstream = socket.create_connection(("127.0.0.1", port))
        client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return upstream, "tunnel"


def has_ipv6():
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
        return True
    except OSError:
        return False


def requests(way, data):
    """The requests of one connection."""
    found = []
    while data:
        head, end, data = data.partition(b"\r\n\r\n")
        if not end:
            found.append(Request(way, "(cut) " + repr(head), [], b""))
            break
        lines = head.decode("utf-8", "surrogateescape").split("\r\n")
        fields = [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines[1:])]
        request = Request(way, lines[0], fields, b"")
        if request.values("Transfer-Encoding") and request.method != "CONNECT":
            request.body, data = chunked(data)
        else:
            length = int((request.values("Content-Length") or ["0"])[0])
            request.body, data = data[:length], data[length:]
        found.append(request)
    return found


def chunked(data):
    body = b""
    while True:
        size, _, data = data.partition(b"\r\n")
        count = int(size.split(b";")[0] or b"0", 16)
        if count == 0:
            return body, data.partition(b"\r\n")[2]
        body, data = body + data[:count], data[count + 2:]


def parts(request):
    """The parts of a multipart body as (name, file name, type, content); None when it is none."""
    kind = (request.values("Content-Type") or [""])[0]
    boundary = re.search(r'boundary="?([^";]+)', kind)
    if not kind.startswith("multipart/") or not boundary:
        return None
    found = []
    for piece in request.body.split(b"--" + boundary.group(1).encode())[1:-1]:
        head, _, content = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        text = head.decode()
        name = re.search(r'[; ]name="([^"]*)"', text)
        file = re.search(r'filename="([^"]*)"', text)
        kind = re.search(r"(?im)^content-type:\s*(.*?)\r?$", text)
        found.append((*(match and match.group(1) for match in (name, file, kind)), content.removesuffix(b"\r\n")))
    return found
