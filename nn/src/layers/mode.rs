//! Modes of a call in the way of Linen: given to the module, or to the call.

/// What a mode is called where it is missing or given twice.
pub(crate) struct Mode {
    /// The class of the layer.
    pub class: &'static str,
    /// The hyperparameter.
    pub name: &'static str,
    /// How it is given to a call.
    pub call: &'static str,
    /// What it decides.
    pub decides: &'static str,
}

impl Mode {
    /// The mode that a module has, or a call gives (`merge_param`).
    ///
    /// # Panics
    /// If neither or both say it.
    #[track_caller]
    pub fn merged(&self, module: Option<bool>, call: Option<bool>) -> bool {
        let Mode {
            class,
            name,
            call: argument,
            decides,
        } = self;
        match (module, call) {
            (Some(mode), None) | (None, Some(mode)) => mode,
            (None, None) => panic!(
                "{class}: `{name}` was not given, which decides {decides}\n  help: give it to the \
                 module, {class}::new(..).{name}(!train), or to the call, {argument}"
            ),
            (Some(_), Some(_)) => panic!(
                "{class}: `{name}` was given to the module and to the call\n  help: leave it out of \
                 one of them"
            ),
        }
    }
}
