//! Messages from pipes and sockets: those of workers, and HTTP responses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::lines;
use crate::Target;
use crate::mutate::Form;
use crate::mutate::schema::Schema;

const REPLY: &[&str] = &[
    "HTTP/1.1 ",
    "HTTP/1.0 ",
    "\r\n",
    "\r\n\r\n",
    "\n\n",
    "Content-Length: ",
    "chunked",
    "Transfer-Encoding: ",
    "Connection: ",
    "close",
    "keep-alive",
    "Server: ",
    "100 Continue",
    "0\r\n\r\n",
    "ffffffffffffffff",
    ";",
    "204",
    "304",
    "101",
];
const WORKER: &[&str] = &[
    "\"ready\"\n",
    "{\"failed\":\"",
    "{\"done\":{",
    "latencies",
    "figures",
    "\n",
    "{\"start\":",
    "{\"work\":{",
];
const STUDIES: &[&str] = &["log", "stream", "page", "lock_ns", "clock_error_ns", "worker"];
const HEADERS: &[&str] = &[
    "Content-Length",
    "Transfer-Encoding",
    "chunked",
    "Connection",
    "close",
    "keep-alive",
    "Server",
    "HTTP/1.1",
    "HTTP/1.0",
    "0",
    "5",
    "ffffffffffffffff",
    "gzip, chunked",
    "\r\n",
];

pub(super) fn all() -> Vec<Target> {
    vec![
        Target::new("worker", 400, messages_as_they_are, messages, worker),
        Target::new("worker-lines", 300, || Form::Text(WORKER), messages, worker),
        Target::new("response", 400, parts_of_responses, responses, response),
        Target::new("reply", 600, || Form::Text(REPLY), replies, load::fuzz::reply),
        Target::new("chunked", 800, || Form::Text(REPLY), chunks, load::fuzz::chunked),
    ]
}

/// A server's answer, to be changed in any of its parts.
#[derive(Serialize, Deserialize, JsonSchema)]
struct Response {
    /// Into which pieces it is cut.
    cut: u8,
    version: String,
    status: u64,
    reason: String,
    headers: Vec<(String, String)>,
    body: Vec<Part>,
}

/// A part of a body.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Part {
    /// As it is.
    Plain(String),
    /// A chunk that says how long it is.
    Chunk { bytes: u64, extension: String, text: String },
    /// A line.
    Line(String),
}

impl Response {
    fn written(&self) -> Vec<u8> {
        let Self { cut, version, status, reason, headers, body } = self;
        let mut text = format!("{version} {status} {reason}\r\n");
        text.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        text += "\r\n";
        text.extend(body.iter().map(|part| match part {
            Part::Plain(text) => text.clone(),
            Part::Chunk { bytes, extension, text } => {
                format!("{bytes:x}{extension}\r\n{text}\r\n")
            }
            Part::Line(text) => format!("{text}\r\n"),
        }));
        [&[*cut][..], text.as_bytes()].concat()
    }
}

fn parts_of_responses() -> Form {
    Form::Json(Schema::new(schemars::schema_for!(Response).to_value(), HEADERS))
}

fn responses() -> Vec<Vec<u8>> {
    let response = |headers: &[(&str, &str)], body| Response {
        cut: 2,
        version: "HTTP/1.1".to_owned(),
        status: 200,
        reason: "OK".to_owned(),
        headers: headers.iter().map(|(name, of)| ((*name).to_owned(), (*of).to_owned())).collect(),
        body,
    };
    let chunk = |text: &str| Part::Chunk {
        bytes: text.len() as u64,
        extension: String::new(),
        text: text.to_owned(),
    };
    let all = [
        response(&[("Content-Length", "5"), ("Server", "x")], vec![Part::Plain("hello".into())]),
        response(
            &[("Transfer-Encoding", "chunked")],
            vec![
                chunk("abc"),
                chunk("0123456789"),
                Part::Line("0".into()),
                Part::Line(String::new()),
            ],
        ),
        response(&[("Connection", "close")], vec![Part::Plain("to the end".into())]),
    ];
    all.iter().filter_map(|response| serde_json::to_vec(response).ok()).collect()
}

fn response(bytes: &[u8]) -> bool {
    let response = serde_json::from_slice::<Response>(bytes);
    response.is_ok_and(|response| load::fuzz::reply(&response.written()))
}

/// The schema of messages from workers and to them.
fn messages_as_they_are() -> Form {
    let mut schema = process::worker::fuzz::schema();
    let definitions = schema["$defs"].take();
    let number = json!({"type": "integer", "format": "uint64"});
    let clock = json!({"type": "object", "properties": {
        "cycles": {"type": "boolean"}, "tick_ns": {"type": "number"},
    }});
    let work = json!({"type": "object", "properties": {
        "clock": clock,
        "assignment": {"type": "object", "properties": {"study": {"type": "string"}, "work": {}}},
    }});
    let field = |name: &str, part: Value| json!({"type": "object", "properties": {name: part}, "required": [name]});
    let any = json!([schema, field("start", number), field("work", work)]);
    Form::Json(Schema::new(json!({"anyOf": any, "$defs": definitions}), STUDIES))
}

/// The first byte says into which pieces the rest is cut.
fn replies() -> Vec<Vec<u8>> {
    [
        "\0HTTP/1.1 200 OK\r\nContent-Length: 5\r\nServer: x\r\n\r\nhello",
        "\u{2}HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n00A\r\n0123456789\r\n0\r\nT: x\r\n\r\n",
        "\u{8}HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        "\u{6}HTTP/1.0 200 OK\n\nhello",
        "\u{4}HTTP/1.1 204 No\r\nConnection: close\r\n\r\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn chunks() -> Vec<Vec<u8>> {
    [
        "5\r\nhello\r\n0\r\n\r\n",
        "3;x=y\r\nabc\r\n00A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
        "1\na\n0\n\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec()
}

fn messages() -> Vec<Vec<u8>> {
    let done = r#"{"done":{"acknowledged":2,"started_after_ns":5,"ended_after_ns":9,"unit_ns":1.0,"latencies":[[2,2],[9,1]],"latency_max":3,"spent":{"elapsed_ns":4,"sync_calls":1,"calls":{"writes":7},"run_queue_ns":3},"figures":{"lock_ns":0}}}"#;
    let mut all = lines("\"ready\"\n{\"failed\":\"no such folder\"}\n{\"start\":12345}");
    all.push(format!("{done}\n").into_bytes());
    all.push(
        br#"{"work":{"clock":{"cycles":true,"tick_ns":0.4},"assignment":{"study":"log","work":{"a":[1]}}}}"#
            .to_vec(),
    );
    all
}

fn worker(bytes: &[u8]) -> bool {
    let to = process::worker::fuzz::to_worker(bytes);
    // Changed JSON has no newline at its end.
    let line = [bytes, b"\n"].concat();
    process::worker::fuzz::from_worker(&line) || to
}
