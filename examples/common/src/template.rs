//! The chat template of a model: from messages to the text that the model continues.

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Value, context};
use ramie::data::readers::bpe::ByteLevelBpe;

/// A message of a chat.
pub struct Message {
    /// `system`, `user` or `assistant`.
    pub role: &'static str,
    /// Its text.
    pub content: String,
}

/// A Jinja template.
pub struct Template {
    environment: Environment<'static>,
    bos_token: String,
    eos_token: String,
}

/// Name of the template, without an extension that would escape HTML.
const NAME: &str = "chat";

/// The template of models without one: ChatML.
const CHAT_ML: &str = "{% for message in messages %}<|im_start|>{{ message.role }}\n\
                       {{ message.content }}<|im_end|>\n{% endfor %}<|im_start|>assistant{{ '\\n' }}";

impl Template {
    /// Parses a template, with the options and functions that `transformers` gives it.
    pub fn new(source: Option<&str>, tokenizer: &ByteLevelBpe) -> Result<Template, Error> {
        let mut environment = Environment::new();
        environment.set_syntax(
            SyntaxConfig::builder()
                .trim_blocks(true)
                .lstrip_blocks(true)
                .build()?,
        );
        environment.add_function(
            "raise_exception",
            |message: String| -> Result<String, Error> {
                Err(Error::new(ErrorKind::InvalidOperation, message))
            },
        );
        let source = source.unwrap_or(CHAT_ML).to_owned();
        environment.add_template_owned(NAME, source)?;
        let text =
            |token: Option<i32>| token.and_then(|t| tokenizer.text_of(t)).unwrap_or_default();
        Ok(Template {
            environment,
            bos_token: text(tokenizer.bos_token_id()),
            eos_token: text(tokenizer.eos_token_id()),
        })
    }

    /// Returns the text of the messages, up to the beginning of the next answer.
    pub fn render(&self, messages: &[Message]) -> Result<String, Error> {
        let message = |m: &Message| context! { role => m.role, content => m.content.clone() };
        let messages: Vec<Value> = messages.iter().map(message).collect();
        self.environment.get_template(NAME)?.render(context! {
            messages => messages,
            add_generation_prompt => true,
            bos_token => self.bos_token.clone(),
            eos_token => self.eos_token.clone(),
        })
    }
}
