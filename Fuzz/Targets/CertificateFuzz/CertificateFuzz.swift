// SPDX-License-Identifier: MIT
// Invariant: a certificate that is read keeps its DER, and is equal after it is read again. An index of roots contains the same
// certificates as an immediate reading, by their names. No key causes a trap.
import LupineTLS

/// The input is a certificate in DER, a PEM text of certificates, a private key in both forms, and a public key.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    if let certificate = try? Certificate(der: input) {
        precondition(certificate.der == input, "another DER than it was read from")
        check(certificate)
    }
    if let certificates = try? Certificate.pem(input) {
        precondition(!certificates.isEmpty)
        for certificate in certificates { check(certificate) }
        if let again = try? Certificate.pem([0x0A] + input + [0x0A]) { precondition(again == certificates) }
    }
    checkIndex(input)
    for password in [nil, "lupine"] {
        if let key = try? PrivateKey(pem: input, password: password) { check(key) }
    }
    if let key = try? PrivateKey(der: input) { check(key) }
    if let key = try? PublicKey(subjectPublicKeyInfo: input) {
        precondition(key.subjectPublicKeyInfo == input && !key.type.description.isEmpty)
    }
    return 0
}

/// Checks that an index of roots, which parses on demand, has the same certificates as an immediate reading.
private func checkIndex(_ input: [UInt8]) {
    let read = try? Certificate.bundle(content: input, of: "roots")
    var reader = RootReader()
    guard (try? reader.read(content: input, of: "roots")) != nil else {
        precondition(read == nil, "an index refuses what is read")
        return
    }
    let index = reader.index
    if let read { precondition(Set(index.certificates) == Set(read), "an index has other certificates") }
    for certificate in index.certificates {
        guard let name = OpenSSLName(subjectOf: certificate) else { continue }
        var failure: TrustRootsError?
        precondition(
            index.certificates(named: name, failure: &failure).contains(certificate), "not found by its name")
    }
}

private func check(_ certificate: Certificate) {
    guard let again = try? Certificate(der: certificate.der) else { preconditionFailure("not read again") }
    precondition(again == certificate && again.hashValue == certificate.hashValue)
    precondition(again.subject == certificate.subject && again.issuer == certificate.issuer)
    precondition(!certificate.description.utf8.contains(0))
    precondition(again.keyType == certificate.keyType && again.publicKey == certificate.publicKey)
    precondition(again.subjectAlternativeNames == certificate.subjectAlternativeNames)
    precondition(again.signatureAlgorithm == certificate.signatureAlgorithm)
    precondition(again.isAuthority == certificate.isAuthority && again.mustStaple == certificate.mustStaple)
    precondition(again.isSelfSigned == certificate.isSelfSigned)
    precondition(again.ocspURLs == certificate.ocspURLs && again.crlURLs == certificate.crlURLs)
    precondition(again.notBefore == certificate.notBefore && again.notAfter == certificate.notAfter)
    if let pin = certificate.publicKey?.pin { precondition((try? PublicKeyPin(pin.description)) == pin) }
    _ = PeerIdentity.matches(host: "good.test", certificate: certificate)
}

private func check(_ key: PrivateKey) {
    precondition("\(key)" == "PrivateKey" && !key.type.description.isEmpty)
    precondition(key.publicKey == key.publicKey)
}
