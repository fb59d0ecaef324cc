// case_negative_index_default: equal, equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi64>}> : () -> tensor<2xi64>
    %2 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<2xi64>
    %3:2 = "stablehlo.case"(%0) ({
      "stablehlo.return"(%1, %1) : (tensor<2xi64>, tensor<2xi64>) -> ()
    }, {
      "stablehlo.return"(%2, %2) : (tensor<2xi64>, tensor<2xi64>) -> ()
    }) : (tensor<i32>) -> (tensor<2xi64>, tensor<2xi64>)
    %4 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<2xi64>
    %5 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<2xi64>
    "func.return"(%3#0, %3#1, %4, %5) : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// case_in_bound_index: equal, equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi64>}> : () -> tensor<2xi64>
    %2 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<2xi64>
    %3:2 = "stablehlo.case"(%0) ({
      "stablehlo.return"(%1, %1) : (tensor<2xi64>, tensor<2xi64>) -> ()
    }, {
      "stablehlo.return"(%2, %2) : (tensor<2xi64>, tensor<2xi64>) -> ()
    }) : (tensor<i32>) -> (tensor<2xi64>, tensor<2xi64>)
    %4 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi64>}> : () -> tensor<2xi64>
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi64>}> : () -> tensor<2xi64>
    "func.return"(%3#0, %3#1, %4, %5) : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// case_out_of_bound_index_default: equal, equal
"builtin.module"() ({
  "func.func"() <{function_type = () -> (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<2xi64>}> : () -> tensor<2xi64>
    %2 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<2xi64>
    %3:2 = "stablehlo.case"(%0) ({
      "stablehlo.return"(%1, %1) : (tensor<2xi64>, tensor<2xi64>) -> ()
    }, {
      "stablehlo.return"(%2, %2) : (tensor<2xi64>, tensor<2xi64>) -> ()
    }) : (tensor<i32>) -> (tensor<2xi64>, tensor<2xi64>)
    %4 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<2xi64>
    %5 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<2xi64>
    "func.return"(%3#0, %3#1, %4, %5) : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
