FROM rust:1.95-slim-bookworm AS build
LABEL taquin.stage=build
WORKDIR /src

# The dependencies alone, against empty sources: this layer is built again only when one of the files named here changes.
COPY Cargo.toml Cargo.lock build.rs ./
COPY proto proto
RUN mkdir -p src/bin benches \
 && touch src/lib.rs benches/roof.rs benches/search.rs benches/wide.rs \
 && echo 'fn main() {}' | tee src/bin/taquin-server.rs > src/bin/taquin-client.rs \
 && cargo build --release --locked --bins \
 && cargo clean --release --locked --package taquin \
 && rm -r src

COPY src src
RUN cargo build --release --locked --bins

FROM debian:bookworm-slim
COPY --from=build /src/target/release/taquin-server /src/target/release/taquin-client /usr/local/bin/
USER 65532:65532
ENV TAQUIN_LISTEN=0.0.0.0:50051
EXPOSE 50051
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 CMD ["taquin-server", "healthcheck"]
ENTRYPOINT ["taquin-server"]
