// SPDX-License-Identifier: MIT

import Testing

@testable import LupineLoading

struct HostNameTests {
    @Test(
        "[U-13.6] IP addresses, and names that resolvers take for one",
        arguments: [
            ("1.2.3.4", true), ("1.2.3.4.", true), ("127.1", true), ("0x7f.0.0.1", true), ("a.0x7f", true),
            ("a.1", true), ("5", true), ("::1", true), ("fe80::1%eth0", true), ("::ffff:1.2.3.4", true),
            ("1.2.3.4%x", true), ("0x", true), ("a.b", false), ("a.b1", false), ("1a", false), ("", false),
            (".", false), ("a.", false), ("0xg", false), ("a:b", false), ("a%b", false), ("1.a", false),
        ])
    func addresses(_ host: String, _ isAddress: Bool) {
        #expect(HostName.isAddress(host) == isAddress)
    }

    @Test(
        "[U-13.6] the canonical form of host names",
        arguments: [
            ("EXAMPLE.test", "example.test"), ("[FE80::A]", "fe80::a"), ("[FE80::A%Eth0]", "fe80::a%Eth0"),
            ("A%B", "a%b"), ("BÜCHER.test", "xn--bcher-kva.test"),
        ])
    func canonical(_ host: String, _ name: String) {
        #expect(HostName.canonical(host) == name)
    }

    @Test(
        "[U-13.11] a host is a domain, or is below it",
        arguments: [
            ("a.b", "a.b", true), ("x.a.b", "a.b", true), ("y.x.a.b", "a.b", true), ("xa.b", "a.b", false),
            ("a.b", "x.a.b", false), ("a.b", "", false), ("", "", true), (".a.b", "a.b", true),
            ("a.b", "c.d", false), ("x.1.2", "1.2", false), ("1.2", "1.2", true), ("a.b.", "a.b", false),
        ])
    func belowADomain(_ host: String, _ domain: String, _ isBelow: Bool) {
        #expect(HostName.isSame(host, orBelow: domain) == isBelow)
    }

    @Test(
        "[U-13.6] a name without an empty label",
        arguments: [
            ("a", true), ("a.b", true), ("a.b.", true), ("", false), (".", false), (".a", false),
            ("a..b", false), ("a..", false), ("..", false),
        ])
    func wholeNames(_ host: String, _ isWhole: Bool) {
        #expect(HostName.hasNoEmptyLabel(host) == isWhole)
    }
}
