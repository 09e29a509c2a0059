// SPDX-License-Identifier: MIT

/// A topic of `lupine help` other than an option.
struct HelpTopic: Sendable {
    /// The name, as the user types it.
    let name: String
    /// The text of the page, whose lines have at most 80 characters.
    let text: String

    /// All topics, in the order of the manual.
    static let all: [HelpTopic] = [items, output, downloads, sockets, serve, demo, exitCodes]

    private static let items = HelpTopic(
        name: "items",
        text: """
            lupine [METHOD] URL [ITEM...]

              Name:value      a header field; `Name:` removes it, `Name;` sends it empty
              name==value     a parameter in the query
              name=value      a field of the body: text
              name:=json      a field of the body: any JSON, such as count:=3 or tags:='[1]'
              name@file       a file in a form; `;type=TYPE` may follow
              @file           the file is the body
              name=@file      a field with the text of a file
              name:=@file     a field with the JSON of a file

            Fields make a JSON object; with --form a form, with --multipart a multipart
            form. A backslash before : = @ or ; removes its special meaning. Another word
            that begins with http:// or https:// is another URL.

              lupine :8080/flowers                          http://localhost:8080/flowers
              lupine POST example.test/flowers name=lupin petals:=5 X-Token:secret
              lupine --form POST example.test/upload picture@lupin.png
            """)

    private static let output = HelpTopic(
        name: "output",
        text: """
            On a terminal, the status line, the header fields and the body are printed;
            JSON is coloured and formatted. In a pipe or a file, only the body is printed,
            byte for byte. Content that is not text is not printed on a terminal. Text
            cannot control the terminal: control characters are printed as \\u{1b}.

              --print hb     the parts to print: H and B are the head and body of the
                             request, h and b of the response, m the measured times
              -i, -v, -I     print heads, as in curl
              --color, NO_COLOR, --pretty
              -w FORMAT      a line of your own at the end

            Reports about a transfer (progress, errors, --timing, --events, --certs) are
            printed on the standard error.
            """)

    private static let downloads = HelpTopic(
        name: "downloads",
        text: """
            -o FILE and -O save the body while it arrives. A bar shows the progress;
            without a terminal, a line every few seconds. Several URLs with -O are loaded
            at once.

            An interrupted download continues with the same command line and -C -. The
            content of the file is kept; the rest is requested with Range, and with
            If-Range if the server has named the version. If the version, range or length
            of the response does not match the file, the command ends with 33 and does not
            change the file. If no version is known, the command says so and appends the
            rest.
            """)

    private static let sockets = HelpTopic(
        name: "websocket",
        text: """
            lupine ws://HOST/PATH

            Each line of the standard input is sent as a message, and each received
            message is printed. The end of the input (Ctrl-D) closes the connection; the
            command then waits for the server to close it too.
            """)

    private static let serve = HelpTopic(
        name: "serve",
        text: """
            lupine serve [--port N] [--host ADDRESS] [--tls]

            Runs a small server on this machine for trying clients: echoes, statuses,
            redirects, codings, ranges, cookies, credentials, uploads, events, a web
            socket, flowers. It prints its addresses and routes. The port is 8080, or any
            free one with --port 0. With --tls it creates a certificate for this run and
            prints the file to use with --cacert. It supports HTTP/1.1, and HTTP/2 with
            clients that choose it (--http2) or, without --tls, begin with it
            (--http2-prior-knowledge). Ctrl-C ends it. It has no access control: use it
            on loopback only.
            """)

    private static let demo = HelpTopic(
        name: "demo",
        text: """
            lupine demo

            Shows features of the library in ten acts, with servers in the same process.
            Each act prints the code that it runs: a typed GET, validation, retries, a
            token that is refreshed, an upload, a download that is interrupted and
            continued, codings, pinned keys, a stream, and the times of a request.
            """)

    /// The table of the exit codes.
    private static var exitCodes: HelpTopic {
        let rows = ExitCode.allCases.map { "  \("\($0.rawValue)".padded(to: 5))\($0.meaning)" }
        return HelpTopic(name: "exit-codes", text: rows.joined(separator: "\n"))
    }
}
