//! Host functions as programs store them, with conversion of operands and results, for one
//! example and for batches.

use crate::{Array, Aval, Error, Result, client};
use ramie_pjrt::{BufferMut, BufferView, Callback, Device};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::Location;
use std::sync::Arc;

type Body = dyn Fn(&[Array]) -> Vec<Array> + Send + Sync;

/// A function from arrays to arrays on the host. Two are equal if they are clones of each other.
#[derive(Clone)]
pub(crate) struct HostFunction(Arc<Inner>);

struct Inner {
    /// The operation that calls it, for messages.
    operation: &'static str,
    /// Location at which the call was traced.
    location: &'static Location<'static>,
    body: Box<Body>,
}

/// One level of sequential batching: the size of the batch, and which operands have the batch
/// axis, which is their first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Level {
    /// Number of examples.
    pub size: usize,
    /// Whether each operand has the batch axis.
    pub mapped: Vec<bool>,
}

impl HostFunction {
    /// Creates a host function called at the caller's location.
    #[track_caller]
    pub fn new(
        operation: &'static str,
        body: impl Fn(&[Array]) -> Vec<Array> + Send + Sync + 'static,
    ) -> HostFunction {
        HostFunction(Arc::new(Inner {
            operation,
            location: Location::caller(),
            body: Box::new(body),
        }))
    }

    /// Calls the function with elements in host memory, once for each example of `levels`,
    /// outermost first. `results` contains the types of one call's results.
    pub fn call(
        &self,
        levels: &[Level],
        args: &[(Aval, &[u8])],
        results: &[Aval],
        device: Device,
    ) -> Result<Vec<Vec<u8>>, String> {
        let Some((level, inner)) = levels.split_first() else {
            return self.call_once(args, results, device);
        };
        let mut all: Vec<Vec<u8>> = vec![Vec::new(); results.len()];
        for i in 0..level.size {
            let example: Vec<(Aval, &[u8])> = args
                .iter()
                .zip(&level.mapped)
                .map(|((aval, bytes), mapped)| {
                    if !mapped {
                        return (*aval, *bytes);
                    }
                    let one = aval.with_shape(&aval.shape()[1..]);
                    let len = one.size_bytes();
                    (one, &bytes[i * len..(i + 1) * len])
                })
                .collect();
            let outs = self.call(inner, &example, results, device)?;
            for (all, out) in all.iter_mut().zip(outs) {
                all.extend(out);
            }
        }
        Ok(all)
    }

    fn call_once(
        &self,
        args: &[(Aval, &[u8])],
        results: &[Aval],
        device: Device,
    ) -> Result<Vec<Vec<u8>>, String> {
        let text = |e: Error| self.explain(&e.to_string());
        let arrays: Vec<Array> = args
            .iter()
            .map(|(aval, bytes)| client::put(bytes, *aval, device))
            .collect::<Result<_>>()
            .map_err(text)?;
        let outs = (self.0.body)(&arrays);
        if outs.len() != results.len() {
            return Err(self.explain(&format!(
                "the function returned {} arrays, but {} were expected",
                outs.len(),
                results.len()
            )));
        }
        outs.iter()
            .zip(results)
            .enumerate()
            .map(|(i, (out, expected))| {
                if out.aval().strong() != expected.strong() {
                    let message = self.explain(&format!(
                        "the function returned {} as array {i}, but {expected} was expected",
                        out.aval()
                    ));
                    return Err(message
                        + "\n  help: return an array of the shape and dtype passed as the result's");
                }
                out.try_to_bytes().map_err(text)
            })
            .collect()
    }

    /// Adds the operation and the location of its call to a message.
    fn explain(&self, message: &str) -> String {
        let Inner {
            operation,
            location,
            ..
        } = &*self.0;
        format!("{operation}: {message}\n  called at {location}")
    }

    /// Calls the function now, on this thread.
    pub fn run(
        &self,
        levels: &[Level],
        args: &[&Array],
        results: &[Aval],
        outs: &[Aval],
        device: Device,
    ) -> Result<Vec<Array>> {
        let bytes: Vec<Vec<u8>> = args
            .iter()
            .map(|a| a.try_to_bytes())
            .collect::<Result<_>>()?;
        let typed: Vec<(Aval, &[u8])> = args
            .iter()
            .zip(&bytes)
            .map(|(a, b)| (a.aval(), b.as_slice()))
            .collect();
        let given = Callback::enter(|| self.call(levels, &typed, results, device))
            .map_err(Error::Callback)?;
        given
            .iter()
            .zip(outs)
            .map(|(bytes, aval)| client::put(bytes, *aval, device))
            .collect()
    }

    /// Registers the function so that programs can call it. Results of a call beyond `results`
    /// are booleans that nothing reads, such as the state of ordered effects.
    pub fn register(
        &self,
        levels: Vec<Level>,
        ins: Vec<Aval>,
        results: Vec<Aval>,
    ) -> Result<Callback> {
        let function = self.clone();
        let body = move |args: &[BufferView<'_>], outs: &mut [BufferMut<'_>]| {
            let device = client::runtime()
                .map_err(|e| e.to_string())?
                .default_device();
            let typed: Vec<(Aval, &[u8])> = ins
                .iter()
                .zip(args)
                .map(|(aval, view)| (*aval, view.bytes))
                .collect();
            // The panic hook has already printed the panic to standard error.
            let call =
                std::panic::AssertUnwindSafe(|| function.call(&levels, &typed, &results, device));
            let given = std::panic::catch_unwind(call).unwrap_or_else(|panic| {
                Err(function.explain(&format!(
                    "panicked: {}",
                    ramie_base::panic::message(&*panic)
                )))
            })?;
            for (out, bytes) in outs.iter_mut().zip(&given) {
                out.bytes.copy_from_slice(bytes);
            }
            for unread in outs.iter_mut().skip(given.len()) {
                unread.bytes.fill(0);
            }
            Ok(())
        };
        Ok(Callback::new(*client::runtime()?.client(), body)?)
    }
}

impl PartialEq for HostFunction {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
impl Eq for HostFunction {}
impl Hash for HostFunction {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}
impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<function at {}>", self.0.location)
    }
}
