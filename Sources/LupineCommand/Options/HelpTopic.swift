// SPDX-License-Identifier: MIT

/// A topic of `lupine help` other than an option.
struct HelpTopic: Sendable {
    /// The name, as the user types it.
    let name: String
    /// The text of the page.
    let text: String

    static let all: [HelpTopic] = [items, output, downloads, sockets, serve, demo, exitCodes]

    private static let items = HelpTopic(
        name: "items",
        text: """
            lupine [METHOD] URL [ITEM...]

              Name:value      a header field; `Name:` takes one away, `Name;` sends it empty
              name==value     a parameter in the query
              name=value      a field of the body: text
              name:=json      a field of the body: any JSON, such as count:=3 or tags:='[1]'
              name@file       a file in a form; `;type=TYPE` may follow
              @file           the file is the body
              name=@file      a field with the text of a file
              name:=@file     a field with the JSON of a file

            Fields make a JSON object; with --form a form, with --multipart a multipart
            form. A backslash takes the meaning of : = @ ; away. A further word that
            begins with http:// or https:// is a further URL.

              lupine :8080/flowers                          http://localhost:8080/flowers
              lupine POST example.test/flowers name=lupin petals:=5 X-Token:secret
              lupine --form POST example.test/upload picture@lupin.png
            """)

    private static let output = HelpTopic(
        name: "output",
        text: """
            On a terminal: status line, header fields, and the body, JSON in colours and
            with line ends. In a pipe or a file: the body alone, byte for byte. Content
            that is not text is not put on a terminal, and what is text does not command
            it: control characters are shown as \\u{1b}.

              --print hb     what is printed, by letters: H and B of the request, h and b
                             of the response, m what was measured
              -i, -v, -I     curl's ways to see heads
              --color, NO_COLOR, --pretty
              -w FORMAT      a line of your own at the end

            What is told about a transfer (progress, errors, --timing, --events, --certs)
            goes to the standard error.
            """)

    private static let downloads = HelpTopic(
        name: "downloads",
        text: """
            -o FILE and -O save the body, as it comes. A bar shows how far it is; where
            there is no terminal, a line every few seconds. Several URLs with -O are
            loaded at once.

            What was interrupted is gone on with by the same line and -C -. What is in
            the file stays; the rest is asked for with Range, and with If-Range where the
            server has named the version. Where version, range or length of the answer do
            not go with what is there the command ends with 33 and touches nothing. Where
            no version is known, the command says so and puts the rest behind it.
            """)

    private static let sockets = HelpTopic(
        name: "websocket",
        text: """
            lupine ws://HOST/PATH

            Each line of the standard input is sent as a message, each message that comes
            is printed. The end of the input (Ctrl-D) closes the connection, and the
            command waits for the server to close it too.
            """)

    private static let serve = HelpTopic(
        name: "serve",
        text: """
            lupine serve [--port N] [--host ADDRESS] [--tls]

            Runs a small server on this machine, to try clients with: echoes, statuses,
            redirects, codings, ranges, cookies, credentials, uploads, events, a web
            socket, flowers. It prints what there is. The port is 8080, or any with
            --port 0. With --tls it makes a certificate for this run and says where it
            lies, for --cacert. It speaks HTTP/1.1, and HTTP/2 with clients that choose
            it (--http2) or, without --tls, begin in it (--http2-prior-knowledge). Ctrl-C
            ends it. It has no access control: leave it on loopback.
            """)

    private static let demo = HelpTopic(
        name: "demo",
        text: """
            lupine demo

            Shows in ten acts what the library does, against servers in the same
            process, each with the code that did it: a typed GET, validation, retries,
            a token that is refreshed, an upload, a download that is cut and gone on
            with, codings, pinned keys, a stream, and where the time goes.
            """)

    private static var exitCodes: HelpTopic {
        let rows = ExitCode.allCases.map { "  \("\($0.rawValue)".padded(to: 5))\($0.meaning)" }
        return HelpTopic(name: "exit-codes", text: rows.joined(separator: "\n"))
    }
}
