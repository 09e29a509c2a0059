// SPDX-License-Identifier: MIT

public import Dispatch
internal import Foundation
internal import LupineLoading

// The curl command for a request.

extension Request {
    /// Returns the curl command for the latest `URLRequest` in its present state, with passwords hidden. If there is no request,
    /// host or method, the text says that no command could be created. Bodies of uploads and streams are not shown.
    public func cURLDescription() -> String { cURLDescription(showingPasswords: false) }

    /// Returns the curl command for the latest `URLRequest` in its present state.
    ///
    /// After the leading `$ `, the text is valid in any POSIX shell, whatever the request contains: the shell passes to curl
    /// exactly what the request sends. A body that is not text, or contains a NUL, is replaced by a note.
    ///
    /// - Parameter showingPasswords: Whether the text contains passwords of users; otherwise `***` replaces them.
    public func cURLDescription(showingPasswords: Bool) -> String {
        guard let request = lastRequest, let url = request.url, let host = url.host,
            let method = request.httpMethod
        else { return "$ curl command could not be created" }

        var command = CURLCommand(method: method, showsPasswords: showingPasswords)
        let configuration = delegate?.sessionConfiguration
        if let configuration { command.addVersion(of: configuration.lupine, for: url) }
        if let storage = configuration?.urlCredentialStorage {
            // As in Alamofire, the realm is the host: a command is written before the server has named its realm.
            let space = URLProtectionSpace(
                host: host, port: url.port ?? 0, protocol: url.scheme, realm: host,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            // The loading system uses the storage only for requests that contain no credentials themselves (U-11.4).
            let hasCredentials = url.user != nil || request.value(forHTTPHeaderField: "Authorization") != nil
            let storedCredentials =
                hasCredentials ? nil : storage.credentials(for: space).map { Array($0.values) }
            // The request's own credential takes precedence.
            let credentials = credential.map { [$0] } ?? storedCredentials ?? []
            for credential in credentials {
                guard let user = credential.user, let password = credential.password else { continue }
                command.add(user: user, password: password)
            }
        }
        if let configuration, configuration.httpShouldSetCookies {
            command.add(configuration.httpCookieStorage?.cookies(for: url) ?? [])
        }
        // The request's fields replace the configuration's. The cookies were added above.
        var headers = HTTPHeaders()
        for header in (configuration?.headers ?? []) where header.name != "Cookie" { headers.update(header) }
        for header in request.headers where header.name != "Cookie" { headers.update(header) }
        for header in headers { command.add(header) }
        if let body = request.httpBody { command.add(body: body) }
        return command.text(for: url)
    }

    /// Calls `handler` once on `queue` with the curl command, as soon as the `URLRequest` has been created or could not be
    /// created.
    @discardableResult
    public func cURLDescription(
        on queue: DispatchQueue, calling handler: @escaping @Sendable (String) -> Void
    ) -> Self {
        let newHandler = QueuedHandler(queue: queue, closure: handler)
        // The replaced handler is returned so that it is released outside of the lock.
        let (hasRequest, _) = mutableState.write { state -> (Bool, QueuedHandler<String>?) in
            guard state.requests.isEmpty else { return (true, nil) }
            let oldHandler = state.cURLHandler
            state.cURLHandler = newHandler
            return (false, oldHandler)
        }
        if hasRequest { callWithCURLDescription(newHandler) }
        return self
    }

    /// Calls `handler` once on the root queue with the curl command, as soon as the `URLRequest` has been created or could not be
    /// created.
    @discardableResult
    public func cURLDescription(calling handler: @escaping @Sendable (String) -> Void) -> Self {
        cURLDescription(on: underlyingQueue, calling: handler)
    }

    /// Calls the handler that waits for the curl command, if there is one, and removes it.
    func callCURLHandler() {
        let handler = mutableState.write { state -> QueuedHandler<String>? in
            // Without this check, the assignment of nil would set `hasInterceptorOrHandler` for every request.
            guard state.hasInterceptorOrHandler else { return nil }
            defer { state.cURLHandler = nil }
            return state.cURLHandler
        }
        if let handler { callWithCURLDescription(handler) }
    }

    /// Calls the handler on its queue. The command is created there too.
    private func callWithCURLDescription(_ handler: QueuedHandler<String>) {
        handler.queue.async { handler.closure(self.cURLDescription()) }
    }
}
