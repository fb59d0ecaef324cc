// main: equal
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<i64>) -> tensor<i64>, sym_name = "add_2"}> ({
  ^bb0(%arg0: tensor<i64>):
    %3 = "stablehlo.constant"() <{value = dense<2> : tensor<i64>}> : () -> tensor<i64>
    %4 = "stablehlo.add"(%arg0, %3) : (tensor<i64>, tensor<i64>) -> tensor<i64>
    "func.return"(%4) : (tensor<i64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<i64>, tensor<i64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<1> : tensor<i64>}> : () -> tensor<i64>
    %1 = "func.call"(%0) <{callee = @add_2}> : (tensor<i64>) -> tensor<i64>
    %2 = "stablehlo.constant"() <{value = dense<3> : tensor<i64>}> : () -> tensor<i64>
    "func.return"(%1, %2) : (tensor<i64>, tensor<i64>) -> ()
  }) : () -> ()
}) : () -> ()
