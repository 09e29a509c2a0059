// SPDX-License-Identifier: MIT

extension PublicKey {
    /// Returns the public keys in a PEM text, in order. Other blocks, and text between blocks, are skipped.
    ///
    /// - Throws: `CertificateError`: `at` with the number of the key that cannot be read, `missing` when there is none.
    public static func pem(_ text: [UInt8]) throws(CertificateError) -> [PublicKey] {
        var keys: [PublicKey] = []
        for block in try PEM.blocks(in: text) where block.label == "PUBLIC KEY" {
            do throws(CertificateError) {
                keys.append(try PublicKey(subjectPublicKeyInfo: try block.bytes()))
            } catch {
                throw .at(number: keys.count + 1, path: nil, error)
            }
        }
        guard !keys.isEmpty else { throw .missing(.publicKey) }
        return keys
    }

    /// Returns the public keys in a file: all in a PEM text, or one SubjectPublicKeyInfo in DER. Blocks while it reads the file.
    ///
    /// - Throws: `CertificateError`: `unreadable`, or `at` with the path and the error in the file.
    public static func bundle(file path: String) throws(CertificateError) -> [PublicKey] {
        let bytes = try CertificateFile.read(path, limit: PEM.largestSize)
        do throws(CertificateError) {
            return try PEM.containsBlock(bytes) ? pem(bytes) : [PublicKey(subjectPublicKeyInfo: bytes)]
        } catch .at(let number, _, let error) {
            // The parser of the content does not know the path.
            throw .at(number: number, path: path, error)
        } catch {
            throw .at(number: 1, path: path, error)
        }
    }
}
