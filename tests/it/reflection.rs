//! What the server says of itself to those who don't know it.

use std::collections::HashSet;

use prost::Message;
use taquin::service::SERVICE_NAME;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};

use crate::support::{endpoint, run, serve_and_connect, soon};

/// What each version must know, services first.
const SYMBOLS: [&str; 9] = [
    "taquin.v1.SolverService",
    "taquin.v1.SolverService.SolveStream",
    "taquin.v1.Answer",
    "google.rpc.Status",
    "google.rpc.BadRequest",
    "google.rpc.RetryInfo",
    "google.rpc.ErrorInfo",
    "grpc.health.v1.Health",
    "grpc.health.v1.HealthCheckResponse",
];

macro_rules! reflection_test {
    ($name:ident, $version:ident, $own:literal) => {
        #[test]
        fn $name() {
            use tonic_reflection::pb::$version::{
                ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
                server_reflection_request::MessageRequest, server_reflection_response::MessageResponse,
            };
            run(async {
                let (server, _) = serve_and_connect(1).await;
                let channel = endpoint(&server).connect().await.unwrap();
                let mut client = ServerReflectionClient::new(channel);
                let ask =
                    |request| ServerReflectionRequest { host: String::new(), message_request: Some(request) };
                let symbols = SYMBOLS.map(|symbol| ask(MessageRequest::FileContainingSymbol(symbol.into())));
                let requests = [ask(MessageRequest::ListServices(String::new()))].into_iter().chain(symbols);
                let answers = client.server_reflection_info(tokio_stream::iter(requests)).await.unwrap();
                let mut answers = answers.into_inner();

                let first = soon(answers.message()).await.unwrap().unwrap().message_response;
                let Some(MessageResponse::ListServicesResponse(list)) = first else { panic!("{first:?}") };
                let services: HashSet<_> = list.service.into_iter().map(|service| service.name).collect();
                for service in [SERVICE_NAME, "grpc.health.v1.Health", $own] {
                    assert!(services.contains(service), "{service} is not among {services:?}");
                }
                for symbol in SYMBOLS {
                    let answer = soon(answers.message()).await.unwrap().unwrap().message_response;
                    let Some(MessageResponse::FileDescriptorResponse(files)) = answer else {
                        panic!("{symbol}: {answer:?}")
                    };
                    let [file] = &files.file_descriptor_proto[..] else { panic!("{symbol}: not one file") };
                    let file = prost_types::FileDescriptorProto::decode(file.as_slice()).unwrap();
                    assert!(symbol.starts_with(file.package()), "{symbol} in {}", file.name());
                    if symbol == "google.rpc.BadRequest" {
                        assert_eq!(file.name(), "google/rpc/error_details.proto");
                    }
                }
            });
        }
    };
}

reflection_test!(version_1_describes_all, v1, "grpc.reflection.v1.ServerReflection");
reflection_test!(version_1_alpha_describes_all, v1alpha, "grpc.reflection.v1alpha.ServerReflection");

#[test]
fn health_is_told_of_the_service_and_of_the_server() {
    run(async {
        let (server, _) = serve_and_connect(1).await;
        let mut health = HealthClient::new(endpoint(&server).connect().await.unwrap());
        for service in ["", SERVICE_NAME] {
            let request = HealthCheckRequest { service: service.to_owned() };
            let status = health.check(request.clone()).await.unwrap().into_inner().status();
            assert_eq!(status, ServingStatus::Serving, "{service:?}");
            let mut watch = health.watch(request).await.unwrap().into_inner();
            assert_eq!(soon(watch.message()).await.unwrap().unwrap().status(), ServingStatus::Serving);
        }
        let unknown = HealthCheckRequest { service: "no.such.Service".to_owned() };
        assert_eq!(health.check(unknown).await.unwrap_err().code(), tonic::Code::NotFound);
    });
}
