// SPDX-License-Identifier: MIT

/// Rejects invalid combinations of options, before any I/O.
enum InvocationCheck {
    /// Throws if options contradict each other, or if an option is missing that another one needs.
    static func check(_ invocation: Invocation) throws(UsageError) {
        let sources = bodySources(of: invocation)
        try checkBodySources(sources, of: invocation)
        try checkDestinations(invocation, hasBody: !sources.isEmpty)
        if invocation.proxyUser != nil, invocation.proxy == nil {
            throw UsageError("-U has the credentials for a proxy: name that with -x")
        }
        if invocation.range != nil, invocation.resumption != nil {
            throw UsageError("-r and -C both say which part is asked for: use one of them")
        }
        if invocation.keyFile != nil, invocation.certificate == nil {
            throw UsageError("--key is the key of a certificate: add --cert FILE")
        }
        if invocation.urls.count > 1, invocation.urls.contains(where: isWebSocketURL) {
            throw UsageError("a conversation over a web socket takes one URL")
        }
        if invocation.urls.count > 1, invocation.followsEvents {
            throw UsageError("--sse follows the events of one URL")
        }
    }

    /// Returns the names of the given options that make a body. Valid command lines have at most one.
    private static func bodySources(of invocation: Invocation) -> [String] {
        [
            invocation.items.contains(where: \.isContent) ? "items" : nil,
            invocation.dataValues.isEmpty || invocation.putsDataIntoQuery ? nil : "-d",
            invocation.formParts.isEmpty ? nil : "-F", invocation.rawBody == nil ? nil : "--raw",
            invocation.uploadFile == nil ? nil : "-T",
        ].compactMap { $0 }
    }

    /// Throws if the command line has several bodies, or a body that the method forbids.
    ///
    /// - Parameters:
    ///   - sources: The names of the options that make a body.
    ///   - invocation: The command line.
    private static func checkBodySources(
        _ sources: [String], of invocation: Invocation
    ) throws(UsageError) {
        if sources.count > 1 {
            throw UsageError("\(sources.joined(separator: " and ")) both make a body: use one of them")
        }
        if let source = sources.first {
            if invocation.asksForHead {
                throw UsageError(
                    "-I asks for a head, which has no body (\(source)): leave -I away, or use -G with -d")
            }
            if let method = invocation.method { try checkBody(of: method, from: source) }
        }
        if invocation.putsDataIntoQuery, invocation.dataValues.isEmpty {
            throw UsageError("-G puts the data of -d into the query: there is no -d")
        }
    }

    /// Throws if the options for saved files contradict each other, or do not match the number of URLs.
    private static func checkDestinations(_ invocation: Invocation, hasBody: Bool) throws(UsageError) {
        let count = invocation.destinations.count
        // There may be fewer destinations than URLs: a single -O is for all URLs; otherwise the content of the remaining URLs is
        // printed.
        if count > 1, count > invocation.urls.count {
            throw UsageError("there are \(count) -o and -O for \(invocation.urls.count) URL: give one each")
        }
        if invocation.resumption != nil { try checkResumption(invocation, hasBody: hasBody) }
        // -D must not name a file of -o. Only a device, such as /dev/stdout, may receive both the head and the content.
        if let file = invocation.headFile, !file.hasPrefix("/dev/"), count > 0,
            invocation.destinations.contains(.file(file))
        {
            throw UsageError("-D and -o would write to one file, \(file): give each its own, or use -i")
        }
        if invocation.usesServerFileName, !invocation.destinations.contains(.remoteName) {
            throw UsageError("-J is for the name of a file that -O saves: add -O")
        }
    }

    /// Throws if an option cannot be combined with -C, which resumes a download.
    private static func checkResumption(_ invocation: Invocation, hasBody: Bool) throws(UsageError) {
        if invocation.destinations.isEmpty {
            throw UsageError("-C goes on with a file: name it with -o FILE or -O")
        }
        if hasBody { throw UsageError("-C goes on with a download: it cannot have a body") }
        if invocation.usesServerFileName {
            throw UsageError(
                "-C goes on with a file that is known, and -J lets the server name it: name it with -o FILE"
            )
        }
        if invocation.savesHead {
            throw UsageError(
                "-C goes on with content, and \(invocation.asksForHead ? "-I" : "-i") saves a head: leave one of them away"
            )
        }
    }

    /// Throws if the method is GET or HEAD, whose requests have no body.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - source: The option that makes the body, for the error.
    static func checkBody(of method: String, from source: String) throws(UsageError) {
        if method == "GET" || method == "HEAD" {
            throw UsageError(
                "a \(method) cannot have a body (\(source)): send it with -X POST, or put -d into the query with -G"
            )
        }
    }

    /// Returns whether a URL as typed has the scheme `ws` or `wss`.
    static func isWebSocketURL(_ url: String) -> Bool {
        let lowered = url.lowercased()
        return lowered.hasPrefix("ws://") || lowered.hasPrefix("wss://")
    }
}
