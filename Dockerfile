# The image of both processes and of the command line: three static binaries and nothing else, no shell, no libraries, no
# user database. Deployments choose with `command`; as it stands it is the webhook.
#
#   docker build --tag covenant:0.1.0 .
#
# Certificates of public authorities are left out: the processes talk to the API server, whose authority stands beside the
# service account's token.

FROM rust:1.95-bookworm AS builder
ARG PROFILE=release
WORKDIR /source
COPY . .
RUN .ci/static-binaries "${PROFILE}" /binaries

FROM scratch
LABEL org.opencontainers.image.title="covenant" \
      org.opencontainers.image.description="Keeps the contracts between application teams and their Kubernetes platform: what a Secret holds, and which database a team gets." \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="0.1.0"
COPY --from=builder /binaries/covenant-webhook /covenant-webhook
COPY --from=builder /binaries/covenant-controller /covenant-controller
COPY --from=builder /binaries/covenant /covenant
COPY --from=builder /source/LICENSE /LICENSE
# By number: there is no user database in the image, and Kubernetes can check runAsNonRoot only against a number.
USER 65532:65532
EXPOSE 8443 8080
ENTRYPOINT ["/covenant-webhook"]
