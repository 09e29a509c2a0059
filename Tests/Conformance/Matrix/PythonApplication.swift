// SPDX-License-Identifier: MIT

import Foundation

/// A server from PyPI with an application in it: uvicorn with h11 for ASGI, waitress for WSGI.
///
/// `/page` is the page of the matrix, `/large` the long one, `/chunks` the same without a length, and `/echo` returns the
/// request's content; `/cookie` sets a cookie and `/cookies` returns those received; `/many` has 300 header fields and `/wide`
/// one of 8 KiB; `/redirect/N` redirects N times; `/auth` requires `user` and `pass`.
struct PythonApplication: ServerRecipe {
    /// The interface of the application.
    enum Kind: Sendable { case asgi, wsgi }

    let kind: Kind

    let programs = ["python3"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] {
        [("server.py", Self.answers + (kind == .asgi ? Self.asgi : Self.wsgi))]
    }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        let packages = FileManager.default.currentDirectoryPath + "/.build/python-packages"
        return [program, "-u", place.folder + "/server.py", packages, "\(place.port)"]
    }

    /// The code that both share: status, fields, and the content in pieces, with its length or without.
    private static let answers = """
        import base64, sys
        sys.path.insert(0, sys.argv[1])
        try:
            import uvicorn, waitress
        except ImportError as error:
            sys.exit(f"{error.name}: not in .build/python-packages; Scripts/setup --test installs it")

        PAGE = ("\(MatrixContent.line)" * \(MatrixContent.lines)).encode()
        LARGE = ("\(MatrixContent.line)" * \(MatrixContent.largeLines)).encode()

        def answer(method, path, headers, body):
            plain = [("Content-Type", "text/plain")]
            if path == "/page": return 200, plain, [PAGE], True
            if path == "/large": return 200, plain, [LARGE], True
            if path == "/empty": return 200, plain, [], True
            if path == "/chunks":
                return 200, plain, [LARGE[at:at + 7000] for at in range(0, len(LARGE), 7000)], False
            if path == "/echo": return 200, plain, [body], True
            if path == "/cookie": return 200, plain + [("Set-Cookie", "taste=sweet; Path=/")], [b"set"], True
            if path == "/cookies": return 200, plain, [headers.get("cookie", "none").encode()], True
            if path == "/many": return 200, plain + [(f"X-Many-{n}", str(n)) for n in range(300)], [b"many"], True
            if path == "/wide": return 200, plain + [("X-Wide", "w" * 8192)], [b"wide"], True
            if path.startswith("/redirect/"):
                left = int(path.rsplit("/", 1)[1])
                place = f"/redirect/{left - 1}" if left > 1 else "/page"
                return 302, [("Location", place)], [], True
            if path == "/auth":
                wanted = "Basic " + base64.b64encode(b"user:pass").decode()
                if headers.get("authorization") == wanted: return 200, plain, [b"in"], True
                return 401, plain + [("WWW-Authenticate", 'Basic realm="r"')], [b"out"], True
            return 404, plain, [b"nothing here"], True


        """

    private static let asgi = """
        async def application(scope, receive, send):
            if scope["type"] != "http": return
            body = b""
            while True:
                message = await receive()
                body += message.get("body", b"")
                if not message.get("more_body"): break
            headers = {name.decode().lower(): value.decode() for name, value in scope["headers"]}
            status, fields, pieces, has_length = answer(scope["method"], scope["path"], headers, body)
            if has_length: fields = fields + [("Content-Length", str(sum(map(len, pieces))))]
            await send({"type": "http.response.start", "status": status,
                        "headers": [(name.encode(), value.encode()) for name, value in fields]})
            for piece in pieces:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b""})

        uvicorn.run(application, host="127.0.0.1", port=int(sys.argv[2]), http="h11", log_level="warning")

        """

    private static let wsgi = """
        from http.client import responses

        def application(environment, start):
            body = environment["wsgi.input"].read()
            headers = {name[5:].replace("_", "-").lower(): value
                       for name, value in environment.items() if name.startswith("HTTP_")}
            status, fields, pieces, has_length = answer(
                environment["REQUEST_METHOD"], environment["PATH_INFO"], headers, body)
            if has_length: fields = fields + [("Content-Length", str(sum(map(len, pieces))))]
            start(f"{status} {responses[status]}", fields)
            return iter(pieces)

        waitress.serve(application, host="127.0.0.1", port=int(sys.argv[2]), threads=4)

        """
}
