// SPDX-License-Identifier: MIT
// Invariant: a cookie that was read can be sent, is equal to a cookie made from its properties, and is stored only for its hosts.

import Foundation
import FuzzKit
import LupineLoading

/// The URL that sets the cookies, and URLs to which they must not be sent.
private enum CookieURLs {
    static let home = URL(string: "https://shop.example.co.uk/cart/items?x")
    static let unrelated = [
        "https://example.org/cart/", "https://other.co.uk/cart/", "https://192.0.2.1/cart/",
    ]
    .compactMap { URL(string: $0) }
}

/// The input is a `Set-Cookie` value, possibly with several cookies.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = unsafe FuzzInput(start, count)
    guard let home = CookieURLs.home else { return 0 }
    let text = String(decoding: input.readRemaining(), as: UTF8.self)
    let cookies = HTTPCookie.cookies(withResponseHeaderFields: ["Set-Cookie": text], for: home)
    for cookie in cookies {
        let sent = HTTPCookie.requestHeaderFields(with: [cookie])["Cookie"] ?? ""
        require(sent == cookie.name + "=" + cookie.value, "sent as \(sent.debugDescription)")
        require(
            !sent.utf8.contains { $0 < 0x20 || $0 == 0x7F || $0 == 0x3B },
            "not one pair: \(sent.debugDescription)")
        require(cookie.path.hasPrefix("/") && !cookie.domain.isEmpty, "for nowhere: \(cookie)")
        let again = cookie.properties.flatMap { HTTPCookie(properties: $0) }
        require(again == cookie, "\(cookie) is another by its properties")
    }
    let storage = HTTPCookieStorage(file: nil)
    storage.setCookies(cookies, for: home, mainDocumentURL: nil)
    for cookie in storage.cookies ?? [] {
        let domain = cookie.domain
        let isOwn =
            domain == "shop.example.co.uk"
            || (domain.hasPrefix(".") && ".shop.example.co.uk".hasSuffix(domain) && domain != ".co.uk"
                && domain != ".uk")
        require(isOwn, "stored for \(domain)")
    }
    for url in CookieURLs.unrelated { require(storage.cookies(for: url) == [], "given to \(url)") }
    let found = (storage.cookies(for: home) ?? []).map(\.path.utf8.count)
    require(found == found.sorted(by: >), "longer paths do not come first")
    return 0
}
