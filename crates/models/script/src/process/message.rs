//! The messages between the server and a worker.

use super::wire::{Malformed, Reader, Writer};
use crate::call::ScriptError;
use crate::call::{Answer, Document, Operation, Refusal, WriteOptions};
use crate::call::{Call, Ended, Failed, On};
use crate::runtime::Limits;

/// Messages from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    Run(Box<Run<'a>>),
    /// The outcome of the operation that the worker requested.
    Answer(Result<Answer, Refusal>),
    /// Begins a session of functions.
    Begin {
        now_ms: u64,
        seed: u64,
    },
    Define {
        name: &'a str,
        body: &'a str,
    },
    Invoke {
        name: &'a str,
        args: Vec<Option<&'a str>>,
    },
    /// Ends a session. The worker does not reply.
    End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run<'a> {
    pub body: &'a str,
    pub call: Call<'a>,
    pub name: &'a str,
    pub self_link: &'a str,
    pub alt_link: &'a str,
    pub values: &'a str,
    pub now_ms: u64,
    pub seed: u64,
    pub limits: Limits,
    /// Milliseconds of the script's time already used.
    pub elapsed_ms: u64,
}

/// Messages from a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    Perform(Operation<'a>),
    Ended(Result<Ended, Failed>),
    Defined(Result<(), ScriptError>),
    Value(Result<Option<String>, ScriptError>),
}

const OK: u8 = 0;
const ERROR: u8 = 1;

impl<'a> Request<'a> {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        match self {
            Self::Run(run) => run.encode(out.tag(0)),
            Self::Answer(Ok(answer)) => {
                out.tag(1).tag(OK).optional(answer.json.as_deref()).optional(answer.continuation.as_deref());
                out.number(answer.held_bytes as u64);
            }
            Self::Answer(Err(refusal)) => {
                out.tag(1).tag(ERROR).number(u64::from(refusal.number)).text(&refusal.message);
            }
            Self::Begin { now_ms, seed } => {
                out.tag(2).number(*now_ms).number(*seed);
            }
            Self::Define { name, body } => {
                out.tag(3).text(name).text(body);
            }
            Self::Invoke { name, args } => {
                out.tag(4).text(name).number(args.len() as u64);
                args.iter().for_each(|arg| {
                    out.optional(*arg);
                });
            }
            Self::End => {
                out.tag(5);
            }
        }
        out.into_bytes()
    }

    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new(bytes);
        let request = match from.tag()? {
            0 => Self::Run(Box::new(Run::decode(&mut from)?)),
            1 => Self::Answer(match from.tag()? {
                OK => Ok(Answer {
                    json: owned(from.optional()?),
                    continuation: owned(from.optional()?),
                    held_bytes: from.size()?,
                }),
                ERROR => Err(Refusal { number: small(from.number()?)?, message: from.text()?.to_owned() }),
                _ => return Err(Malformed),
            }),
            2 => Self::Begin { now_ms: from.number()?, seed: from.number()? },
            3 => Self::Define { name: from.text()?, body: from.text()? },
            4 => {
                let (name, count) = (from.text()?, from.number()?);
                let args = (0..count).map(|_| from.optional()).collect::<Result<_, _>>()?;
                Self::Invoke { name, args }
            }
            5 => Self::End,
            _ => return Err(Malformed),
        };
        from.end()?;
        Ok(request)
    }
}

impl<'a> Run<'a> {
    fn encode(&self, out: &mut Writer) {
        out.text(self.body);
        match self.call {
            Call::Procedure { arguments } => {
                out.tag(0).text(arguments);
            }
            Call::Before { on, document } => {
                out.tag(1).tag(on_tag(on)).optional(document);
            }
            Call::After { on, document, written } => {
                out.tag(2).tag(on_tag(on)).optional(document).optional(written);
            }
        }
        out.text(self.name).text(self.self_link).text(self.alt_link).text(self.values);
        let Limits {
            millis_max,
            accept_millis_max,
            operations_max,
            written_bytes_max,
            memory_bytes_max,
            output_bytes_max,
            log_bytes_max,
        } = self.limits;
        let sizes = [written_bytes_max, memory_bytes_max, output_bytes_max, log_bytes_max];
        for number in [self.now_ms, self.seed, self.elapsed_ms, millis_max, accept_millis_max, operations_max]
        {
            out.number(number);
        }
        sizes.into_iter().for_each(|size| {
            out.number(size as u64);
        });
    }

    fn decode(from: &mut Reader<'a>) -> Result<Self, Malformed> {
        let body = from.text()?;
        let call = match from.tag()? {
            0 => Call::Procedure { arguments: from.text()? },
            1 => Call::Before { on: on_of(from.tag()?)?, document: from.optional()? },
            2 => {
                let on = on_of(from.tag()?)?;
                Call::After { on, document: from.optional()?, written: from.optional()? }
            }
            _ => return Err(Malformed),
        };
        let (name, self_link, alt_link, values) = (from.text()?, from.text()?, from.text()?, from.text()?);
        let (now_ms, seed, elapsed_ms) = (from.number()?, from.number()?, from.number()?);
        let limits = Limits {
            millis_max: from.number()?,
            accept_millis_max: from.number()?,
            operations_max: from.number()?,
            written_bytes_max: from.size()?,
            memory_bytes_max: from.size()?,
            output_bytes_max: from.size()?,
            log_bytes_max: from.size()?,
        };
        Ok(Self { body, call, name, self_link, alt_link, values, now_ms, seed, limits, elapsed_ms })
    }
}

impl<'a> Reply<'a> {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::default();
        match self {
            Self::Perform(operation) => encode_operation(out.tag(0), operation),
            Self::Ended(Ok(Ended { body, log })) => {
                out.tag(1).tag(OK).optional(body.as_deref()).text(log);
            }
            Self::Ended(Err(Failed { error, log })) => {
                encode_error(out.tag(1).tag(ERROR), error);
                out.text(log);
            }
            Self::Defined(Ok(())) => {
                out.tag(2).tag(OK);
            }
            Self::Defined(Err(error)) => encode_error(out.tag(2).tag(ERROR), error),
            Self::Value(Ok(json)) => {
                out.tag(3).tag(OK).optional(json.as_deref());
            }
            Self::Value(Err(error)) => encode_error(out.tag(3).tag(ERROR), error),
        }
        out.into_bytes()
    }

    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let mut from = Reader::new(bytes);
        let kind = from.tag()?;
        if kind == 0 {
            let operation = decode_operation(&mut from)?;
            from.end()?;
            return Ok(Self::Perform(operation));
        }
        let is_ok = match from.tag()? {
            OK => true,
            ERROR => false,
            _ => return Err(Malformed),
        };
        let reply = match (kind, is_ok) {
            (1, true) => {
                Self::Ended(Ok(Ended { body: owned(from.optional()?), log: from.text()?.to_owned() }))
            }
            (1, false) => {
                Self::Ended(Err(Failed { error: decode_error(&mut from)?, log: from.text()?.to_owned() }))
            }
            (2, true) => Self::Defined(Ok(())),
            (2, false) => Self::Defined(Err(decode_error(&mut from)?)),
            (3, true) => Self::Value(Ok(owned(from.optional()?))),
            (3, false) => Self::Value(Err(decode_error(&mut from)?)),
            _ => return Err(Malformed),
        };
        from.end()?;
        Ok(reply)
    }
}

fn encode_operation(out: &mut Writer, operation: &Operation<'_>) {
    match *operation {
        Operation::Create { body, options } => encode_options(out.tag(0).text(body), options),
        Operation::Upsert { body, options } => encode_options(out.tag(1).text(body), options),
        Operation::Read { document } => encode_document(out.tag(2), document),
        Operation::Replace { document, body, options } => {
            encode_document(out.tag(3), document);
            encode_options(out.text(body), options);
        }
        Operation::Delete { document, options } => {
            encode_document(out.tag(4), document);
            encode_options(out, options);
        }
        Operation::Query { question, items_max, continuation } => {
            let items_max = items_max.map(|items| items as u64);
            out.tag(5).text(question).optional_number(items_max).optional(continuation);
        }
    }
}

fn decode_operation<'a>(from: &mut Reader<'a>) -> Result<Operation<'a>, Malformed> {
    Ok(match from.tag()? {
        0 => Operation::Create { body: from.text()?, options: decode_options(from)? },
        1 => Operation::Upsert { body: from.text()?, options: decode_options(from)? },
        2 => Operation::Read { document: decode_document(from)? },
        3 => {
            let document = decode_document(from)?;
            Operation::Replace { document, body: from.text()?, options: decode_options(from)? }
        }
        4 => Operation::Delete { document: decode_document(from)?, options: decode_options(from)? },
        5 => {
            let (question, items_max) = (from.text()?, from.optional_number()?);
            let items_max = items_max.map(usize::try_from).transpose().map_err(|_| Malformed)?;
            Operation::Query { question, items_max, continuation: from.optional()? }
        }
        _ => return Err(Malformed),
    })
}

fn encode_document(out: &mut Writer, document: Document<'_>) {
    match document {
        Document::Id(id) => {
            out.tag(0).text(id);
        }
        Document::Rid(rid) => {
            out.tag(1).text(rid);
        }
    }
}

fn decode_document<'a>(from: &mut Reader<'a>) -> Result<Document<'a>, Malformed> {
    match from.tag()? {
        0 => from.text().map(Document::Id),
        1 => from.text().map(Document::Rid),
        _ => Err(Malformed),
    }
}

fn encode_options(out: &mut Writer, options: WriteOptions<'_>) {
    out.optional(options.etag).optional(options.index_action);
}

fn decode_options<'a>(from: &mut Reader<'a>) -> Result<WriteOptions<'a>, Malformed> {
    Ok(WriteOptions { etag: from.optional()?, index_action: from.optional()? })
}

fn encode_error(out: &mut Writer, error: &ScriptError) {
    match error {
        ScriptError::Compile { message, stack } => {
            out.tag(0).text(message).text(stack);
        }
        ScriptError::Thrown { message, stack, number } => {
            out.tag(1).text(message).text(stack).optional_number(number.map(u64::from));
        }
        ScriptError::TooLong { millis_max } => {
            out.tag(2).number(*millis_max);
        }
        ScriptError::OutOfMemory { bytes_max } => {
            out.tag(3).number(*bytes_max as u64);
        }
        ScriptError::OutputTooLarge { bytes, bytes_max } => {
            out.tag(4).number(*bytes as u64).number(*bytes_max as u64);
        }
        ScriptError::Broken(why) => {
            out.tag(5).text(why);
        }
    }
}

fn decode_error(from: &mut Reader<'_>) -> Result<ScriptError, Malformed> {
    Ok(match from.tag()? {
        0 => ScriptError::Compile { message: from.text()?.to_owned(), stack: from.text()?.to_owned() },
        1 => ScriptError::Thrown {
            message: from.text()?.to_owned(),
            stack: from.text()?.to_owned(),
            number: from.optional_number()?.map(small).transpose()?,
        },
        2 => ScriptError::TooLong { millis_max: from.number()? },
        3 => ScriptError::OutOfMemory { bytes_max: from.size()? },
        4 => ScriptError::OutputTooLarge { bytes: from.size()?, bytes_max: from.size()? },
        5 => ScriptError::Broken(from.text()?.to_owned()),
        _ => return Err(Malformed),
    })
}

const ONS: [On; 4] = [On::Create, On::Upsert, On::Replace, On::Delete];

fn on_tag(on: On) -> u8 {
    match on {
        On::Create => 0,
        On::Upsert => 1,
        On::Replace => 2,
        On::Delete => 3,
    }
}

fn on_of(tag: u8) -> Result<On, Malformed> {
    ONS.get(usize::from(tag)).copied().ok_or(Malformed)
}

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

fn small(number: u64) -> Result<u32, Malformed> {
    u32::try_from(number).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests() -> Vec<Request<'static>> {
        let calls = [
            Call::Procedure { arguments: "[1]" },
            Call::Before { on: On::Create, document: Some("{}") },
            Call::Before { on: On::Delete, document: None },
            Call::After { on: On::Upsert, document: Some("{}"), written: Some("{\"é\":1}") },
            Call::After { on: On::Replace, document: None, written: None },
        ];
        let run = |call| Run {
            body: "function () {}",
            call,
            name: "s",
            self_link: "dbs/a",
            alt_link: "dbs/b",
            values: "{}",
            now_ms: 1,
            seed: u64::MAX,
            limits: Limits::default(),
            elapsed_ms: 3,
        };
        let mut all: Vec<_> = calls.into_iter().map(|call| Request::Run(Box::new(run(call)))).collect();
        let answer =
            Answer { json: Some("{}".to_owned()), continuation: Some("next".to_owned()), held_bytes: 7 };
        all.extend([
            Request::Answer(Ok(answer)),
            Request::Answer(Ok(Answer::default())),
            Request::Answer(Err(Refusal { number: 404, message: "gone".to_owned() })),
            Request::Begin { now_ms: 1, seed: 2 },
            Request::Define { name: "f", body: "x => x" },
            Request::Invoke { name: "f", args: vec![None, Some("1"), Some("\"é\"")] },
            Request::End,
        ]);
        all
    }

    fn replies() -> Vec<Reply<'static>> {
        let options = WriteOptions { etag: Some("t"), index_action: None };
        let (id, rid) = (Document::Id("a"), Document::Rid("b=="));
        let operations = [
            Operation::Create { body: "{}", options },
            Operation::Upsert { body: "{}", options: WriteOptions::default() },
            Operation::Read { document: rid },
            Operation::Replace { document: id, body: "{}", options },
            Operation::Delete { document: rid, options },
            Operation::Query { question: "q", items_max: Some(3), continuation: None },
            Operation::Query { question: "q", items_max: None, continuation: Some("c") },
        ];
        let (message, stack) = ("m".to_owned(), "at f".to_owned());
        let errors = [
            ScriptError::Compile { message: message.clone(), stack: stack.clone() },
            ScriptError::Thrown { message: message.clone(), stack: stack.clone(), number: Some(404) },
            ScriptError::Thrown { message, stack, number: None },
            ScriptError::TooLong { millis_max: 5 },
            ScriptError::OutOfMemory { bytes_max: 6 },
            ScriptError::OutputTooLarge { bytes: 7, bytes_max: 8 },
            ScriptError::Broken("why".to_owned()),
        ];
        let mut all: Vec<_> = operations.into_iter().map(Reply::Perform).collect();
        for error in errors {
            all.push(Reply::Ended(Err(Failed { error: error.clone(), log: "l".to_owned() })));
            all.push(Reply::Defined(Err(error.clone())));
            all.push(Reply::Value(Err(error)));
        }
        all.push(Reply::Ended(Ok(Ended { body: Some("1".to_owned()), log: String::new() })));
        all.extend([Reply::Defined(Ok(())), Reply::Value(Ok(None)), Reply::Value(Ok(Some("1".to_owned())))]);
        all
    }

    #[test]
    fn messages_survive_a_round_trip() {
        for request in requests() {
            assert_eq!(Request::decode(&request.encode()), Ok(request));
        }
        for reply in replies() {
            assert_eq!(Reply::decode(&reply.encode()), Ok(reply));
        }
    }

    #[test]
    fn truncated_or_extended_bytes_are_refused() {
        for reply in replies() {
            let mut bytes = reply.encode();
            for length in 0..bytes.len() {
                assert_eq!(Reply::decode(&bytes[..length]), Err(Malformed), "{length} of {reply:?}");
            }
            bytes.push(0);
            assert_eq!(Reply::decode(&bytes), Err(Malformed));
        }
    }

    #[test]
    fn mutated_bytes_do_not_panic() {
        for reply in replies() {
            let bytes = reply.encode();
            for at in 0..bytes.len() {
                for flip in [1, 0x80, 0xff] {
                    let mut changed = bytes.clone();
                    changed[at] ^= flip;
                    let _ = Reply::decode(&changed);
                }
            }
        }
    }
}
