// SPDX-License-Identifier: MIT

public import Foundation

// The names under which Apple's security functions know values of Foundation and of the standard library. There is no Core
// Foundation here: they are the Swift types themselves, so that existing call sites compile, casts and all.

/// Bytes.
public typealias CFData = Data
/// Text.
public typealias CFString = String
/// Values in order.
public typealias CFArray = [Any]
/// Values by key.
public typealias CFDictionary = [String: Any]
/// A moment.
public typealias CFDate = Date
/// A number of values, or the place of one.
public typealias CFIndex = Int
/// Any value.
public typealias CFTypeRef = Any
/// An error.
public typealias CFError = any Error
/// A set of options.
public typealias CFOptionFlags = UInt
/// The result of a function that may fail: `errSecSuccess`, or why not.
public typealias OSStatus = Int32

/// Where Core Foundation takes memory from. There is none: parameters of this type are always nil.
public enum CFAllocator: Sendable {}
