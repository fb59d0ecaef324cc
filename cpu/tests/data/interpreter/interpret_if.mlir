// if_ops_true_branch: equal, equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %1:2 = "stablehlo.if"(%0) ({
      %5 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi64>}> : () -> tensor<2xi64>
      "stablehlo.return"(%5, %5) : (tensor<2xi64>, tensor<2xi64>) -> ()
    }, {
      %4 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<2xi64>
      "stablehlo.return"(%4, %4) : (tensor<2xi64>, tensor<2xi64>) -> ()
    }) : (tensor<i1>) -> (tensor<2xi64>, tensor<2xi64>)
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi64>}> : () -> tensor<2xi64>
    %3 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi64>}> : () -> tensor<2xi64>
    "func.return"(%1#0, %1#1, %2, %3) : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// if_ops_false_branch: equal, equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %1:2 = "stablehlo.if"(%0) ({
      %5 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi64>}> : () -> tensor<2xi64>
      "stablehlo.return"(%5, %5) : (tensor<2xi64>, tensor<2xi64>) -> ()
    }, {
      %4 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<2xi64>
      "stablehlo.return"(%4, %4) : (tensor<2xi64>, tensor<2xi64>) -> ()
    }) : (tensor<i1>) -> (tensor<2xi64>, tensor<2xi64>)
    %2 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<2xi64>
    %3 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<2xi64>
    "func.return"(%1#0, %1#1, %2, %3) : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
