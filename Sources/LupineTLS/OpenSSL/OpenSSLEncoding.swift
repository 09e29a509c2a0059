// SPDX-License-Identifier: MIT

internal import CLupineOpenSSL

/// Wraps OpenSSL's functions that parse DER (`d2i_`) and produce DER (`i2d_`), so that they work on arrays.
enum OpenSSLEncoding {
    /// Returns the output of an `i2d_` function; empty when it fails. `encode` is called twice: with nil it returns the length of
    /// the output, otherwise it writes the output and returns its length.
    static func write(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8] {
        let count = encode(nil)
        guard count > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, written in
            var cursor = buffer.baseAddress
            written = unsafe max(0, Int(encode(&cursor)))
        }
    }

    /// Returns the object that a `d2i_` function parses from exactly these bytes.
    ///
    /// - Parameters:
    ///   - der: The bytes.
    ///   - input: The kind of the input, for the error.
    ///   - decode: Calls the `d2i_` function, which parses from the cursor and moves it behind the object.
    ///   - release: Frees the object if bytes follow it.
    /// - Throws: `malformed`, when the function fails or bytes follow the object.
    static func read<Object>(
        _ der: [UInt8], as input: CertificateInput,
        _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> Object?,
        release: (Object) -> Void
    ) throws(CertificateError) -> Object {
        guard !der.isEmpty else { throw .malformed(input, reason: "empty") }
        OpenSSLErrors.clear()
        let (object, parsedCount): (Object?, Int) = unsafe der.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            let object = unsafe decode(&cursor, buffer.count)
            guard let start = buffer.baseAddress, let end = unsafe cursor else { return (object, 0) }
            return unsafe (object, end - start)
        }
        guard let object else { throw .malformed(input, reason: OpenSSLErrors.takeReason()) }
        guard parsedCount == der.count else {
            release(object)
            throw .malformed(input, reason: "\(der.count - parsedCount) bytes after its end")
        }
        return object
    }

    /// Returns the text of an ASN.1 string of any type; invalid bytes become U+FFFD. Nil for a null pointer.
    static func text(_ string: UnsafePointer<ASN1_STRING>?) -> String? {
        guard let string = unsafe string else { return nil }
        var converted: UnsafeMutablePointer<UInt8>?
        let count = unsafe ASN1_STRING_to_UTF8(&converted, string)
        guard count >= 0, let start = unsafe converted else {
            OpenSSLErrors.clear()
            return String(decoding: unsafe bytes(string), as: UTF8.self)
        }
        defer { unsafe CRYPTO_free(start, nil, 0) }
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// Returns the content of an ASN.1 string; empty for a null pointer.
    static func bytes(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
        guard let string = unsafe string, let start = unsafe ASN1_STRING_get0_data(string) else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: start, count: Int(max(0, ASN1_STRING_length(string)))))
    }

    /// Returns the name of an object identifier, or its numeric form when OpenSSL has no name.
    static func name(_ object: OpaquePointer?) -> String {
        guard let object = unsafe object else { return "unknown" }
        // Without a buffer, the function returns the length of the name, without the final NUL.
        let count = unsafe OBJ_obj2txt(nil, 0, object, 0)
        guard count > 0 else { return "unknown" }
        let bytes = unsafe [CChar](unsafeUninitializedCapacity: Int(count) + 1) { buffer, written in
            written = unsafe max(0, Int(OBJ_obj2txt(buffer.baseAddress, Int32(buffer.count), object, 0)))
        }
        return String(decoding: bytes.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Returns the members of a stack of OpenSSL (a C array of pointers). The pointers are valid as long as the stack.
    static func members(_ stack: OpaquePointer?) -> [UnsafeMutableRawPointer] {
        guard let stack = unsafe stack else { return unsafe [] }
        let count = unsafe max(0, OPENSSL_sk_num(stack))
        return unsafe (0..<count).compactMap { unsafe OPENSSL_sk_value(stack, $0) }
    }
}
