// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Describes which of its issuer's certificates a revocation list covers (the issuing distribution point, RFC 5280 §5.2.5).
struct RevocationScope: Sendable, Hashable {
    /// Whether the list covers only end-entity certificates (onlyContainsUserCerts).
    private var coversOnlyEndEntities = false
    /// Whether the list covers only certificates of authorities (onlyContainsCACerts).
    private var coversOnlyAuthorities = false
    /// The names of the distribution points, in DER, whose certificates the list covers; nil when it covers all certificates.
    private var distributionPoints: Set<[UInt8]>?

    /// Reads the list's extensions.
    ///
    /// - Throws: `unsupported` for a list that cannot give a complete answer, or has unknown critical extensions; `malformed`.
    init(of list: OpenSSLHandle<RevocationListObject>) throws(RevocationProblem) {
        try RevocationScope.checkExtensions(of: list)
        var critical: Int32 = 0
        guard
            let value = unsafe X509_CRL_get_ext_d2i(
                list.pointer, NID_issuing_distribution_point, &critical, nil)
        else {
            // -1: there is no such extension; anything else: it is malformed or occurs twice.
            guard critical == -1 else { throw .malformed }
            return
        }
        let point = unsafe value.assumingMemoryBound(to: ISSUING_DIST_POINT.self)
        defer { unsafe ISSUING_DIST_POINT_free(point) }
        // In OpenSSL's structures, a BOOLEAN is positive when it is true, and -1 or 0 when it is false or absent.
        guard unsafe point.pointee.indirectCRL <= 0, unsafe point.pointee.onlyattr <= 0,
            unsafe point.pointee.onlysomereasons == nil
        else { throw .unsupported }
        coversOnlyEndEntities = unsafe point.pointee.onlyuser > 0
        coversOnlyAuthorities = unsafe point.pointee.onlyCA > 0
        if let name = unsafe point.pointee.distpoint {
            guard let names = unsafe RevocationScope.fullNames(name) else { throw .unsupported }
            distributionPoints = names
        }
    }

    /// Whether the list covers this certificate. Its absence from the list then means that it is not revoked.
    func covers(_ certificate: Certificate) -> Bool {
        let isExcluded = certificate.isAuthority ? coversOnlyEndEntities : coversOnlyAuthorities
        guard !isExcluded else { return false }
        guard let distributionPoints else { return true }
        return !distributionPoints.isDisjoint(with: RevocationScope.distributionPoints(of: certificate))
    }

    /// Throws for unknown critical extensions of the list or of an entry: such a list must not be used.
    private static func checkExtensions(
        of list: OpenSSLHandle<RevocationListObject>
    ) throws(RevocationProblem) {
        var position: Int32 = -1
        while true {
            position = unsafe X509_CRL_get_ext_by_critical(list.pointer, 1, position)
            guard position >= 0 else { break }
            let extensionID = unsafe OBJ_obj2nid(
                X509_EXTENSION_get_object(X509_CRL_get_ext(list.pointer, position)))
            switch extensionID {
            case NID_issuing_distribution_point, NID_authority_key_identifier, NID_crl_number: continue
            default: throw .unsupported
            }
        }
        guard unsafe X509_CRL_get_ext_by_NID(list.pointer, NID_delta_crl, -1) < 0 else { throw .unsupported }
        guard let entries = unsafe X509_CRL_get_REVOKED(list.pointer) else { return }
        for index in 0..<max(unsafe lupine_sk_X509_REVOKED_num(entries), 0) {
            guard let entry = unsafe lupine_sk_X509_REVOKED_value(entries, index) else { continue }
            var position: Int32 = -1
            while true {
                position = unsafe X509_REVOKED_get_ext_by_critical(entry, 1, position)
                guard position >= 0 else { break }
                let extensionID = unsafe OBJ_obj2nid(
                    X509_EXTENSION_get_object(X509_REVOKED_get_ext(entry, position)))
                guard extensionID == NID_crl_reason else { throw .unsupported }
            }
        }
    }

    /// Returns the full names of a certificate's distribution points, in DER.
    private static func distributionPoints(of certificate: Certificate) -> Set<[UInt8]> {
        guard
            let points = unsafe OpaquePointer(
                X509_get_ext_d2i(certificate.handle.pointer, NID_crl_distribution_points, nil, nil))
        else { return [] }
        defer { unsafe lupine_CRL_DIST_POINTS_free(points) }
        var distributionPoints: Set<[UInt8]> = []
        for index in 0..<max(unsafe lupine_sk_DIST_POINT_num(points), 0) {
            // A distribution point with its own issuer or reasons names a list that gives no complete answer.
            guard let point = unsafe lupine_sk_DIST_POINT_value(points, index),
                let name = unsafe point.pointee.distpoint, unsafe point.pointee.CRLissuer == nil,
                unsafe point.pointee.reasons == nil, let names = unsafe fullNames(name)
            else { continue }
            distributionPoints.formUnion(names)
        }
        return distributionPoints
    }

    /// Returns the full names of a distribution point (type 0), in DER; nil when its name is relative to the issuer (type 1).
    private static func fullNames(_ name: UnsafeMutablePointer<DIST_POINT_NAME>) -> Set<[UInt8]>? {
        guard unsafe name.pointee.type == 0, let names = unsafe name.pointee.name.fullname else { return nil }
        var encodedNames: Set<[UInt8]> = []
        for index in 0..<max(unsafe lupine_sk_GENERAL_NAME_num(names), 0) {
            guard let name = unsafe lupine_sk_GENERAL_NAME_value(names, index) else { continue }
            let length = unsafe i2d_GENERAL_NAME(name, nil)
            guard length > 0 else { continue }
            unsafe encodedNames.insert(
                [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
                    var cursor = buffer.baseAddress
                    count = unsafe Int(max(i2d_GENERAL_NAME(name, &cursor), 0))
                })
        }
        return encodedNames
    }
}
