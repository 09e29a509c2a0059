// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTransport

/// Makes the header fields that a hop sends: `Host`, then the request's fields in their order, then the default fields that the
/// request lacks (U-9.1). Fields that only the loading system may set are left out of the request's fields (U-1.7).
struct SentFields {
    /// The fields that the program or the session has set.
    let requestFields: HeaderList
    /// Whether the connection is to switch from HTTP to another protocol.
    let isUpgrade: Bool
    /// Whether content codings may be decoded. Otherwise `Accept-Encoding` is not added.
    let mayDecode: Bool
    let hasBody: Bool
    let isPost: Bool
    /// The value of `Proxy-Authorization`, for a proxy that reads the request.
    let proxyAuthorization: String?

    /// Creates the value for the fields of a hop.
    init(_ hop: HopRequest, hasBody: Bool, isPost: Bool) {
        requestFields = hop.request.headerList
        isUpgrade = hop.isUpgrade
        mayDecode = hop.mayDecode
        self.hasBody = hasBody
        self.isPost = isPost
        proxyAuthorization = hop.proxyAuthorization
    }

    /// Creates the value for a request without a body that has only these fields.
    private init(requestFields: HeaderList) {
        self.requestFields = requestFields
        (isUpgrade, mayDecode, hasBody, isPost, proxyAuthorization) = (false, true, false, false, nil)
    }

    /// Returns the fields of a request to `host` that has no body and only the session's own fields. Most requests are like this,
    /// so the session's route table caches the result for each server. Returns nil if one of the session's fields cannot be sent.
    static func sessionFields(to host: String, _ settings: SessionSettings) -> Fields? {
        try? SentFields(requestFields: settings.additionalHeaders).allFields(to: host, settings)
    }

    /// Returns the fields of a request over `route`.
    func fields(over route: SessionEngine.Route, _ settings: SessionSettings) throws(URLRequestError)
        -> Fields
    {
        // The conditions under which `sessionFields` returns the same fields.
        let isOrdinary = !isUpgrade && mayDecode && !hasBody && !isPost && proxyAuthorization == nil
        if let ownFields = route.sessionFields, isOrdinary,
            requestFields.fields == settings.additionalHeaders.fields
        {
            return ownFields
        }
        let isForProxy = route.proxy != nil && !route.isTunnelled
        return try allFields(
            to: route.hostField, proxyAuthorization: isForProxy ? proxyAuthorization : nil, settings)
    }

    /// Returns all fields, checked and in the order in which they are sent. Throws if a field cannot be sent.
    private func allFields(
        to host: String, proxyAuthorization: String? = nil, _ settings: SessionSettings
    ) throws(URLRequestError) -> Fields {
        var fields = Fields()
        // Reserves room for the request's fields, each with ": " and CRLF (4 bytes), and for the fields that are added below: at
        // most 8 fields, of about 384 bytes in all.
        fields.reserve(
            fields: requestFields.fields.count + 8,
            octets: requestFields.fields.reduce(384) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 })
        try fields.add(.host, requestFields["Host"] ?? host)
        // The closure returns whether a field of the request is left out. `Host` has been added, `Upgrade` is only for an
        // upgrade, and `Expect` is only for a request with a body.
        try requestFields.add(to: &fields) { name in
            name == .host || name == .upgrade && !isUpgrade || name == .expect && !hasBody
        }
        if let proxyAuthorization { try fields.add(.proxyAuthorization, proxyAuthorization) }
        if !fields.contains(.accept), !settings.omits(.accept) { try fields.add(.accept, "*/*") }
        if let languages = DefaultFields.acceptLanguage, !fields.contains(.acceptLanguage),
            !settings.omits(.acceptLanguage)
        {
            try fields.add(.acceptLanguage, languages)
        }
        if !fields.contains(.acceptEncoding), !settings.omits(.acceptEncoding), !isUpgrade, mayDecode,
            settings.lupine.decodesContent
        {
            try fields.add(.acceptEncoding, DefaultFields.acceptEncoding)
        }
        if !fields.contains(.userAgent), !settings.omits(.userAgent) {
            try fields.add(.userAgent, DefaultFields.userAgent)
        }
        if hasBody, isPost, !fields.contains(.contentType), !settings.omits(.contentType) {
            try fields.add(.contentType, "application/x-www-form-urlencoded")
        }
        try fields.add(.connection, isUpgrade ? "Upgrade" : "keep-alive")
        return fields
    }
}

extension Fields {
    /// Adds a field. Throws if the value is not allowed.
    fileprivate mutating func add(_ name: FieldName, _ value: String) throws(URLRequestError) {
        do { try append(name, value) } catch { throw .invalidFieldValue(name: name.description) }
    }
}
