// SPDX-License-Identifier: MIT
// Invariant: a URL that is accepted is equal after it is written and read again; none of its parts can break a head.
import LupineTransport

/// The text up to the first line feed is a URL; the text after it is a reference relative to that URL. Both are also used as
/// proxy configuration.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    let lines = input.split(separator: 0x0A, maxSplits: 1, omittingEmptySubsequences: false)
    let text = String(decoding: lines[0], as: UTF8.self)
    let reference = String(decoding: lines.count > 1 ? lines[1] : [], as: UTF8.self)

    let base = (try? TransportURL(text)) ?? (try? TransportURL("http://a/b/c/d;p?q"))
    if let base {
        check(base)
        if let target = try? base.resolving(reference) {
            check(target)
            if reference.utf8.first == 0x2F { checkSegments(target.path) }
            let repaired = try? base.resolving(location: reference)
            precondition(repaired == target, "a reference without fault is not repaired")
        }
        if let target = try? base.resolving(location: reference) { check(target) }
    }

    if let proxy = try? ProxyServer(url: text) {
        precondition(proxy.port > 0 && !proxy.host.isEmpty)
        precondition((try? ProxyServer(url: proxy.description))?.host == proxy.host)
    }
    let list = NoProxyList(text)
    let matches = list.matches(host: reference, port: 80)
    precondition(matches == list.matches(host: reference.uppercased(), port: 80) || !isASCII(reference))
    let hint = KeepAlive(fieldValue: input.span)
    precondition(hint.maximum ?? 0 >= 0 && hint.timeout ?? .zero >= .zero)
    return 0
}

private func check(_ url: TransportURL) {
    guard let again = try? TransportURL(url.description) else {
        preconditionFailure("\(url) is not read again")
    }
    precondition(again == url, "\(again) is not \(url)")
    precondition(url.path.utf8.first == 0x2F)
    for part in [url.target, url.hostField] {
        precondition(!part.isEmpty && part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x23 })
    }
    precondition(url.port > 0 || url.unixPath != nil)
    precondition(!(url.unixPath ?? "/").utf8.contains(0))
    precondition(!(url.zone ?? "x").isEmpty)
}

private func checkSegments(_ path: String) {
    for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
        precondition(segment != "." && segment != "..", "\(path) keeps dot segments")
    }
}

private func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }
