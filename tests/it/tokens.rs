//! Bearer tokens: who may ask, how much, and what of it is never told.

use std::process::Stdio;
use std::time::Duration;

use prost::Message;
use rustix::process::Signal;
use taquin::config::{LimitsConfig, Reflection, SecurityConfig};
use taquin::service::{Embedded, SERVICE_NAME, check_health, pb};
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::{Code, Request, Status, Streaming};
use tonic_health::pb::{HealthCheckRequest, health_client::HealthClient};
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;

use crate::boards::{self, SOLVED};
use crate::certificates::serve_secured;
use crate::cli;
use crate::folder::Folder;
use crate::process::Worker;
use crate::support::{
    AT_ONCE, Client, Talk, assert_cancelled, assert_shed, assert_solves, blocker, connect, endpoint,
    error_of, job, retry_delay, run, serve_and_connect, soon, wait_until,
};

const ONE: &str = "one-0123456789-abcdef";
const TWO: &str = "two-0123456789-abcdef";
/// The longest wait for a signal's effect.
const SIGNAL_TIME: Duration = Duration::from_secs(10);
/// A removed token's streams end within a second; a busy machine may take longer.
const REVOKED_TIME: Duration = Duration::from_secs(5);

/// A server for those of a tokens file.
async fn serve(tokens: &str) -> (Embedded, Folder) {
    let folder = Folder::new();
    let security =
        SecurityConfig { tokens: Some(folder.write("tokens", tokens).into()), ..SecurityConfig::default() };
    (serve_secured(LimitsConfig::default(), &security).await, folder)
}

fn with_token<T>(message: T, token: &str) -> Request<T> {
    let mut request = Request::new(message);
    let shown: MetadataValue<Ascii> = format!("Bearer {token}").parse().unwrap();
    request.metadata_mut().insert("authorization", shown);
    request
}

/// A stream that shows a token.
async fn open(client: &Client, token: &str) -> Talk {
    let (requests, receiver) = mpsc::unbounded_channel();
    let stream = with_token(UnboundedReceiverStream::new(receiver), token);
    let answers = soon(client.clone().solve_stream(stream)).await.unwrap().into_inner();
    Talk { requests, answers }
}

fn unary(name: &str) -> pb::SolveRequest {
    pb::SolveRequest { job: Some(job(name, SOLVED)) }
}

/// How each RPC answers who shows this, or nothing.
async fn codes(client: &Client, shown: Option<&str>) -> [Code; 4] {
    fn request<T>(message: T, shown: Option<&str>) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(shown) = shown {
            request.metadata_mut().insert("authorization", shown.parse().unwrap());
        }
        request
    }
    fn code<T>(answer: Result<T, Status>) -> Code {
        answer.map_or_else(|status| status.code(), |_| Code::Ok)
    }
    async fn first<T>(answers: Result<tonic::Response<Streaming<T>>, Status>) -> Code {
        match answers {
            Ok(answers) => code(answers.into_inner().message().await),
            Err(status) => status.code(),
        }
    }
    let mut client = client.clone();
    let packed = tokio_stream::empty::<pb::SolvePackedRequest>();
    let jobs = tokio_stream::iter([crate::support::request(job("stream", SOLVED))]);
    [
        code(client.solve(request(unary("unary"), shown)).await),
        first(client.solve_stream(request(jobs, shown)).await).await,
        first(client.solve_packed(request(packed, shown)).await).await,
        code(client.get_server_info(request(pb::GetServerInfoRequest {}, shown)).await),
    ]
}

#[test]
fn every_rpc_wants_a_token_of_the_file() {
    run(async {
        let (server, _folder) = serve(&format!("one {ONE}\n# two is\ntwo {TWO}")).await;
        let client = connect(&server).await;
        for token in [ONE, TWO] {
            for scheme in ["Bearer", "bearer", "BEARER"] {
                assert_eq!(codes(&client, Some(&format!("{scheme} {token}"))).await, [Code::Ok; 4]);
            }
        }
        let wrong = [
            None,
            Some(String::new()),
            Some("Bearer".into()),
            Some("Bearer ".into()),
            Some(format!("Basic {ONE}")),
            Some(ONE.to_owned()),
            Some(format!("Bearer {}", &ONE[..ONE.len() - 1])),
            Some(format!("Bearer {ONE}0")),
            Some(format!("Bearer {}", ONE.to_uppercase())),
            Some(format!("Bearer {ONE},{TWO}")),
            Some(format!("Bearer {}", "x".repeat(128))),
            Some(format!("Bearer {}", "x".repeat(129))),
        ];
        for shown in wrong {
            assert_eq!(codes(&client, shown.as_deref()).await, [Code::Unauthenticated; 4], "{shown:?}");
        }
    });
}

/// How reflection answers who shows a token, or none.
async fn reflection(server: &Embedded, token: Option<&str>) -> Code {
    let mut client = ServerReflectionClient::new(endpoint(server).connect().await.unwrap());
    let list = MessageRequest::ListServices(String::new());
    let question = ServerReflectionRequest { host: String::new(), message_request: Some(list) };
    let asked = tokio_stream::iter([question]);
    let asked = match token {
        None => Request::new(asked),
        Some(token) => with_token(asked, token),
    };
    match soon(client.server_reflection_info(asked)).await {
        Ok(mut answers) => soon(answers.get_mut().message()).await.map_or_else(|e| e.code(), |_| Code::Ok),
        Err(status) => status.code(),
    }
}

#[test]
fn health_is_open_and_reflection_wants_a_token() {
    run(async {
        let (server, _folder) = serve(&format!("one {ONE}")).await;
        let mut health = HealthClient::new(endpoint(&server).connect().await.unwrap());
        health.check(HealthCheckRequest { service: SERVICE_NAME.into() }).await.unwrap();
        check_health(&server.address().to_string(), Duration::from_secs(10)).await.unwrap();
        assert_eq!(reflection(&server, None).await, Code::Unauthenticated);
        assert_eq!(reflection(&server, Some(ONE)).await, Code::Ok);
    });
}

#[test]
fn reflection_can_be_turned_off() {
    run(async {
        let security = SecurityConfig { reflection: Reflection::Off, ..SecurityConfig::default() };
        let server = serve_secured(LimitsConfig::default(), &security).await;
        assert_eq!(reflection(&server, None).await, Code::Unimplemented);
        let (server, _) = serve_and_connect(1).await;
        assert_eq!(reflection(&server, None).await, Code::Ok);
    });
}

#[test]
fn the_client_shows_the_token_of_its_file_or_its_environment() {
    run(async {
        let (server, folder) = serve(&format!("one {ONE}")).await;
        let address = server.address().to_string();
        tokio::task::spawn_blocking(move || {
            let (right, wrong) = (folder.write("right", format!("{ONE}\n")), folder.write("wrong", TWO));
            let empty = folder.write("empty", "\n");
            let ask = |command: &str, file: Option<&str>, variable: Option<&str>| {
                let mut client = cli::command();
                match command {
                    "solve" => client.args(["solve", "283104765", "-g", "123804765"]),
                    _ => client.args(["load", "-n", "20", "--mode", command]),
                };
                client.args(["--endpoint", &address]).stdin(Stdio::null());
                file.map(|file| client.args(["--token-file", file]));
                variable.map(|token| client.env("TAQUIN_TOKEN", token));
                let ran = client.output().unwrap();
                (ran.status.code().unwrap(), String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap())
            };
            for command in ["solve", "unary", "stream", "packed"] {
                for (file, variable) in [(Some(&*right), None), (None, Some(ONE)), (Some(&*right), Some(TWO))]
                {
                    let (code, said) = ask(command, file, variable);
                    assert_eq!(code, 0, "{command} {file:?} {variable:?}: {said}");
                }
                for (file, variable) in [(None, None), (Some(&*wrong), Some(ONE)), (None, Some(TWO))] {
                    let (code, said) = ask(command, file, variable);
                    assert_eq!(code, 4, "{command} {file:?} {variable:?}: {said}");
                    assert!(said.contains("UNAUTHENTICATED"), "{command}: {said}");
                    assert!(!said.contains(ONE) && !said.contains(TWO), "{command}: {said}");
                }
                let (code, said) = ask(command, Some(&empty), None);
                assert_eq!(code, 2, "{command}: {said}");
                assert!(said.contains(&format!("--token-file {empty}: holds no token")), "{said}");
            }
        })
        .await
        .unwrap();
    });
}

#[test]
fn each_caller_has_places_of_its_own_for_what_is_in_flight() {
    run(async {
        let (server, _folder) = serve(&format!("one {ONE} max_in_flight=2\ntwo {TWO} max_in_flight=1")).await;
        let client = connect(&server).await;
        let (mut first, mut second) = (open(&client, ONE).await, open(&client, ONE).await);
        first.send(blocker("a"));
        second.send(blocker("b"));
        wait_until("both are in flight", AT_ONCE, || server.engine().in_flight() == 2).await;
        // One more is too many for it, on whatever stream, even if it is known, and in a call of its own.
        let refused = error_of(&first.ask(job("c", SOLVED)).await);
        assert_shed(&refused);
        assert!(
            refused.message().contains("2 jobs") && refused.message().contains("max_in_flight"),
            "{refused:?}"
        );
        assert_shed(&client.clone().solve(with_token(unary("c"), ONE)).await.unwrap_err());
        // The other is not concerned.
        client.clone().solve(with_token(unary("d"), TWO)).await.unwrap();
        let mut third = open(&client, TWO).await;
        for n in 0..10 {
            assert_solves(&third.ask(job(n.to_string(), SOLVED)).await, SOLVED);
        }
        let id = blocker("b").request_id;
        second.cancel(&id);
        assert_cancelled(&second.answer().await, &id);
        assert_solves(&first.ask(job("c", SOLVED)).await, SOLVED);
        // What a stream leaves behind is in flight no more.
        drop(first);
        wait_until("it is given up", AT_ONCE, || server.engine().in_flight() == 0).await;
        second.send(blocker("e"));
        wait_until("it is in flight", AT_ONCE, || server.engine().in_flight() == 1).await;
        assert_solves(&second.ask(job("f", SOLVED)).await, SOLVED);
    });
}

#[test]
fn each_caller_has_a_rate_of_its_own_and_is_told_when_to_come_back() {
    run(async {
        let (server, _folder) = serve(&format!("one {ONE} rate=1\ntwo {TWO}")).await;
        let client = connect(&server).await;
        let mut talk = open(&client, ONE).await;
        assert_solves(&talk.ask(job("first", SOLVED)).await, SOLVED);
        let refused = error_of(&talk.ask(job("second", SOLVED)).await);
        assert_shed(&refused);
        assert!(refused.message().contains("1 jobs a second"), "{refused:?}");
        assert_shed(&client.clone().solve(with_token(unary("third"), ONE)).await.unwrap_err());
        for n in 0..20 {
            client.clone().solve(with_token(unary(&n.to_string()), TWO)).await.unwrap();
        }
        let delay = retry_delay(&refused).unwrap();
        assert!(delay > Duration::ZERO && delay <= Duration::from_secs(1), "{delay:?}");
        // At that time, and not much later: had refusals been counted, it would not be enough.
        tokio::time::sleep(delay).await;
        assert_solves(&talk.ask(job("fourth", SOLVED)).await, SOLVED);
    });
}

#[test]
fn packed_boards_count_each() {
    run(async {
        let (server, _folder) = serve(&format!("one {ONE} rate=10")).await;
        let client = connect(&server).await;
        let (sender, receiver) = mpsc::unbounded_channel();
        let stream = with_token(UnboundedReceiverStream::new(receiver), ONE);
        let mut answers = soon(client.clone().solve_packed(stream)).await.unwrap().into_inner();
        let grid = pb::solve_packed_request::Layout::Grid(pb::Grid { rows: 3, columns: 3 });
        let message = |id: &str| pb::SolvePackedRequest {
            request_id: id.into(),
            layout: Some(grid.clone()),
            boards: 0x8765_4321_u32.to_le_bytes().repeat(1000),
            ..pb::SolvePackedRequest::default()
        };
        sender.send(message("first")).unwrap();
        let answer = soon(answers.message()).await.unwrap().unwrap();
        assert_eq!((answer.request_id.as_str(), answer.outcomes.len()), ("first", 1000));
        // A thousand boards are a hundred seconds of its rate.
        sender.send(message("second")).unwrap();
        let error = soon(answers.message()).await.unwrap().unwrap().error.unwrap();
        let refused = Status::with_details(error.code.into(), &error.message, error.encode_to_vec().into());
        assert_shed(&refused);
        let delay = retry_delay(&refused).unwrap();
        assert!((Duration::from_mins(1)..Duration::from_secs(100)).contains(&delay), "{delay:?}");
    });
}

#[test]
fn tokens_change_and_a_removed_ones_streams_end() {
    run(async {
        let folder = Folder::new();
        let tokens = folder.write("tokens", format!("one {ONE} rate=1\ntwo {TWO}"));
        let worker = Worker::spawn(&["--tokens", &tokens]);
        let client = worker.connect().await;
        let (mut kept, mut gone) = (open(&client, ONE).await, open(&client, TWO).await);
        assert_solves(&gone.ask(job("before", SOLVED)).await, SOLVED);
        gone.send(blocker("under way"));
        let unary = {
            let (mut client, request) = (client.clone(), pb::SolveRequest { job: Some(blocker("call")) });
            tokio::spawn(async move { client.solve(with_token(request, TWO)).await })
        };
        tokio::time::sleep(Duration::from_millis(100)).await;

        let reload = async |text: &str, said: &str| {
            let before = worker.log().len();
            folder.write("tokens", text);
            worker.signal(Signal::HUP);
            wait_until("it is read", SIGNAL_TIME, || worker.log()[before..].contains(said)).await;
        };
        let three = "three-0123456789-abcdef";
        reload(&format!("three {three}\none {ONE}"), "read again").await;
        let end = tokio::time::timeout(REVOKED_TIME, gone.end()).await.expect("the stream goes on");
        assert_eq!(end.code(), Code::Unauthenticated, "{end:?}");
        assert_eq!(soon(unary).await.unwrap().unwrap_err().code(), Code::Unauthenticated);
        assert_eq!(codes(&client, Some(&format!("Bearer {TWO}"))).await, [Code::Unauthenticated; 4]);
        assert_eq!(codes(&client, Some(&format!("Bearer {three}"))).await, [Code::Ok; 4]);
        // Who is still there goes on, by the new allowance.
        for n in 0..20 {
            assert_solves(&kept.ask(job(n.to_string(), SOLVED)).await, SOLVED);
        }

        for (text, why) in [("one", "line 1: its token is missing"), ("", "holds no token")] {
            reload(text, why).await;
            assert!(worker.log().contains("what was read before stays in force"));
            assert_solves(&kept.ask(job("still", SOLVED)).await, SOLVED);
            assert_eq!(codes(&client, Some(&format!("Bearer {three}"))).await, [Code::Ok; 4]);
        }
    });
}

#[test]
fn a_signal_without_anything_to_read_again_changes_nothing() {
    run(async {
        let worker = Worker::spawn(&[]);
        worker.signal(Signal::HUP);
        let mut talk = Talk::open(&worker.connect().await).await;
        for n in 0..10 {
            assert_solves(&talk.ask(job(n.to_string(), boards::at(9, n))).await, boards::at(9, n));
        }
    });
}

#[test]
fn neither_log_nor_answer_tells_a_token_a_panic_or_a_path() {
    run(async {
        let folder = Folder::new();
        let (tokens, foreign) = (folder.write("tokens", format!("one {ONE}")), "foreign-0123456789-abcdef");
        let worker = Worker::spawn(&["--tokens", &tokens, "--log", "trace"]);
        let client = worker.connect().await;
        let mut said = Vec::new();
        let mut talk = open(&client, ONE).await;
        for id in ["bad#panic", "good"] {
            said.push(format!("{:?}", talk.ask(job(id, boards::at(14, 0))).await));
        }
        let mut caller = client.clone();
        let panics = pb::SolveRequest { job: Some(job("bad#panic", boards::at(14, 1))) };
        said.push(format!("{:?}", caller.solve(with_token(panics, ONE)).await.unwrap_err()));
        said.push(format!("{:?}", caller.solve(with_token(unary("x"), foreign)).await.unwrap_err()));
        said.push(format!("{:?}", caller.solve(unary("x")).await.unwrap_err()));
        drop(talk);
        folder.write("tokens", "one");
        worker.signal(Signal::HUP);
        for line in ["a thread panicked", "a search panicked", "stream over", "stays in force"] {
            wait_until(line, SIGNAL_TIME, || worker.log().contains(line)).await;
        }
        let folder = folder.path("");
        for text in [&said.join("\n"), &worker.log()] {
            for secret in [ONE, foreign, "a fault switch made", "panicked at", "src/", &folder] {
                let line = text.lines().find(|line| line.contains(secret));
                assert_eq!(line, None, "{secret:?} is told");
            }
        }
    });
}

#[test]
fn a_worker_that_is_open_to_the_network_says_so() {
    run(async {
        let folder = Folder::new();
        let tokens = folder.write("tokens", format!("one {ONE}"));
        let everywhere = ["--listen", "0.0.0.0:0"];
        let open = "everyone who reaches this address may ask";
        let seen = "others on the network can read and change what is said";
        let warned = async |arguments: &[&str]| {
            let worker = Worker::spawn(arguments);
            let url = format!("http://127.0.0.1:{}", worker.address.port());
            check_health(&url, Duration::from_secs(10)).await.unwrap();
            // Its log is read by another thread.
            tokio::time::sleep(Duration::from_millis(300)).await;
            (worker.log().contains(open), worker.log().contains(seen))
        };
        assert_eq!(warned(&[]).await, (false, false));
        assert_eq!(warned(&everywhere).await, (true, true));
        assert_eq!(warned(&[&everywhere[..], &["--tokens", &tokens]].concat()).await, (false, true));
    });
}

#[test]
fn a_file_that_everyone_can_read_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    run(async {
        let folder = Folder::new();
        let tokens = folder.write("tokens", format!("one {ONE}"));
        for (mode, is_warned) in [(0o640, false), (0o644, true)] {
            std::fs::set_permissions(&tokens, std::fs::Permissions::from_mode(mode)).unwrap();
            let worker = Worker::spawn(&["--tokens", &tokens]);
            let before = worker.log().len();
            worker.signal(Signal::HUP);
            wait_until("it is read again", SIGNAL_TIME, || worker.log()[before..].contains("read again"))
                .await;
            assert_eq!(worker.log().contains("everyone on this machine can read"), is_warned);
        }
    });
}
