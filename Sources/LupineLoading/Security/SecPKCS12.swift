// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation
internal import LupineTLS

/// The key of the password, a `String`, in the options of `SecPKCS12Import`.
public let kSecImportExportPassphrase: CFString = "passphrase"
/// The key of the `SecIdentity` in the result of `SecPKCS12Import`.
public let kSecImportItemIdentity: CFString = "identity"
/// The key of the `[SecCertificate]` with the identity's certificate and its issuers in the result of `SecPKCS12Import`.
public let kSecImportItemCertChain: CFString = "chain"
/// The key of a `SecTrust` with the identity's certificate and its issuers, not evaluated, in the result of `SecPKCS12Import`.
public let kSecImportItemTrust: CFString = "trust"
/// The key of a `String` that names the identity in the result of `SecPKCS12Import`.
public let kSecImportItemLabel: CFString = "label"

/// Reads the identity in a PKCS#12 file. Takes up to a second of CPU time, because PKCS#12 derives a key from the password by a
/// function that is slow by design.
///
/// - Parameters:
///   - data: The file's content.
///   - options: The password under `kSecImportExportPassphrase`.
///   - items: Receives an array with one dictionary, whose keys are the `kSecImportItem` constants.
/// - Returns: `errSecSuccess`; `errSecPassphraseRequired` or `errSecAuthFailed` when the password is missing or wrong;
///   `errSecItemNotFound` when the file lacks a key or its certificate; `errSecUnimplemented` for obsolete ciphers;
///   `errSecDecode` for other invalid data.
@safe public func SecPKCS12Import(
    _ data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    // After an error the caller has no items.
    unsafe items.pointee = nil
    let password = options[kSecImportExportPassphrase]
    // A password of another type is an error, while a missing password is allowed.
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

/// Returns the result code for an error. If the caller has passed no password, `wrongPassword` means that one is missing.
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
