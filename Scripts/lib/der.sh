# SPDX-License-Identifier: MIT
#
# Writes DER as hexadecimal text, for OCSP responses that the `openssl` command cannot make: those with chosen dates, signers and
# certificates (RFC 6960). Sourced after house.sh, never run.

# hex_of FILE: prints the octets of the file as hexadecimal text.
hex_of() { od -An -v -tx1 "$1" | tr -d ' \n'; }

# octets HEX: writes the octets of the hexadecimal text to standard output.
octets() { printf '%b' "$(sed 's/../\\x&/g' <<<"$1")"; }

# der TAG HEX...: prints one element, whose content is all HEX arguments in order.
der() {
    local tag=$1 body length
    shift
    body=$(printf '%s' "$@")
    length=$((${#body} / 2))
    if [ $length -lt 128 ]; then
        printf '%s%02x%s' "$tag" $length "$body"
    elif [ $length -lt 256 ]; then
        printf '%s81%02x%s' "$tag" $length "$body"
    else
        printf '%s82%04x%s' "$tag" $length "$body"
    fi
}

# inside HEX: prints the content of the element HEX.
inside() {
    local first=$((16#${1:2:2})) skip=4
    if [ $first -ge 128 ]; then skip=$((4 + 2 * (first & 127))); fi
    printf '%s' "${1:$skip}"
}

# der_time 20240101000000Z: prints a GeneralizedTime.
der_time() { der 18 "$(printf '%s' "$1" | od -An -v -tx1 | tr -d ' \n')"; }

# certificate_der FILE: prints the DER of a PEM certificate.
certificate_der() {
    openssl x509 -in "$1" -outform DER -out "$scratch/certificate.der"
    hex_of "$scratch/certificate.der"
}

# subject_der FILE: prints the subject of a certificate: the sixth element of its inner sequence (RFC 5280 §4.1).
subject_der() {
    local place offset header length
    place=$(openssl asn1parse -in "$1" | grep ':d=2 ' | sed -n 6p)
    offset=$(sed -E 's/^ *([0-9]+):.*/\1/' <<<"$place")
    header=$(sed -E 's/.* hl= *([0-9]+) .*/\1/' <<<"$place")
    length=$(sed -E 's/.* l= *([0-9]+) .*/\1/' <<<"$place")
    certificate_der "$1" | cut -c $((2 * offset + 1))-$((2 * (offset + header + length)))
}

# key_hash FILE: prints the SHA-1 of a certificate's key, by which OCSP can name a responder.
key_hash() { openssl x509 -in "$1" -noout -ocspid | sed -n 's/.*Public key OCSP hash: //p' | tr A-F a-f; }

# certificate_id DIGEST ISSUER LEAF: prints the CertID of an OCSP request for LEAF; ISSUER and LEAF are PEM files.
certificate_id() {
    openssl ocsp "-$1" -issuer "$2" -cert "$3" -no_nonce -reqout "$scratch/request.der"
    inside "$(inside "$(inside "$(inside "$(hex_of "$scratch/request.der")")")")"
}

# single_response CERTIFICATE_ID STATUS THIS NEXT: STATUS is good, unknown or revoked (key compromise, at THIS);
# NEXT is a time or `none`.
single_response() {
    local status next=
    case $2 in
    good) status=8000 ;;
    unknown) status=8200 ;;
    revoked) status=$(der a1 "$(der_time "$3")" "$(der a0 0a0101)") ;;
    *) fail "an OCSP status is good, revoked or unknown, not '$2'" ;;
    esac
    if [ "$4" != none ]; then next=$(der a0 "$(der_time "$4")"); fi
    der 30 "$1" "$status" "$(der_time "$3")" "$next"
}

# ocsp_response FILE RESPONDER_ID KEY CERTIFICATE PRODUCED SINGLE...: a signed answer. RESPONDER_ID is hexadecimal,
# KEY and CERTIFICATE are PEM files; the answer contains the certificate unless it is `none`.
ocsp_response() {
    local file=$1 responder=$2 key=$3 certificate=$4 produced=$5 data algorithm signature carried=
    shift 5
    data=$(der 30 "$responder" "$(der_time "$produced")" "$(der 30 "$@")")
    octets "$data" >"$scratch/signed.der"
    openssl dgst -sha256 -sign "$key" -out "$scratch/signature" "$scratch/signed.der"
    signature=$(der 03 00 "$(hex_of "$scratch/signature")")
    if openssl pkey -in "$key" -noout -text | grep -q 'NIST CURVE'; then
        algorithm=300a06082a8648ce3d040302
    else
        algorithm=300d06092a864886f70d01010b0500
    fi
    if [ "$certificate" != none ]; then carried=$(der a0 "$(der 30 "$(certificate_der "$certificate")")"); fi
    octets "$(der 30 0a0100 "$(der a0 "$(der 30 06092b0601050507300101 \
        "$(der 04 "$(der 30 "$data" "$algorithm" "$signature" "$carried")")")")")" >"$file"
}
