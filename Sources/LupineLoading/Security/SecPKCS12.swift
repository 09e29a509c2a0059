// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import LupineTLS

/// The option of `SecPKCS12Import` whose value is the password, a `String`.
public let kSecImportExportPassphrase: CFString = "passphrase"
/// In what `SecPKCS12Import` gives: the `SecIdentity`.
public let kSecImportItemIdentity: CFString = "identity"
/// In what `SecPKCS12Import` gives: the `[SecCertificate]` of the identity and its issuers.
public let kSecImportItemCertChain: CFString = "chain"
/// In what `SecPKCS12Import` gives: a `SecTrust` of those certificates, not evaluated.
public let kSecImportItemTrust: CFString = "trust"
/// In what `SecPKCS12Import` gives: a `String` that names the identity.
public let kSecImportItemLabel: CFString = "label"

/// Reads the identity of a PKCS#12 file. Opening it costs CPU time on purpose, up to a second.
///
/// - Parameters:
///   - data: What the file holds.
///   - options: The password under `kSecImportExportPassphrase`.
///   - items: Takes an array with one dictionary, whose keys are `kSecImportItemIdentity` and its kin.
/// - Returns: `errSecSuccess`; `errSecPassphraseRequired` or `errSecAuthFailed` when the password is missing or wrong;
///   `errSecItemNotFound` without a key or its certificate; `errSecUnimplemented` for ciphers that are no longer used;
///   `errSecDecode` for anything else that is no such file.
@safe public func SecPKCS12Import(
    _ data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    unsafe items.pointee = nil
    let password = options[kSecImportExportPassphrase]
    guard password == nil || password is String else { return errSecParam }
    do throws(CertificateError) {
        let identity = try TLSIdentity(pkcs12: [UInt8](data), password: password as? String)
        let chain = ([identity.certificate] + identity.intermediates).map(SecCertificate.init)
        let item: [String: Any] = [
            kSecImportItemIdentity: SecIdentity(identity), kSecImportItemCertChain: chain,
            kSecImportItemTrust: SecTrust(certificates: chain, policies: [SecPolicy(.basic)]),
            kSecImportItemLabel: SecCertificateCopySubjectSummary(chain[0]) ?? "",
        ]
        unsafe items.pointee = [item]
        return errSecSuccess
    } catch {
        return status(of: error, hadPassword: password != nil)
    }
}

private func status(of error: CertificateError, hadPassword: Bool) -> OSStatus {
    switch error {
    case .wrongPassword: hadPassword ? errSecAuthFailed : errSecPassphraseRequired
    case .passwordMissing: errSecPassphraseRequired
    case .missing, .keyMismatch: errSecItemNotFound
    case .unsupported: errSecUnimplemented
    case .unreadable, .tooLarge, .malformed, .tooCostly: errSecDecode
    case .at(_, _, let error): status(of: error, hadPassword: hadPassword)
    }
}
