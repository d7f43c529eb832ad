#!/bin/sh
# Makes the webhook's certificate: an authority of its own and a leaf for the names of the Service, all ECDSA P-256.
#
#   webhook-certs/make-certificate.sh [FOLDER]      default: webhook-certs/certificates
#
# FOLDER gets ca.crt, ca.key, tls.crt, tls.key and ca-bundle.yaml, readable by you alone. When ca.key is there already, only the leaf is
# made anew: that is a renewal, and caBundle stays as it is. Nothing is sent anywhere; the commands that do are printed.
#
# Settings: COVENANT_NAMESPACE (default covenant-system), COVENANT_CERTIFICATE_DAYS (leaf, default 365),
# COVENANT_AUTHORITY_DAYS (default 3650).
set -eu
umask 077

fail() {
    echo "make-certificate.sh: $1" >&2
    exit 2
}

case "${1:-}" in
    -h | --help)
        sed -n '2,11s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    -*) fail "unknown option $1, see --help" ;;
esac
[ $# -le 1 ] || fail "one folder at most, see --help"
command -v openssl >/dev/null || fail "openssl is not on the PATH"

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/certificates}
namespace=${COVENANT_NAMESPACE:-covenant-system}
days=${COVENANT_CERTIFICATE_DAYS:-365}
authority_days=${COVENANT_AUTHORITY_DAYS:-3650}
for number in "$days" "$authority_days"; do
    case "$number" in
        '' | *[!0-9]* | 0*) fail "\"$number\" is not a number of days" ;;
    esac
done

mkdir -p "$folder" || fail "cannot make the folder $folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quiet() {
    "$@" 2>"$work/errors" || {
        cat "$work/errors" >&2
        fail "openssl refused: $*"
    }
}

if [ -f "$folder/ca.key" ] && [ -f "$folder/ca.crt" ]; then
    made="a new leaf under the authority that was there"
else
    made="a new authority and a leaf"
    quiet openssl ecparam -name prime256v1 -genkey -noout -out "$work/ca.key"
    quiet openssl req -x509 -new -sha256 -key "$work/ca.key" -days "$authority_days" -out "$work/ca.crt" \
        -subj "/CN=covenant-webhook-ca" \
        -addext "basicConstraints=critical,CA:TRUE,pathlen:0" \
        -addext "keyUsage=critical,keyCertSign,cRLSign"
    mv "$work/ca.key" "$work/ca.crt" "$folder/"
fi

service="covenant-webhook.$namespace.svc"
cat >"$work/leaf.conf" <<EOF
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:$service, DNS:$service.cluster.local
authorityKeyIdentifier = keyid
EOF
# The key in PKCS #8, the form every reader knows.
quiet openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$work/tls.key"
quiet openssl req -new -key "$work/tls.key" -subj "/CN=$service" -out "$work/tls.csr"
quiet openssl x509 -req -sha256 -in "$work/tls.csr" -CA "$folder/ca.crt" -CAkey "$folder/ca.key" \
    -set_serial "0x$(openssl rand -hex 16 | sed 's/^./1/')" -days "$days" -extfile "$work/leaf.conf" -out "$work/tls.crt"
quiet openssl verify -CAfile "$folder/ca.crt" -verify_hostname "$service" "$work/tls.crt" >/dev/null
mv "$work/tls.crt" "$work/tls.key" "$folder/"

# A patch that names the three entries, so that their order does not matter.
bundle=$(base64 <"$folder/ca.crt" | tr -d '\n')
{
    echo "webhooks:"
    for entry in contract.secrets.codepop.tech claim.database.ayatori.ddupan.top protect.database.ayatori.ddupan.top; do
        printf -- '- name: %s\n  clientConfig:\n    caBundle: %s\n' "$entry" "$bundle"
    done
} >"$folder/ca-bundle.yaml"

cat <<EOF
# Made $made in $folder, good for $days days, for $service.
# ca.key signs the next one: keep it away from the cluster and out of git.
#
# With manifests/overlays/files: kubectl apply -k manifests/overlays/files, and leave out what follows.
# Without an overlay, after kubectl apply -k manifests:

kubectl create secret generic covenant-webhook-tls --namespace $namespace --type kubernetes.io/tls \\
  --from-file tls.crt='$folder/tls.crt' --from-file tls.key='$folder/tls.key' --from-file ca.crt='$folder/ca.crt' \\
  --dry-run=client --output yaml | kubectl apply --server-side --force-conflicts --field-manager operator --filename -

kubectl patch validatingwebhookconfiguration covenant --patch-file '$folder/ca-bundle.yaml'
EOF
