// optimization_barrier_op_test: within 0.0001, within 0.0001
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %2:2 = "stablehlo.optimization_barrier"(%0, %1) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %3 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    "func.return"(%2#0, %2#1, %3, %4) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> ()
  }) : () -> ()
}) : () -> ()
