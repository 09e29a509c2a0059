// SPDX-License-Identifier: MIT

internal import Foundation

/// Describes why a file operation has failed, in the words of the operating system.
enum FileErrorReason {
    /// Returns the reason of an error, without a full stop.
    static func reason(_ error: any Error) -> String {
        let error = error as NSError
        // Foundation's errors have the POSIX error as their cause, if there is one.
        if let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError,
            underlying.domain == NSPOSIXErrorDomain
        {
            return description(ofErrno: Int32(truncatingIfNeeded: underlying.code))
        }
        if error.domain == NSPOSIXErrorDomain {
            return description(ofErrno: Int32(truncatingIfNeeded: error.code))
        }
        // Errors of Foundation's file methods have the codes of `CocoaError`.
        switch CocoaError.Code(rawValue: error.code) {
        case .fileNoSuchFile, .fileReadNoSuchFile: return "no such file"
        case .fileReadNoPermission, .fileWriteNoPermission: return "permission denied"
        case .fileWriteOutOfSpace: return "no space left"
        default: return error.localizedDescription
        }
    }

    /// Returns the operating system's description of a value of `errno`.
    private static func description(ofErrno number: Int32) -> String {
        let localized = POSIXErrorCode(rawValue: number).map { POSIXError($0).localizedDescription }
        let description = localized ?? "error \(number)"
        // Foundation adds this sentence before the system's description.
        let prefix = "The operation could not be completed. "
        return description.hasPrefix(prefix) ? String(description.dropFirst(prefix.count)) : description
    }
}
