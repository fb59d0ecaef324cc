//! Lowering rules written in terms of other primitives.

use super::{Lowering, Value};
use crate::base::location::at_location;
use crate::program::trace::trace_to_jaxpr;
use crate::{Array, Aval};
use smallvec::SmallVec;

impl Lowering<'_> {
    /// Traces `f` at the types of `args` and emits a call of it as a separate function, so that a
    /// lowering rule can use other primitives.
    pub fn traced(
        &mut self,
        name: &str,
        args: &[Value],
        f: impl FnOnce(&[Array]) -> Vec<Array>,
    ) -> Vec<Value> {
        let ins: SmallVec<[Aval; 4]> = args.iter().map(|v| v.aval.strong()).collect();
        let trace = || trace_to_jaxpr(&ins, f);
        let program = match self.location {
            Some((location, scope)) => scope.within(|| at_location(location, trace)),
            None => trace(),
        };
        assert!(
            program.consts.is_empty(),
            "internal error: the lowering of `{name}` captured an array"
        );
        self.call(name, &program.jaxpr, args)
    }
}
