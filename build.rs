//! Turns the wire contract in `proto/` into Rust.
//!
//! protox compiles it, so no `protoc` is needed; the descriptions of `google.rpc`
//! come from `tonic-types`, so no copy of them is kept here.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message;
use prost_types::FileDescriptorSet;
use protox::Compiler;
use protox::file::{ChainFileResolver, DescriptorSetFileResolver, GoogleFileResolver, IncludeFileResolver};

const ROOT: &str = "proto";
const CONTRACT: &str = "taquin/v1/solver.proto";
/// What a `google.rpc.Status` carries: not imported, but reflection must know it.
const ERROR_DETAILS: &str = "google/rpc/error_details.proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let mut files = ChainFileResolver::new();
    files.add(IncludeFileResolver::new(ROOT.into()));
    files.add(DescriptorSetFileResolver::new(google_rpc()?));
    files.add(GoogleFileResolver::new());
    let mut compiler = Compiler::with_file_resolver(files);
    compiler.include_imports(true).include_source_info(true);
    let set = compiler.open_file(CONTRACT)?.file_descriptor_set();
    compiler.open_file(ERROR_DETAILS)?;

    let out = PathBuf::from(env::var("OUT_DIR")?);
    // Reflection serves this, comments and imports included.
    fs::write(out.join("taquin_descriptor.bin"), compiler.encode_file_descriptor_set())?;
    tonic_prost_build::configure().extern_path(".google.rpc", "::tonic_types::pb").compile_fds(set)?;
    Ok(())
}

/// The descriptors of `google.rpc`, under the paths by which everyone imports them.
fn google_rpc() -> Result<FileDescriptorSet, prost::DecodeError> {
    let mut set = FileDescriptorSet::decode(tonic_types::pb::FILE_DESCRIPTOR_SET)?;
    for file in &mut set.file {
        if !file.name().starts_with("google/") {
            file.name = Some(format!("google/rpc/{}", file.name()));
        }
    }
    Ok(set)
}
