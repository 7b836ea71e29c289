//! Log lines can be joined: with their call, their job, and the caller's own trace.

use taquin::service::pb;
use tokio::sync::mpsc;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::Request;

use crate::boards;
use crate::process::Worker;
use crate::support::{AT_ONCE, job, request, run, soon, wait_until};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SPAN: &str = "00f067aa0ba902b7";

/// One call with one job, which its worker panics over.
async fn panicking_call(worker: &Worker, traceparent: Option<&str>, id: &str) {
    let (jobs, receiver) = mpsc::unbounded_channel();
    jobs.send(request(job(id, boards::at(14, 0)))).unwrap();
    drop(jobs);
    let mut call = Request::new(UnboundedReceiverStream::new(receiver));
    if let Some(traceparent) = traceparent {
        call.metadata_mut().insert("traceparent", traceparent.parse().unwrap());
    }
    let mut answers = worker.connect().await.solve_stream(call).await.unwrap().into_inner();
    while soon(answers.message()).await.unwrap().is_some() {}
}

#[test]
fn what_is_logged_of_a_call_names_the_callers_trace_and_the_job() {
    run(async {
        let worker = Worker::spawn(&["--workers", "1"]);
        let traceparent = format!("00-{TRACE}-{SPAN}-01");
        panicking_call(&worker, Some(&traceparent), "first\n#panic").await;
        let lines = ["a search panicked", "stream over"];
        wait_until("all is logged", AT_ONCE, || lines.iter().all(|line| worker.logged(line).len() == 1))
            .await;
        for line in lines {
            let line = &worker.logged(line)[0];
            let call = &line["spans"][0];
            assert_eq!((&call["name"], &call["rpc"]), (&"call".into(), &"SolveStream".into()), "{line}");
            assert_eq!((&call["trace_id"], &call["span_id"]), (&TRACE.into(), &SPAN.into()), "{line}");
            assert!(call["peer"].as_str().unwrap().starts_with("127.0.0.1:"), "{line}");
        }
        let job = &worker.logged("a search panicked")[0]["spans"][1];
        assert_eq!((&job["name"], &job["request_id"]), (&"job".into(), &"first\n#panic".into()));
    });
}

#[test]
fn a_header_that_is_no_trace_is_not_logged() {
    run(async {
        let worker = Worker::spawn(&["--workers", "1"]);
        let headers =
            [None, Some("00-nonsense"), Some("00-00000000000000000000000000000000-0000000000000000-00")];
        for (n, header) in headers.into_iter().enumerate() {
            panicking_call(&worker, header, &format!("{n}#panic")).await;
        }
        wait_until("all is logged", AT_ONCE, || worker.logged("stream over").len() == headers.len()).await;
        for line in worker.logged("stream over") {
            let call = line["spans"][0].as_object().unwrap();
            assert!(!call.contains_key("trace_id") && !call.contains_key("span_id"), "{line}");
        }
    });
}

#[test]
fn calls_of_every_kind_are_spans() {
    run(async {
        let worker = Worker::spawn(&["--workers", "1"]);
        let mut client = worker.connect().await;
        let alone = pb::SolveRequest { job: Some(job("alone#panic", boards::at(14, 0))) };
        client.solve(alone).await.unwrap_err();
        let packed =
            client.solve_packed(tokio_stream::iter([pb::SolvePackedRequest::default()])).await.unwrap();
        soon(packed.into_inner().message()).await.unwrap().unwrap();
        wait_until("both are logged", AT_ONCE, || {
            worker.logged("a search panicked").len() == 1 && worker.logged("stream over").len() == 1
        })
        .await;
        assert_eq!(worker.logged("a search panicked")[0]["spans"][0]["rpc"], "Solve");
        assert_eq!(worker.logged("a search panicked")[0]["spans"][1]["request_id"], "alone#panic");
        assert_eq!(worker.logged("stream over")[0]["spans"][0]["rpc"], "SolvePacked");
    });
}
