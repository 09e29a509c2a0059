// SPDX-License-Identifier: MIT

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The shared session, `Session.default`, for calls such as `AF.request("https://…")`.
public let AF = Session.default
