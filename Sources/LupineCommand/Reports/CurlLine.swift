// SPDX-License-Identifier: MIT

internal import Foundation
internal import Lupine

/// The curl line that does what a plan does (`--to-curl`), for a POSIX shell. Secrets are hidden unless they are asked for.
struct CurlLine: Sendable {
    let text: String

    init(_ plan: RequestPlan, _ invocation: Invocation, cookies: [HTTPCookie]) {
        var words = ["curl"]
        let standard = plan.body.isNone ? "GET" : "POST"
        var isUpload = false
        switch plan.body {
        case .file, .standardInput: isUpload = true
        case .none, .data: break
        }
        if plan.method == "HEAD" {
            words.append("-I")
        } else if plan.method != (isUpload ? "PUT" : standard) {
            words += ["-X", plan.method]
        }
        for (name, value) in plan.headers {
            let lowered = name.lowercased()
            if plan.credentials != nil, !plan.usesDigest, lowered == "authorization" { continue }
            let isSecret = HeadText.secrets.contains(lowered) && !invocation.showsSecrets
            let shown = isSecret ? "HIDDEN" : value
            if lowered == "accept", value == "*/*" { continue }
            words += ["-H", shown.isEmpty ? "\(name);" : "\(name): \(shown)"]
        }
        for name in plan.omitted.sorted() where name != "Accept-Language" { words += ["-H", "\(name):"] }
        if let credentials = plan.credentials {
            if plan.usesDigest { words.append("--digest") }
            words += [
                "-u", "\(credentials.user):\(invocation.showsSecrets ? credentials.password : "HIDDEN")",
            ]
        }
        if !cookies.isEmpty {
            let pairs = cookies.map { "\($0.name)=\(invocation.showsSecrets ? $0.value : "HIDDEN")" }
            words += ["-b", pairs.joined(separator: "; ")]
        }
        words += Self.network(invocation)
        if invocation.refusesDowngrade, plan.url.scheme == "https" { words += ["--proto-redir", "=https"] }
        var pipe = ""
        switch plan.body {
        case .none: break
        case .data(let data):
            if let body = String(validating: data, as: UTF8.self), !body.contains("\0") {
                words += ["--data-binary", body.hasPrefix("@") ? "@-" : body]
                if body.hasPrefix("@") { pipe = "printf %s \(Self.quoted(body)) | " }
            } else {
                words += ["--data-binary", "@-"]
                pipe = "printf '\(data.map(Self.octal).joined())' | "
            }
        case .file(let path, _): words += ["-T", path]
        case .standardInput: words += ["-T", "-"]
        }
        if !invocation.keepsEncoding { words.append("--compressed") }
        words.append(plan.url.absoluteString)
        text = pipe + words.map(Self.quoted).joined(separator: " ")
    }

    private static func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }

    private static func network(_ invocation: Invocation) -> [String] {
        var words: [String] = []
        func add(_ name: String, _ value: String?) {
            if let value { words += [name, value] }
        }
        if invocation.followsRedirects { words.append("-L") }
        add("--max-redirs", invocation.redirectLimit.map { "\($0)" })
        if invocation.isInsecure { words.append("-k") }
        if invocation.fails { words.append("-f") }
        add("-x", invocation.proxy)
        add("--noproxy", invocation.noProxy)
        for item in invocation.overrides {
            add("--resolve", "\(item.host):\(item.port):\(item.addresses.joined(separator: ","))")
        }
        add("--unix-socket", invocation.unixSocket)
        add("--interface", invocation.interface)
        add("--connect-timeout", invocation.connectTimeout.map { "\($0)" })
        add("-m", invocation.maximumTime.map { "\($0)" })
        if invocation.retries > 0 { add("--retry", "\(invocation.retries)") }
        add("--limit-rate", invocation.rate.map { "\($0)" })
        add("--cacert", invocation.authorities)
        add("--cert", invocation.certificate)
        add("--key", invocation.key)
        if let password = invocation.keyPassword {
            add("--pass", invocation.showsSecrets ? password : "HIDDEN")
        }
        if !invocation.pins.isEmpty {
            let pins = invocation.pins.map {
                $0.hasPrefix("sha256//") ? $0 : $0.replacing("sha256/", with: "sha256//")
            }
            add("--pinnedpubkey", pins.joined(separator: ";"))
        }
        for (index, destination) in invocation.destinations.enumerated() {
            switch destination {
            case .file(let file): add("-o", file)
            case .remoteName: if index == 0 { words.append("-O") }
            }
        }
        if invocation.takesServersName { words.append("-J") }
        switch invocation.resumption {
        case .automatic: add("-C", "-")
        case .offset(let count): add("-C", "\(count)")
        case nil: break
        }
        return words
    }

    /// A word for a shell.
    static func quoted(_ word: String) -> String {
        let plain = word.unicodeScalars.allSatisfy {
            $0.isASCII
                && ($0.properties.isAlphabetic || ("0"..."9").contains($0)
                    || "-_./:=,@%+".unicodeScalars.contains($0))
        }
        return plain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }
}
