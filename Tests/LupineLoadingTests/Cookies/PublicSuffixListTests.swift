// SPDX-License-Identifier: MIT

import Testing

@testable import LupineLoading

struct PublicSuffixListTests {
    static let list = PublicSuffixList(
        text: """
            // comment
            com
            co.uk   what follows a blank is not read
            *.ck
            !www.ck
            github.io
            公司.cn
            """)

    /// More labels than any rule has.
    static let long = String(repeating: "a.", count: 60)

    static let rows: [(host: String, isSuffix: Bool, registrable: String)] = [
        ("com", true, "com"), ("example.com", false, "example.com"),
        ("a.b.example.com", false, "example.com"),
        ("co.uk", true, "co.uk"), ("x.co.uk", false, "x.co.uk"), ("y.x.co.uk", false, "x.co.uk"),
        ("uk", true, "uk"), ("other.uk", false, "other.uk"), ("a.ck", true, "a.ck"),
        ("b.a.ck", false, "b.a.ck"),
        ("c.b.a.ck", false, "b.a.ck"), ("www.ck", false, "www.ck"), ("a.www.ck", false, "www.ck"),
        ("github.io", true, "github.io"), ("me.github.io", false, "me.github.io"),
        ("xn--55qx5d.cn", true, "xn--55qx5d.cn"), ("a.xn--55qx5d.cn", false, "a.xn--55qx5d.cn"),
        ("localhost", true, "localhost"), ("unknown", true, "unknown"), ("a.unknown", false, "a.unknown"),
        ("192.0.2.7", false, "192.0.2.7"), ("::1", false, "::1"), ("", true, ""), (".", true, ""),
        ("com.", true, "com"), ("a.example.com.", false, "example.com"), ("co.uk.", true, "co.uk"),
        ("0x7f.0.0.1", false, "0x7f.0.0.1"), ("127.1", false, "127.1"), ("a.0x.example", false, "0x.example"),
        (long + "co.uk", false, "a.co.uk"), (long + "ck", false, "a.a.ck"),
        (long + "www.ck", false, "www.ck"),
    ]

    @Test("[U-13.7] public suffixes and registrable domains", arguments: rows)
    func suffixes(host: String, isSuffix: Bool, registrable: String) {
        #expect(Self.list.contains(host) == isSuffix)
        #expect(Self.list.registrableDomain(of: host) == registrable)
    }

    @Test("[U-13.7] without a list, single labels and second-level registries are public")
    func builtIn() {
        for host in ["com", "co.uk", "com.au", "co.jp", "localhost"] {
            #expect(PublicSuffixList.builtIn.contains(host))
        }
        for host in ["example.com", "a.co.uk", "gov.example"] {
            #expect(!PublicSuffixList.builtIn.contains(host))
        }
        #expect(PublicSuffixList.system.contains("co.uk"))
    }

    static let labels: [(label: String, ascii: String)] = [
        ("example", "example"), ("bücher", "xn--bcher-kva"), ("公司", "xn--55qx5d"), ("рф", "xn--p1ai"),
        ("ελ", "xn--qxam"), ("भारत", "xn--h2brj9c"), ("ä", "xn--4ca"), ("", ""),
        (String(repeating: "ü", count: 64), String(repeating: "ü", count: 64)),
    ]

    @Test(arguments: labels)
    func labelsBecomeASCII(label: String, ascii: String) { #expect(Punycode.label(label) == ascii) }
}
