//! Modes of Linen layers, set on the module or passed to the call.

/// A mode, described for messages about missing or duplicate settings.
pub(crate) struct Mode {
    /// The class of the layer.
    pub class: &'static str,
    /// The name of the option.
    pub name: &'static str,
    /// The arguments of a call that passes the mode.
    pub call: &'static str,
    /// The effect of the mode.
    pub decides: &'static str,
}

impl Mode {
    /// Returns the mode from the module or from the call (`merge_param`).
    ///
    /// # Panics
    /// Panics if neither or both of them set the mode.
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
                "{class}: `{name}` is not set; it decides {decides}\n  help: set it on the \
                 module, {class}::new(..).{name}(!train), or in the call, {argument}"
            ),
            (Some(_), Some(_)) => panic!(
                "{class}: `{name}` is set both on the module and in the call\n  help: remove one \
                 of them"
            ),
        }
    }
}
