// SPDX-License-Identifier: MIT

internal import Foundation

/// The reason of a file error, in the system's words.
enum FileErrorReason {
    static func reason(_ error: any Error) -> String {
        let error = error as NSError
        if let under = error.userInfo[NSUnderlyingErrorKey] as? NSError, under.domain == NSPOSIXErrorDomain {
            return text(Int32(truncatingIfNeeded: under.code))
        }
        if error.domain == NSPOSIXErrorDomain { return text(Int32(truncatingIfNeeded: error.code)) }
        switch CocoaError.Code(rawValue: error.code) {
        case .fileNoSuchFile, .fileReadNoSuchFile: return "no such file"
        case .fileReadNoPermission, .fileWriteNoPermission: return "permission denied"
        case .fileWriteOutOfSpace: return "no space left"
        default: return error.localizedDescription
        }
    }

    private static func text(_ number: Int32) -> String {
        let error = POSIXErrorCode(rawValue: number).map { POSIXError($0).localizedDescription }
        let said = error ?? "error \(number)"
        return said.hasPrefix("The operation could not be completed. ")
            ? String(said.dropFirst("The operation could not be completed. ".count)) : said
    }
}
