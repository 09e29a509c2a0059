# SPDX-License-Identifier: MIT
#
# Checks every file of the tests' PKI against its row, with the openssl commands. Sourced by Scripts/fixtures, never run.

wrong=0

# expect WHAT EXPECTED FOUND
expect() {
    checked=$((checked + 1))
    if [ "$2" = "$3" ]; then return; fi
    printf '%s: %s: expected %s, found %s\n' "$name" "$1" "$2" "$3" >&2
    wrong=$((wrong + 1))
}

# expect_same WHAT EXPECTED FOUND: like expect, for long texts, which it does not print.
expect_same() {
    if [ "$2" = "$3" ]; then expect "$1" same same; else expect "$1" "the same" "something else"; fi
}

# verdict ARGUMENT...: prints the first error code of `openssl verify`; 0 if it accepts.
verdict() {
    local said
    if said=$(openssl verify -auth_level 2 "$@" 2>&1); then
        echo 0
    else
        sed -nE 's/^error ([0-9]+) at .*/\1/p' <<<"$said" | sed -n 1p
    fi
}

# iso TIME: prints a time such as 20240101000000Z in the form that openssl prints.
iso() { sed -E 's/(....)(..)(..)(..)(..)(..)Z/\1-\2-\3 \4:\5:\6Z/' <<<"$1"; }

# check_certificate NAME: checks the dates, and that the key belongs to the certificate.
check_certificate() {
    local first last dates
    read -r first last < <(validity_of "$1")
    dates=$(openssl x509 -in "$1.pem" -noout -dates -dateopt iso_8601 | sed 's/.*=//' | paste -sd /)
    expect "$1: validity" "$(iso "$first")/$(iso "$last")" "$dates"
    expect_same "$1: key" "$(openssl x509 -in "$1.pem" -noout -pubkey)" "$(openssl pkey -in "$1.key" -pubout)"
}

check_leaves() {
    local row issuer host code trust host_check
    while IFS='|' read -r row issuer _ host code _; do
        if [ "$code" = - ]; then continue; fi
        trust=(-CAfile root.pem -purpose sslserver)
        case $row in
        client-*) trust=(-CAfile client-root.pem -purpose sslclient) ;;
        esac
        case $host in
        -) host_check=() ;;
        *[!0-9.]*) host_check=(-verify_hostname "$host") ;;
        *) host_check=(-verify_ip "$host") ;;
        esac
        if [ "$code" != "${code%!}" ]; then code=0; fi
        expect "$row" "$code" \
            "$(verdict -no-CAstore -no-CApath "${trust[@]}" "${host_check[@]}" -untrusted "$row-chain.pem" "$row.pem")"
    done < <(rows "$leaves")
    expect "good without its intermediate" 20 "$(verdict -CAfile root.pem good.pem)"
    expect "good with the cross-signed intermediate" 0 \
        "$(verdict -CAfile other-root.pem -untrusted intermediate-cross.pem good.pem)"
    expect "expired-root with its root trusted" 10 "$(verdict -CAfile root-expired.pem expired-root.pem)"
    expect "good by the folder roots" 0 \
        "$(verdict -no-CAfile -no-CAstore -CApath roots -untrusted good-chain.pem good.pem)"
    expect "good by bundle.pem" 0 \
        "$(verdict -no-CApath -no-CAstore -CAfile bundle.pem -untrusted good-chain.pem good.pem)"
}

# container FILE PASSWORD [OPTION]: prints how many certificates and keys a PKCS#12 file contains.
container() {
    openssl pkcs12 -in "$1" -passin "pass:$2" -nodes ${3+"$3"} 2>/dev/null |
        awk '/BEGIN CERT/ { c++ } /BEGIN .*KEY/ { k++ } END { printf "%d+%d", c, k }'
}

check_identities() {
    local row
    for row in client-rsa client-ecdsa client-untrusted; do expect $row.p12 1+1 "$(container $row.p12 $password)"; done
    for row in client-rsa client-ecdsa; do
        expect $row-no-password.p12 1+1 "$(container $row-no-password.p12 '')"
        expect_same "$row-encrypted.key" "$(cat $row.key)" \
            "$(openssl pkey -in $row-encrypted.key -passin "pass:$password")"
        expect_same "$row-traditional.key" "$(cat $row.key)" "$(openssl pkey -in $row-traditional.key)"
    done
    expect_same "client-rsa-traditional-encrypted.key" "$(cat client-rsa.key)" \
        "$(openssl pkey -in client-rsa-traditional-encrypted.key -passin "pass:$password")"
    expect client-ecdsa-chain.p12 2+1 "$(container client-ecdsa-chain.p12 $password)"
    expect client-ecdsa-chain-no-password.p12 2+1 "$(container client-ecdsa-chain-no-password.p12 '')"
    expect client-no-key.p12 1+0 "$(container client-no-key.p12 $password)"
    expect client-rsa-legacy.p12 0+0 "$(container client-rsa-legacy.p12 $password)"
    expect "client-rsa-legacy.p12 with the legacy provider" 1+1 \
        "$(container client-rsa-legacy.p12 $password -legacy)"
    expect "client-rsa.p12 with a wrong password" 0+0 "$(container client-rsa.p12 wrong)"
}

# answer FILE LEAF DIGEST: prints the result of `openssl ocsp` for a response about LEAF.
answer() {
    local said issuer
    issuer=$(issuer_of "$2").pem
    said=$(openssl ocsp "-$3" -issuer "$issuer" -cert "$2.pem" -respin "ocsp/$1.der" -CAfile root.pem \
        -verify_other "$issuer" -no_nonce 2>&1 || true)
    case $said in
    *'Responder Error: '*) sed -n 's/.*Responder Error: //p' <<<"$said" ;;
    *'Error reading OCSP response'*) echo unreadable ;;
    *'Response Verify Failure'*) echo refused ;;
    *'Response verify OK'*'No Status found'*) echo absent ;;
    *'Response verify OK'*'times invalid'*) echo times ;;
    *'Response verify OK'*) sed -nE "s/^$2\.pem: ([a-z]+).*/\1/p" <<<"$said" ;;
    *) echo "$said" ;;
    esac
}

check_revocation() {
    local row about digest says issuer target code
    while IFS='|' read -r row about _ _ _ _ _ _ digest says _; do
        expect "ocsp/$row.der" "$says" "$(answer "$row" "$(asked_about "$row" "$about")" "$digest")"
    done < <(rows "$answers")
    expect ocsp/try-later.der 'trylater (3)' "$(answer try-later good-ocsp sha1)"
    expect ocsp/garbage.der unreadable "$(answer garbage good-ocsp sha1)"
    while IFS='|' read -r row issuer _ _ _ target code _; do
        expect "crl/$row" "$code" "$(verdict -crl_check -CAfile root.pem -CRLfile "crl/$row.pem" \
            -untrusted intermediate.pem -untrusted intermediate-checked.pem "$target.pem")"
        expect_same "crl/$row.crl" "$(openssl crl -in "crl/$row.pem")" "$(openssl crl -inform DER -in "crl/$row.crl")"
    done < <(rows "$lists")
    expect "good-crl by crl/intermediate" 0 "$(verdict -crl_check -CAfile root.pem \
        -CRLfile crl/intermediate.pem -untrusted intermediate.pem good-crl.pem)"
}

# check_all: checks every file against its row; fails if one differs.
check_all() {
    local row
    checked=0
    cd "$pki"
    while IFS='|' read -r row _; do check_certificate "$row"; done < <(rows "$authorities$leaves")
    check_leaves
    check_identities
    check_revocation
    describe >"$scratch/README.md"
    state_facts >"$scratch/facts.txt"
    for row in README.md facts.txt; do
        expect_same "$row" "$(cat "$scratch/$row")" "$(cat $row)"
    done
    if [ $wrong -gt 0 ]; then fail "$wrong of $checked expectations do not hold"; fi
    say "$checked expectations hold"
}
