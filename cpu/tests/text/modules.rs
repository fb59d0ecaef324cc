//! Modules, functions and their attributes.

use crate::{parsed, recorded};
use ramie_cpu::text::{Attribute, Type};

#[test]
fn recorded_modules_are_read() {
    for (path, text) in recorded() {
        let module = parsed(&text);
        assert!(module.by_name.contains_key("main"), "{path:?}");
        assert_eq!(
            module.attributes.get("mhlo.num_replicas"),
            Some(&Attribute::Integer(1))
        );
    }
}

const PRETTY: &str = r#"
#loc = loc(unknown)
#sum = array<i64: 0>
!vector = tensor<4xf32>
module @jit_f attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  func.func public @main(%arg0: !vector {tf.aliasing_output = 0 : i32} loc("x"), %arg1: tensor<f32>) -> (!vector {jax.result_info = "r"}, tensor<f32>) attributes {a} {
    %0 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] {d = #sum} : (tensor<4xf32>, tensor<f32>) -> tensor<f32> loc(#loc1)
    %1:2 = call @pair(%0) : (tensor<f32>) -> (tensor<f32>, tensor<f32>) loc(callsite("f"("a.py":1:2) at #loc))
    return %arg0, %1#1 : tensor<4xf32>, tensor<f32> // A comment.
  } loc(#loc)
  func.func private @pair(%arg0: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
    func.return %arg0, %arg0 : tensor<f32>, tensor<f32>
  }
} loc(#loc)
#loc1 = loc(fused<"n">["a", "b"("c.py":1:2 to :3)])
"#;

#[test]
fn pretty_modules_have_their_parts() {
    let module = parsed(PRETTY);
    assert_eq!(module.name, "jit_f");
    assert_eq!(
        module.attributes.get("mhlo.num_partitions"),
        Some(&Attribute::Integer(2))
    );
    assert!(matches!(
        module.attributes.get("@mesh"),
        Some(Attribute::Structure { name, fields }) if name == "sdy.mesh"
            && fields.get("text") == Some(&Attribute::Text(r#"["x"=2, "y"=4]"#.into()))
    ));
    let main = &module.functions[module.by_name["main"]];
    assert_eq!((main.line, main.body.operations[1].line), (7, 9));
    assert_eq!(
        main.argument_attributes[0].get("tf.aliasing_output"),
        Some(&Attribute::Integer(0))
    );
    assert_eq!(
        main.result_attributes[0].get("jax.result_info"),
        Some(&Attribute::Text("r".into()))
    );
    assert_eq!(main.results.len(), 2);
    let reduce = &main.body.operations[0];
    assert_eq!(
        reduce.attributes.get("d"),
        Some(&Attribute::List(vec![Attribute::Integer(0)]))
    );
    let call = &main.body.operations[1];
    assert_eq!(main.body.operations[2].operands[1], call.results[1].0);
}

#[test]
fn generic_modules_have_the_same_parts() {
    let module = parsed(
        r#""builtin.module"() <{sym_name = "m"}> ({
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "mesh"}> : () -> ()
  "func.func"() <{arg_attrs = [{a = 1 : i32}], function_type = (tensor<f32>) -> tensor<f32>, res_attrs = [{b}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<f32>):
    "func.return"(%arg0) : (tensor<f32>) -> ()
  }) : () -> ()
}) {mhlo.num_replicas = 1 : i32} : () -> ()"#,
    );
    assert_eq!(module.name, "m");
    assert_eq!(
        module.attributes.get("mhlo.num_replicas"),
        Some(&Attribute::Integer(1))
    );
    assert!(module.attributes.get("@mesh").is_some());
    let main = &module.functions[module.by_name["main"]];
    assert!(matches!(main.results[..], [Type::Tensor(_)]));
    assert_eq!(
        main.argument_attributes[0].get("a"),
        Some(&Attribute::Integer(1))
    );
    assert_eq!(main.result_attributes[0].get("b"), Some(&Attribute::Unit));
}
