# syntax=docker/dockerfile:1

# The build stage, the only one with compilers (for sqlite3).
FROM node:24-bookworm AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# sqlite3 is compiled against the C library of the final image, with the headers that this image has.
ENV npm_config_build_from_source=true npm_package_config_node_gyp_nodedir=/usr/local
RUN npm ci --include=dev --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
COPY client ./client
COPY receivers ./receivers
COPY reports ./reports
COPY scripts/bundle.ts scripts/trace.ts ./scripts/
# Keep only what is loaded at run time: a seventh of node_modules.
RUN npm run build && node --import tsx scripts/trace.ts /run/app

# The final stage writes only to /data and /tmp, so start it with a read-only root file system (compose.yaml does).
# The image that node:24-bookworm-slim is based on, without npm, yarn and headers, which nothing here uses.
FROM debian:bookworm-slim
COPY --from=build /usr/local/bin/node /usr/local/bin/node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8080 ADMIN_PORT=8081 DATA_DIR=/data
WORKDIR /app
COPY LICENSE CHANGELOG.md README.md ./
COPY docs ./docs
COPY --from=build /run/app ./
# By number: Kubernetes cannot tell from a name that the user is not root (runAsNonRoot).
# The command has the same name as elsewhere, for `docker exec` and in messages that tell you what to run.
RUN ln -s /app/dist/src/cli.js /usr/local/bin/consent-ledger && mkdir /data && chown 1000:1000 /data
USER 1000:1000
VOLUME ["/data"]
# Where `init` and `demo` write, and where .env is read.
WORKDIR /data
EXPOSE 8080 8081
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Absolute, so that it also starts with another working directory (`docker run -w`).
ENTRYPOINT ["/usr/local/bin/consent-ledger"]
CMD ["serve"]
