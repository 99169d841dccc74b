# The image of the API and the worker, for those who have a registry: `docker build -t bailiff:0.1.0 .`
# `make image` makes the same one without: same layout, same settings. docs/security/supply-chain.md tells both.
# The base by digest, which `make image-base` renews.
ARG BASE=python:3.13-slim@sha256:9662417aace5ae7b8e2609cce472b72a8958e134ba372808abe9cc1a0c0125e6

# Same Python in both stages: the virtual environment is copied as it is.
FROM ${BASE} AS build
COPY requirements/run.txt /requirements.txt
RUN python -m venv --without-pip /opt/bailiff \
    && python -m pip --python /opt/bailiff/bin/python install --no-cache-dir --no-compile \
        --disable-pip-version-check --no-deps --require-hashes --only-binary :all: -r /requirements.txt
COPY service/bailiff /opt/bailiff/lib/python3.13/site-packages/bailiff
# The root file system is read-only where it runs, so nothing can be compiled there, and no source
# is newer than what was compiled of it.
RUN /opt/bailiff/bin/python -m compileall -q --invalidation-mode unchecked-hash /opt/bailiff/lib

FROM ${BASE}
LABEL org.opencontainers.image.title="Bailiff" \
      org.opencontainers.image.description="The eviction decision service for Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/bailiff /opt/bailiff
ENV BAILIFF_LOG_FORMAT=json
# A number, so that Kubernetes can tell that it is not root.
USER 65532:65532
EXPOSE 8080 9090 8081 8082
# -I: neither variables such as PYTHONPATH nor the working directory add code; -u: what is logged is
# written at once.
ENTRYPOINT ["/opt/bailiff/bin/python", "-I", "-u", "-m", "bailiff"]
CMD ["--help"]
