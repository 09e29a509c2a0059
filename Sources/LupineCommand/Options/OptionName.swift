// SPDX-License-Identifier: MIT

/// The options of the command. A case identifies an option in the parser, the tests and the table.
enum OptionName: String, CaseIterable, Sendable {
    // Request.
    case request, data, dataRaw, dataBinary, dataURLEncode, part, json, form, multipart, raw, upload, get,
        head
    case url, urlQuery, formString, range, timeCondition, etagCompare, etagSave, pathAsIs, defaultScheme,
        globOff, next
    case header, userAgent, referer, compressed, rawEncoding, ignoreStandardInput
    // Identity.
    case user, digest, netrc, cookie, cookieJar, session
    case authType, basic, anyAuth, bearer, netrcFile, netrcOptional, ignoreNetrc, sessionReadOnly
    // Network.
    case location, maximumRedirects, noDowngrade, proxy, noProxy, resolve, unixSocket, interface, http11
    case http2, priorKnowledge
    case connectTimeout, maximumTime, retry, limitRate
    case proxyUser, socks, connectTo, ipv4, ipv6, maximumFileSize, retryAllErrors, retryRefused, retryDelay
    case retryMaximumTime, protocols, redirectProtocols, parallel
    // TLS.
    case insecure, authorities, certificate, key, password, pin, tls12, tls13
    case verify, maximumTLS, tlsVersion, ciphers, cipherSuites
    // Output.
    case include, print, headersOnly, bodyOnly, verbose, silent, showError, fail, writeOut, dumpHeader, color,
        pretty
    case output, remoteName, remoteHeaderName, continueAt, noProgress
    case failWithBody, offline, all, unsorted, quiet, download, continueDownload, remoteNameAll, createFolders
    case outputFolder, remoteTime, progressBar
    // Reports.
    case timing, certificates, events, toCurl, showSecrets, stream, serverSentEvents
    case help, version
}
