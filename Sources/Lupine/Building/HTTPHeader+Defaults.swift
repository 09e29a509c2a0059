// SPDX-License-Identifier: MIT

internal import Foundation

/// The header fields with which a session of default configuration describes the client. Each is computed once.
extension HTTPHeader {
    /// The content codings that the client decodes, in order of preference.
    public static let defaultAcceptEncoding: HTTPHeader = .acceptEncoding(
        ["br", "gzip", "deflate"].qualityEncoded())

    /// The user's languages in order of preference, at most six, from the locale in the environment: `de-AT;q=1.0, de;q=0.9` for
    /// the locale `de_AT.UTF-8`. The value is empty if the locale names no language, such as `C`.
    public static let defaultAcceptLanguage: HTTPHeader = .acceptLanguage(
        UserLanguages.preferred.qualityEncoded())

    /// The names and versions of the program, the system and the library: `tool/Unknown (Unknown; build:Unknown; Linux 6.1.0)
    /// Lupine/1.0.0`.
    public static let defaultUserAgent: HTTPHeader = .userAgent(
        userAgentValue(
            of: Bundle.main.infoDictionary ?? [:], startedAs: ProcessInfo.processInfo.arguments.first,
            on: ProcessInfo.processInfo.operatingSystemVersion))

    /// Returns the value of `User-Agent` for a program.
    ///
    /// - Parameters:
    ///   - info: The entries of the bundle's information dictionary.
    ///   - path: The path with which the program was started.
    ///   - system: The version of the kernel.
    static func userAgentValue(
        of info: [String: Any], startedAs path: String?, on system: OperatingSystemVersion
    ) -> String {
        func entry(_ key: String) -> String? { info[key] as? String }

        let executable = entry("CFBundleExecutable") ?? path?.split(separator: "/").last.map(String.init)
        let program =
            "\(executable ?? "Unknown")/\(entry("CFBundleShortVersionString") ?? "Unknown")"
        let bundle = entry("CFBundleIdentifier") ?? "Unknown"
        let build = entry("CFBundleVersion") ?? "Unknown"
        let version = "\(system.majorVersion).\(system.minorVersion).\(system.patchVersion)"
        let value =
            "\(program) (\(bundle); build:\(build); Linux \(version)) Lupine/\(AFInfo.version)"
        // A program's name may contain control characters. They are removed, because a field value must not contain them:
        // otherwise each request would fail.
        return String(
            String.UnicodeScalarView(
                value.unicodeScalars.filter { $0.properties.generalCategory != .control }))
    }
}

extension Collection<String> {
    /// Returns the elements as a list with decreasing weights (RFC 9110 §12.4.2): `br;q=1.0, gzip;q=0.9`. There must be at most
    /// ten elements, because the weight of the eleventh would be 0.
    func qualityEncoded() -> String {
        enumerated().map { index, element in "\(element);q=\(1.0 - Double(index) * 0.1)" }
            .joined(separator: ", ")
    }
}
