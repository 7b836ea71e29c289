//! TLS: who gets in, what the others are told, and certificates that change meanwhile.

use std::io;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;
use taquin::config::{LimitsConfig, SecurityConfig};
use taquin::service::pb;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint};

use crate::boards::{self, SOLVED};
use crate::certificates::{Authority, Pair, folder, secured, serve_secured, write_pair};
use crate::cli;
use crate::folder::Folder;
use crate::process::{self, Worker};
use crate::raw::until_closed;
use crate::support::{Client, Talk, assert_solves, job, run, serve, soon, wait_until};

/// Longer than the time that a peer has for its handshake, on a busy machine.
const GREETING_OVER: Duration = Duration::from_secs(15);
/// The longest wait for a signal's effect.
const SIGNAL_TIME: Duration = Duration::from_secs(10);

/// The exit code of a program, and all that it says.
fn ask(mut command: Command, arguments: &[&str]) -> (i32, String) {
    let ran = command.args(arguments).stdin(Stdio::null()).output().unwrap();
    let said = [ran.stdout, ran.stderr].concat();
    (ran.status.code().unwrap(), String::from_utf8(said).unwrap())
}

fn solve(arguments: &[&str]) -> (i32, String) {
    ask(cli::command(), &[&["solve", "283104765", "-g", "123804765"], arguments].concat())
}

fn load(arguments: &[&str]) -> (i32, String) {
    ask(cli::command(), &[&["load", "-n", "10"], arguments].concat())
}

fn healthcheck(arguments: &[&str]) -> (i32, String) {
    ask(process::command(), &[&["healthcheck"], arguments].concat())
}

/// Every program of ours gets through with these.
fn assert_welcome(arguments: &[&str]) {
    for (name, program) in
        [("solve", solve as fn(&[&str]) -> _), ("load", load), ("healthcheck", healthcheck)]
    {
        assert_eq!(program(arguments).0, 0, "{name} {arguments:?}: {}", program(arguments).1);
    }
}

/// No program of ours gets through with these, and each says so.
fn assert_refused(arguments: &[&str], code: i32, said: &str) {
    for (name, program, code) in
        [("solve", solve as fn(&[&str]) -> _, code), ("load", load, code), ("healthcheck", healthcheck, 1)]
    {
        let (ended, told) = program(arguments);
        assert_eq!(ended, code, "{name} {arguments:?}: {told}");
        assert!(told.contains(said), "{name} {arguments:?}: {said:?} is not in {told}");
    }
}

/// Runs what blocks beside the server of the test.
async fn beside(what: impl FnOnce() + Send + 'static) {
    tokio::task::spawn_blocking(what).await.unwrap();
}

/// A client of ours at an address, who trusts an authority.
async fn connect(address: SocketAddr, authority: &Authority) -> Result<Client, tonic::transport::Error> {
    let trust = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(authority.pem()));
    let endpoint = Endpoint::from_shared(format!("https://{address}")).unwrap().tls_config(trust)?;
    Ok(Client::new(soon(endpoint.connect()).await?))
}

#[test]
fn boards_are_solved_over_tls() {
    run(async {
        let (folder, authority) = folder();
        let server = serve_secured(LimitsConfig::default(), &secured(&folder)).await;
        let (ca, port) = (folder.path("ca.pem"), server.address().port());
        beside(move || {
            for host in ["localhost", "127.0.0.1"] {
                assert_welcome(&["--endpoint", &format!("https://{host}:{port}"), "--tls-ca", &ca]);
            }
        })
        .await;
        let mut talk = Talk::open(&connect(server.address(), &authority).await.unwrap()).await;
        for n in 0..100 {
            assert_solves(&talk.ask(job(n.to_string(), boards::at(12, n))).await, boards::at(12, n));
        }
    });
}

#[test]
fn what_is_wrong_with_a_servers_certificate_is_said() {
    run(async {
        let (folder, authority) = folder();
        folder.write("other.pem", Authority::new("another").pem());
        write_pair(&folder, "named", &authority.issue_for(&["worker.example"], Duration::from_hours(1)));
        let end = SystemTime::now() + Duration::from_secs(3);
        write_pair(&folder, "ending", &authority.issue_until(&["127.0.0.1"], end));
        let with = |name: &str| SecurityConfig {
            tls_cert: Some(folder.path(&format!("{name}.pem")).into()),
            tls_key: Some(folder.path(&format!("{name}.key")).into()),
            ..SecurityConfig::default()
        };
        let ending = serve_secured(LimitsConfig::default(), &with("ending")).await;
        let (ours, named) = (
            serve_secured(LimitsConfig::default(), &with("server")).await,
            serve_secured(LimitsConfig::default(), &with("named")).await,
        );
        let plain = serve(LimitsConfig::default(), 1).await;
        let (ca, other) = (folder.path("ca.pem"), folder.path("other.pem"));
        let url = |address: SocketAddr| format!("https://{address}");
        let (ours, named, ending) = (url(ours.address()), url(named.address()), url(ending.address()));
        let (http, plain) = (ours.replace("https", "http"), url(plain.address()));
        beside(move || {
            let refused = |endpoint: &str, ca: &str, said| {
                assert_refused(&["--endpoint", endpoint, "--tls-ca", ca], 4, said);
            };
            refused(&ours, &other, "no authority of --tls-ca has issued the server's certificate");
            refused(&named, &ca, "the server's certificate is of another name: --tls-domain");
            refused(&plain, &ca, "the port does not speak TLS: http://");
            assert_welcome(&["--endpoint", &named, "--tls-ca", &ca, "--tls-domain", "worker.example"]);
            assert_refused(&["--endpoint", &http], 4, "the port speaks TLS alone: https://");
            assert_refused(&["--endpoint", &ours], 2, "https:// wants to know whom to trust: --tls-ca");
            let without_s = ["--endpoint", &http, "--tls-ca", &ca];
            assert_refused(&without_s, 2, "--tls-ca is for https://, and the endpoint is none");
            let missing = ["--endpoint", &ours, "--tls-ca", "no/such/file"];
            assert_refused(&missing, 2, "--tls-ca no/such/file: can't be read: No such file");
            std::thread::sleep(
                (end + Duration::from_secs(1)).duration_since(SystemTime::now()).unwrap_or_default(),
            );
            refused(&ending, &ca, "the server's certificate has expired");
        })
        .await;
    });
}

#[test]
fn clients_show_a_certificate_where_one_is_wanted() {
    run(async {
        let (folder, _) = folder();
        let (clients, foreign) = (Authority::new("clients"), Authority::new("foreign"));
        let client_ca = folder.write("clients.pem", clients.pem());
        write_pair(&folder, "client", &clients.issue());
        write_pair(&folder, "foreign", &foreign.issue());
        let security = SecurityConfig { tls_client_ca: Some(client_ca.into()), ..secured(&folder) };
        let server = serve_secured(LimitsConfig::default(), &security).await;
        let url = format!("https://{}", server.address());
        beside(move || {
            let path = |name: &str| folder.path(name);
            let show = |name: &str| [path(&format!("{name}.pem")), path(&format!("{name}.key"))];
            let ca = path("ca.pem");
            let trusted = ["--endpoint", &url, "--tls-ca", &ca];
            assert_refused(&trusted, 4, "the server wants a client's certificate: --tls-cert, --tls-key");
            let [cert, key] = show("foreign");
            let shown = [&trusted[..], &["--tls-cert", &cert, "--tls-key", &key]].concat();
            assert_refused(&shown, 4, "the server does not know who issued the client's certificate");
            let [cert, key] = show("client");
            assert_welcome(&[&trusted[..], &["--tls-cert", &cert, "--tls-key", &key]].concat());
            let [cert, _] = show("client");
            let [_, key] = show("foreign");
            let mixed = [&trusted[..], &["--tls-cert", &cert, "--tls-key", &key]].concat();
            assert_refused(&mixed, 2, "is not the key of the certificate of --tls-cert");
        })
        .await;
    });
}

/// A worker process that speaks TLS.
fn worker(folder: &Folder) -> Worker {
    let (cert, key) = (folder.path("server.pem"), folder.path("server.key"));
    Worker::spawn(&["--tls-cert", &cert, "--tls-key", &key])
}

#[test]
fn certificates_change_for_new_connections_and_old_streams_go_on() {
    run(async {
        let (folder, old) = folder();
        let worker = worker(&folder);
        let mut talk = Talk::open(&connect(worker.address, &old).await.unwrap()).await;
        assert_solves(&talk.ask(job("before", boards::at(9, 0))).await, boards::at(9, 0));

        let new = Authority::new("new");
        write_pair(&folder, "server", &new.issue());
        worker.signal(Signal::HUP);
        wait_until("it is read again", SIGNAL_TIME, || worker.log().contains("read again")).await;
        assert!(connect(worker.address, &old).await.is_err(), "the old certificate is shown yet");
        let mut client = connect(worker.address, &new).await.unwrap();
        client.get_server_info(pb::GetServerInfoRequest {}).await.unwrap();
        assert_solves(&talk.ask(job("after", boards::at(9, 1))).await, boards::at(9, 1));
    });
}

#[test]
fn what_can_not_be_used_is_logged_and_changes_nothing() {
    run(async {
        let (folder, ours) = folder();
        let worker = worker(&folder);
        let Pair { chain, key } = ours.issue();
        let past = SystemTime::now() - Duration::from_hours(1);
        let expired = ours.issue_until(&["127.0.0.1"], past);
        let broken = "-----BEGIN CERTIFICATE-----\nsecret\n-----END CERTIFICATE-----\n";
        let cases = [
            (
                chain.as_str(),
                ours.issue().key,
                "--tls-key",
                "is not the key of the certificate of --tls-cert",
            ),
            (expired.chain.as_str(), expired.key.clone(), "--tls-cert", "has expired"),
            (broken, key.clone(), "--tls-cert", "holds a certificate that is none"),
            ("secret", key.clone(), "--tls-cert", "holds no certificate in PEM"),
            (chain.as_str(), "secret".into(), "--tls-key", "holds no private key in PEM"),
            (chain.as_str(), String::new(), "--tls-key", "can't be read: No such file"),
        ];
        for (chain, key, flag, why) in cases {
            folder.write("server.pem", chain);
            match key.as_str() {
                "" => std::fs::remove_file(folder.path("server.key")).unwrap(),
                key => drop(folder.write("server.key", key)),
            }
            let before = worker.log().len();
            worker.signal(Signal::HUP);
            let said = || worker.log()[before..].contains("what was read before stays in force");
            wait_until("it is said", SIGNAL_TIME, said).await;
            let log = worker.log()[before..].to_owned();
            assert!(log.contains("\"ERROR\"") && log.contains(flag) && log.contains(why), "{log}");
            assert!(!log.contains("secret") && !log.contains(&folder.path("")), "{log}");
            let mut client = connect(worker.address, &ours).await.unwrap();
            client.get_server_info(pb::GetServerInfoRequest {}).await.unwrap();
        }
    });
}

#[test]
fn a_worker_does_not_start_with_files_that_can_not_be_used() {
    let (folder, ours) = folder();
    write_pair(&folder, "other", &ours.issue());
    folder.write("bare", "secret");
    let path = |name: &str| folder.path(name);
    let (cert, key, other, bare) = (path("server.pem"), path("server.key"), path("other.key"), path("bare"));
    let cases: [(&[&str], String); 5] = [
        (&["--tls-cert", "no/such", "--tls-key", &key], "--tls-cert no/such: can't be read: No such".into()),
        (&["--tls-cert", &cert, "--tls-key", &other], format!("--tls-key {other}: is not the key")),
        (&["--tls-cert", &bare, "--tls-key", &key], format!("--tls-cert {bare}: holds no certificate")),
        (
            &["--tls-cert", &cert, "--tls-key", &key, "--tls-client-ca", &bare],
            format!("--tls-client-ca {bare}: holds no certificate"),
        ),
        (&["--tokens", &bare], format!("--tokens {bare}: line 1: its token is missing")),
    ];
    for (arguments, said) in cases {
        let started = [&["--listen", "127.0.0.1:0"], arguments].concat();
        let (code, told) = ask(process::command(), &started);
        assert_eq!(code, 1, "{arguments:?}: {told}");
        assert!(told.contains(&said), "{arguments:?}: {said:?} is not in {told}");
        assert!(!told.contains("secret"), "{told}");
    }
    // What does not go together is wrong usage, whatever is in the files.
    for (arguments, said) in [
        (["--tls-cert", &cert], "--tls-cert wants the key of the certificate too (--tls-key)"),
        (["--tls-key", &key], "--tls-key wants the certificate of the key too (--tls-cert)"),
        (["--tls-client-ca", &cert], "--tls-client-ca wants a certificate of the server too"),
    ] {
        for command in [&[][..], &["config"]] {
            let (code, told) = ask(process::command(), &[&arguments, command].concat());
            assert!(code == 2 && told.contains(said), "{code}: {told}");
        }
    }
}

#[test]
fn peers_that_never_finish_their_handshake_hold_up_nobody_and_are_dropped() {
    run(async {
        let (folder, authority) = folder();
        let server = serve_secured(LimitsConfig::default(), &secured(&folder)).await;
        // Nothing, a byte, and half of a ClientHello of 512 bytes.
        let said: [&[u8]; 3] = [b"", b"\x16", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03half a hello"];
        let mut silent = Vec::new();
        for n in 0..200 {
            let mut peer = TcpStream::connect(server.address()).await.unwrap();
            peer.write_all(said[n % 3]).await.unwrap();
            silent.push(peer);
        }
        let asked = Instant::now();
        for n in 0..5 {
            let mut client = connect(server.address(), &authority).await.unwrap();
            let request = pb::SolveRequest { job: Some(job(n.to_string(), SOLVED)) };
            client.solve(request).await.unwrap();
        }
        assert!(asked.elapsed() < Duration::from_secs(4), "others were held up");
        for peer in &silent {
            let left = GREETING_OVER.saturating_sub(asked.elapsed());
            assert!(until_closed(peer, left).await, "a silent peer keeps its place");
        }
    });
}

#[test]
fn a_handshake_that_never_ends_gives_its_place_up_at_the_limit() {
    run(async {
        let (folder, authority) = folder();
        let limits = LimitsConfig { max_connections: 2, ..LimitsConfig::default() };
        let server = serve_secured(limits, &secured(&folder)).await;
        let mut silent = Vec::new();
        for _ in 0..2 {
            silent.push(TcpStream::connect(server.address()).await.unwrap());
        }
        // It waits for a place, and has one when a silent peer's time is over.
        let mut client = connect(server.address(), &authority).await.unwrap();
        client.get_server_info(pb::GetServerInfoRequest {}).await.unwrap();
    });
}

#[test]
fn a_peer_in_plain_text_is_told_so_in_http2() {
    run(async {
        let (folder, _) = folder();
        let server = serve_secured(LimitsConfig::default(), &secured(&folder)).await;
        let mut peer = TcpStream::connect(server.address()).await.unwrap();
        peer.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
        let mut told = Vec::new();
        soon(peer.read_to_end(&mut told)).await.unwrap();
        // SETTINGS, and when a call may be open GOAWAY with INADEQUATE_SECURITY.
        assert_eq!(told[..9], [0, 0, 0, 4, 0, 0, 0, 0, 0]);
        let goaway = &told[9..];
        assert_eq!(
            (goaway[3], &goaway[13..17], goaway.len()),
            (7, &[0, 0, 0, 12][..], 9 + goaway[2] as usize)
        );
        assert!(goaway.ends_with(b"this port speaks TLS: ask https://"), "{told:?}");
    });
}

#[test]
fn another_protocol_than_http2_is_not_spoken() {
    run(async {
        let (folder, authority) = folder();
        let server = serve_secured(LimitsConfig::default(), &secured(&folder)).await;
        let shake_hands = async |protocols: &[&[u8]]| {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(authority.pem().as_bytes()).unwrap()).unwrap();
            let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_root_certificates(roots)
                .with_no_client_auth();
            config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
            let socket = TcpStream::connect(server.address()).await?;
            let name = ServerName::try_from("localhost").unwrap();
            let mut stream = TlsConnector::from(Arc::new(config)).connect(name, socket).await?;
            // A server that speaks HTTP/2 has the first word.
            stream.read_u8().await
        };
        assert_eq!(soon(shake_hands(&[b"h2"])).await.unwrap(), 0);
        for protocols in [&[b"http/1.1".as_slice()][..], &[]] {
            let told: io::Result<u8> = soon(shake_hands(protocols)).await;
            assert!(told.is_err(), "{protocols:?}");
        }
    });
}
