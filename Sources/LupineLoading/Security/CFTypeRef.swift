// SPDX-License-Identifier: MIT

public import Foundation

// The types of Core Foundation in the signatures of Apple's security functions. Linux has no Core Foundation: the names are
// aliases of Swift types, so that existing calls and casts compile.

/// Bytes.
public typealias CFData = Data
/// Text.
public typealias CFString = String
/// An array of values.
public typealias CFArray = [Any]
/// A dictionary of values.
public typealias CFDictionary = [String: Any]
/// A date.
public typealias CFDate = Date
/// A count or an index.
public typealias CFIndex = Int
/// Any value.
public typealias CFTypeRef = Any
/// An error.
public typealias CFError = any Error
/// A set of options.
public typealias CFOptionFlags = UInt
/// The result code of a function: `errSecSuccess`, or the reason of the failure.
public typealias OSStatus = Int32

/// Core Foundation's memory allocator, which does not exist here: parameters of this type are always nil.
public enum CFAllocator: Sendable {}
