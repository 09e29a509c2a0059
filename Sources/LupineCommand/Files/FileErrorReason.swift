// SPDX-License-Identifier: MIT

internal import Foundation

/// Describes errors of files as the system does.
enum FileErrorReason {
    /// Returns the reason of an error, without a full stop.
    static func reason(_ error: any Error) -> String {
        let error = error as NSError
        if let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError,
            underlying.domain == NSPOSIXErrorDomain
        {
            return text(Int32(truncatingIfNeeded: underlying.code))
        }
        if error.domain == NSPOSIXErrorDomain { return text(Int32(truncatingIfNeeded: error.code)) }
        switch CocoaError.Code(rawValue: error.code) {
        case .fileNoSuchFile, .fileReadNoSuchFile: return "no such file"
        case .fileReadNoPermission, .fileWriteNoPermission: return "permission denied"
        case .fileWriteOutOfSpace: return "no space left"
        default: return error.localizedDescription
        }
    }

    /// Returns the system's description of an `errno` value.
    private static func text(_ number: Int32) -> String {
        let description = POSIXErrorCode(rawValue: number).map { POSIXError($0).localizedDescription }
        let text = description ?? "error \(number)"
        let prefix = "The operation could not be completed. "
        return text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text
    }
}
