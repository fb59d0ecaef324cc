//! Functions of the host, which programs call.

use crate::{buffer, elements, function};
use ramie_cpu::ElementType::*;
use ramie_cpu::text::Attribute;
use ramie_cpu::{HostCall, HostFunction, Options, Program};
use std::sync::{Arc, Mutex};

/// Returns options with the function `log`, which notes its `id` and first element, doubles its operand
/// and fails for numbers below zero.
fn logging(log: &Arc<Mutex<Vec<(i128, i32)>>>) -> Options {
    let log = log.clone();
    let function = HostFunction::new(move |call: HostCall<'_>| {
        let Some(Attribute::Integer(id)) = call.config.get("id") else {
            return Err("no id".into());
        };
        let (ty, bytes) = call.operands[0];
        assert_eq!(*ty, crate::ty(&[], I32));
        let value = i32::from_le_bytes(bytes.try_into().unwrap());
        log.lock().unwrap().push((*id, value));
        for (_, result) in call.results {
            result.copy_from_slice(&(2 * value).to_le_bytes());
        }
        match value {
            0.. => Ok(()),
            _ => Err(format!("{value} is negative")),
        }
    });
    Options {
        hosts: [("log".to_owned(), function)].into(),
        ..Options::default()
    }
}

fn call(id: i32, effect: bool, operand: &str, result: &str) -> String {
    format!(
        "stablehlo.custom_call @log({operand}) {{api_version = 4 : i32, has_side_effect = {effect},
         backend_config = {{id = {id} : i64}}}} : (tensor<i32>) -> {result}"
    )
}

#[test]
fn calls_with_effects_happen_in_order_and_others_if_they_are_used() {
    let body = format!(
        "%a = {}\n {}\n %b = {}\n {}\n %c = stablehlo.add %a, %x : tensor<i32>\n return %c : tensor<i32>",
        call(1, false, "%x", "tensor<i32>"),
        call(2, true, "%a", "()"),
        call(3, false, "%x", "tensor<i32>"),
        call(4, true, "%x", "()"),
    );
    let text = function("(%x: tensor<i32>) -> tensor<i32>", &body);
    let log = Arc::default();
    let program = Program::compile_for(&text, &logging(&log)).unwrap();
    let run = |x: i32| program.run(&[&buffer(&[], I32, &[x])]);
    assert_eq!(elements::<i32>(&run(5).unwrap()[0]), [15]);
    let seen = std::mem::take(&mut *log.lock().unwrap());
    assert_eq!(seen, [(1, 5), (2, 10), (4, 5)]);
    assert_eq!(run(-1).unwrap_err().to_string(), "-1 is negative");
    assert_eq!(*log.lock().unwrap(), [(1, -1)]);
}

#[test]
fn loops_without_results_that_are_used_keep_their_effects() {
    let body = format!(
        "%0 = stablehlo.while(%i = %x) : tensor<i32>
         cond {{
           %zero = stablehlo.constant dense<0> : tensor<i32>
           %1 = stablehlo.compare GT, %i, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
           stablehlo.return %1 : tensor<i1>
         }} do {{
           {}
           %one = stablehlo.constant dense<1> : tensor<i32>
           %1 = stablehlo.subtract %i, %one : tensor<i32>
           stablehlo.return %1 : tensor<i32>
         }}
         return %x : tensor<i32>",
        call(7, true, "%i", "()")
    );
    let text = function("(%x: tensor<i32>) -> tensor<i32>", &body);
    let log = Arc::default();
    let program = Program::compile_for(&text, &logging(&log)).unwrap();
    program.run(&[&buffer(&[], I32, &[3i32])]).unwrap();
    assert_eq!(*log.lock().unwrap(), [(7, 3), (7, 2), (7, 1)]);
}
