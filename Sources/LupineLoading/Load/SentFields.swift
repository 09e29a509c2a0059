// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTransport

/// Makes the header fields that a hop sends: `Host`, the request's fields in their order except those reserved for the loader
/// (U-1.7), and then the missing default fields (U-9.1).
struct SentFields {
    /// The fields that the caller or the session has set.
    let given: HeaderList
    let isUpgrade: Bool
    let mayDecode: Bool
    let hasBody: Bool
    let isPost: Bool
    /// The value of `Proxy-Authorization`, for a proxy that reads the request.
    let proxyAuthorization: String?

    /// Creates the value for the fields of a hop.
    init(_ hop: HopRequest, hasBody: Bool, isPost: Bool) {
        given = hop.request.headerList
        isUpgrade = hop.isUpgrade
        mayDecode = hop.mayDecode
        self.hasBody = hasBody
        self.isPost = isPost
        proxyAuthorization = hop.proxyAuthorization
    }

    private init(given: HeaderList) {
        self.given = given
        (isUpgrade, mayDecode, hasBody, isPost, proxyAuthorization) = (false, true, false, false, nil)
    }

    /// Returns the fields of a request to `host` that has no body and only the session's own fields. Most requests are like this,
    /// so the route caches the result for each server. Nil if one of the session's fields cannot be sent.
    static func sessionFields(to host: String, _ settings: SessionSettings) -> Fields? {
        try? SentFields(given: settings.additionalHeaders).written(to: host, settings)
    }

    /// Returns the fields of a request over `route`.
    func fields(by route: SessionEngine.Route, _ settings: SessionSettings) throws(URLRequestError) -> Fields
    {
        if let own = route.sessionFields, !isUpgrade, mayDecode, !hasBody, !isPost, proxyAuthorization == nil,
            given.fields == settings.additionalHeaders.fields
        {
            return own
        }
        let isForProxy = route.proxy != nil && !route.isTunnelled
        return try written(
            to: route.hostField, proxyAuthorization: isForProxy ? proxyAuthorization : nil, settings)
    }

    /// Returns all fields, checked and in the order in which they are sent.
    private func written(
        to host: String, proxyAuthorization: String? = nil, _ settings: SessionSettings
    ) throws(URLRequestError) -> Fields {
        var fields = Fields()
        // Reserves room for the given fields, each with ": " and CRLF, and for the fields that are added below.
        fields.reserve(
            fields: given.fields.count + 8,
            octets: given.fields.reduce(384) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 })
        try fields.add(.host, given["Host"] ?? host)
        // The closure returns whether a given field is left out.
        try given.add(to: &fields) { name in
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
