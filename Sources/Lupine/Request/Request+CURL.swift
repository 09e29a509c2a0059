// SPDX-License-Identifier: MIT

public import Dispatch
internal import Foundation
internal import LupineLoading

// The line for a shell that does what a request does.

extension Request {
    /// The curl command for the latest request, as it stands now. Without a request, a host or a method there is none, and
    /// the text says so. Bodies of uploads and streams are not shown.
    public func cURLDescription() -> String {
        guard let request = lastRequest, let url = request.url, let host = url.host,
            let method = request.httpMethod
        else { return "$ curl command could not be created" }

        var parts = ["$ curl -v", "-X \(method)"]
        let configuration = delegate?.sessionConfiguration
        if let storage = configuration?.urlCredentialStorage {
            let space = URLProtectionSpace(
                host: host, port: url.port ?? 0, protocol: url.scheme, realm: host,
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic)
            let credentials =
                storage.credentials(for: space).map { Array($0.values) } ?? [credential].compactMap { $0 }
            for credential in credentials {
                guard let user = credential.user, let password = credential.password else { continue }
                parts.append("-u \(user):\(password)")
            }
        }
        if let configuration, configuration.httpShouldSetCookies,
            let cookies = configuration.httpCookieStorage?.cookies(for: url), !cookies.isEmpty
        {
            parts.append("-b \"\(cookies.map { "\($0.name)=\($0.value)" }.joined(separator: ";"))\"")
        }
        var headers = HTTPHeaders()
        for header in (configuration?.headers ?? []) where header.name != "Cookie" { headers.update(header) }
        for header in request.headers where header.name != "Cookie" { headers.update(header) }
        parts += headers.map { header in
            "-H \"\(header.name): \(header.value.replacingOccurrences(of: "\"", with: "\\\""))\""
        }
        if let body = request.httpBody {
            let text = String(decoding: body, as: UTF8.self)
                .replacingOccurrences(of: "\\\"", with: "\\\\\"")
                .replacingOccurrences(of: "\"", with: "\\\"")
            parts.append("-d \"\(text)\"")
        }
        parts.append("\"\(url.absoluteString)\"")
        return parts.joined(separator: " \\\n\t")
    }

    /// Has `handler` called on `queue`, once, with the curl command: as soon as there is a request, or has failed to be one.
    @discardableResult
    public func cURLDescription(
        on queue: DispatchQueue, calling handler: @escaping @Sendable (String) -> Void
    ) -> Self {
        let called = Called(queue: queue, closure: handler)
        let (hasRequest, _) = mutableState.write { state -> (Bool, Called<String>?) in
            guard state.requests.isEmpty else { return (true, nil) }
            let old = state.cURLHandler
            state.cURLHandler = called
            return (false, old)
        }
        if hasRequest { describeForCURL(called) }
        return self
    }

    /// Has `handler` called on the root queue, once, with the curl command: as soon as there is a request, or has failed to
    /// be one.
    @discardableResult
    public func cURLDescription(calling handler: @escaping @Sendable (String) -> Void) -> Self {
        cURLDescription(on: underlyingQueue, calling: handler)
    }

    /// Calls the handler that waits for the command, if there is one.
    func describeForCURL() {
        let waiting = mutableState.write { state in
            defer { state.cURLHandler = nil }
            return state.cURLHandler
        }
        if let waiting { describeForCURL(waiting) }
    }

    private func describeForCURL(_ called: Called<String>) {
        called.queue.deliver { called.closure(self.cURLDescription()) }
    }
}
