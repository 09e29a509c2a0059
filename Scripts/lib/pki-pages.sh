# SPDX-License-Identifier: MIT
#
# Writes README.md and facts.txt of the tests' PKI. Sourced by Scripts/fixtures, never run.

# code_name CODE: prints OpenSSL's name of an error code.
code_name() {
    case ${1%!} in
    -) echo 'no server' ;;
    0) echo accepted ;;
    7) echo '7 `CERT_SIGNATURE_FAILURE`' ;;
    8) echo '8 `CRL_SIGNATURE_FAILURE`' ;;
    9) echo '9 `CERT_NOT_YET_VALID`' ;;
    10) echo '10 `CERT_HAS_EXPIRED`' ;;
    11) echo '11 `CRL_NOT_YET_VALID`' ;;
    12) echo '12 `CRL_HAS_EXPIRED`' ;;
    18) echo '18 `DEPTH_ZERO_SELF_SIGNED_CERT`' ;;
    20) echo '20 `UNABLE_TO_GET_ISSUER_CERT_LOCALLY`' ;;
    23) echo '23 `CERT_REVOKED`' ;;
    25) echo '25 `PATH_LENGTH_EXCEEDED`' ;;
    26) echo '26 `INVALID_PURPOSE`' ;;
    34) echo '34 `UNHANDLED_CRITICAL_EXTENSION`' ;;
    36) echo '36 `UNHANDLED_CRITICAL_CRL_EXTENSION`' ;;
    47) echo '47 `PERMITTED_VIOLATION`' ;;
    62) echo '62 `HOSTNAME_MISMATCH`' ;;
    66) echo '66 `EE_KEY_TOO_SMALL`' ;;
    67) echo '67 `CA_KEY_TOO_SMALL`' ;;
    68) echo '68 `CA_MD_TOO_WEAK`' ;;
    79) echo '79 `INVALID_CA`' ;;
    *) fail "the verdict $1 has no name here" ;;
    esac
}

# describe: prints README.md, from the tables.
describe() {
    local row issuer host code what about signer status says revokes target
    cat <<'END'
# The PKI of the tests

Made by `Scripts/fixtures`, from whose tables this page comes too; `Scripts/fixtures --check` holds the files against
it. **Every key here is for tests alone and is known to everybody**: trust none of it anywhere else. All is valid from
2024 to the end of 2099 where no row says otherwise.

## Authorities

| name | issuer | what it is |
|---|---|---|
END
    while IFS='|' read -r row issuer _ what; do
        echo "| \`$row\` | ${issuer/#-/itself} | $what |"
    done < <(rows "$authorities")
    cat <<'END'

## Leaves

Where the description names no subject alternative names, they are NAME.test, localhost, 127.0.0.1 and ::1 (of
`renewed…`: good.test instead of the first), so that a server on loopback can use them. The verdict is OpenSSL's code
(`X509_V_ERR_…`) for the host of the row, purpose server, security level 2, no revocation, trust in `root` alone; for
`client-…`: purpose client, trust in `client-root`. * marks a leaf that OpenSSL itself accepts: the common name and
curves of 224 bits count there. Where a chain has several faults (`no-ca`), the code is the first that is found.

A server that presents `weak-key`, `weak-curve…`, `weak-issuer` or `sha1` needs `@SECLEVEL=0` in its cipher list. For
`weak-curve…` both sides also need TLS 1.2, and the client must offer the curve.

| name | issuer | host | verdict | what it is |
|---|---|---|---|---|
END
    while IFS='|' read -r row issuer _ host code what; do
        says=$(code_name "$code")
        if [ "$code" != "${code%!}" ]; then says="$says *"; fi
        echo "| \`$row\` | ${issuer/#-/itself} | $host | $says | $what |"
    done < <(rows "$leaves")
    cat <<'END'

## OCSP answers: `ocsp/NAME.der`

`refused`: the signature does not count. `times`: not of this time. `absent`: not about this certificate.

| name | asked about | signed by | verdict | what it is |
|---|---|---|---|---|
END
    while IFS='|' read -r row about signer _ _ status _ _ _ says what; do
        echo "| \`$row\` | $(asked_about "$row" "$about") | $signer | $says | $what |"
    done < <(rows "$answers")
    cat <<'END'

## CRLs: `crl/NAME.crl` (DER) and `crl/NAME.pem`

| name | issuer | verdict | on | what it is |
|---|---|---|---|---|
END
    while IFS='|' read -r row issuer _ _ revokes target code what; do
        echo "| \`$row\` | $issuer | $(code_name "$code") | $target | $what |"
    done < <(rows "$lists")
    cat <<'END'

## Files

| file | what it is |
|---|---|
END
    while IFS='|' read -r row what; do echo "| $row | $what |"; done < <(rows "$others")
}

# asked_about ANSWER ABOUT: prints the certificate to ask about; the last one if the response is about several.
asked_about() {
    case $1 in
    other-serial) echo good-ocsp ;;
    *) echo "${2##*+}" ;;
    esac
}

# state_facts: prints facts.txt, from the certificates and, for host and code, from the table of the leaves.
state_facts() {
    local row key host code what serial print pin dates
    echo '# name | serial number | SHA-256 of the certificate | pin of its key | first second | last second |' \
        'host to check | verdict (0: accepted; -: none)'
    while IFS='|' read -r row _ key host code what; do
        serial=$(openssl x509 -in "$row.pem" -noout -serial | sed 's/.*=//')
        print=$(openssl x509 -in "$row.pem" -noout -fingerprint -sha256 | sed 's/.*=//; s/://g' | tr A-F a-f)
        pin=$(openssl x509 -in "$row.pem" -noout -pubkey | openssl pkey -pubin -outform DER |
            openssl dgst -sha256 -binary | openssl base64)
        dates=$(openssl x509 -in "$row.pem" -noout -dates -dateopt iso_8601 | sed 's/.*=//' | paste -sd '|')
        # An authority's row has no host and no code: what it is stands in their place.
        if [ -z "$what" ]; then host=- code=-; fi
        echo "$row | $serial | $print | sha256/$pin | ${dates/|/ | } | $host | ${code%!}"
    done < <(rows "$authorities$leaves")
}
