// SPDX-License-Identifier: MIT

/// What a program of the groups `loading`, `pipeline` and `transfer` is told to do: which form of the face to fetch with, what, and how often.
package struct LoadJob: Sendable {
    /// The programs know the forms by these names.
    package enum Form: String, Sendable {
        /// `data(for:)`, awaited by as many tasks as there are connections.
        case async
        /// `dataTask(with:completionHandler:)`, each handler starting the next task.
        case handler
        /// `downloadTask(with:completionHandler:)`: to a file, which is removed when its size has been read.
        case download
        /// PUTs of the file that `LUPINE_BENCH_FILE` names.
        case upload
    }

    package let form: Form
    package let url: String
    package let connections: Int
    package let requests: Int

    /// Whether a request is a long one, about a file.
    package var isTransfer: Bool { form == .download || form == .upload }

    /// `FORM HOST PORT PATH CONNECTIONS REQUESTS`; nil when that is not what stands there.
    package init?(_ arguments: [String]) {
        guard arguments.count == 6, let form = Form(rawValue: arguments[0]),
            let port = UInt16(arguments[2]), let connections = Int(arguments[4]),
            let requests = Int(arguments[5]), connections > 0, requests > 0
        else { return nil }
        self.form = form
        url = "http://\(arguments[1]):\(port)\(arguments[3])"
        self.connections = connections
        self.requests = requests
    }
}
