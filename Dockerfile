# The one image of the API and the worker: `docker build -t bailiff:0.1.0 .`
# Same Python in both stages: the virtual environment is copied as it is.
FROM python:3.13-slim AS build
COPY requirements/run.txt /requirements.txt
RUN python -m venv --without-pip /opt/bailiff \
    && python -m pip --python /opt/bailiff/bin/python install --no-cache-dir --no-compile \
        --disable-pip-version-check --require-hashes --only-binary :all: -r /requirements.txt
COPY service/bailiff /opt/bailiff/lib/python3.13/site-packages/bailiff
# The root file system is read-only where it runs, so nothing can be compiled there.
RUN /opt/bailiff/bin/python -m compileall -q /opt/bailiff/lib

FROM python:3.13-slim
COPY --from=build /opt/bailiff /opt/bailiff
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 BAILIFF_LOG_FORMAT=json
# A number, so that Kubernetes can tell that it is not root.
USER 65532:65532
EXPOSE 8080 9090 8081
ENTRYPOINT ["/opt/bailiff/bin/python", "-m", "bailiff"]
CMD ["--help"]
