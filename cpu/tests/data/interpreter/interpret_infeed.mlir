// distribution_ops: equal, equal
"builtin.module"() <{sym_name = "distribution_ops"}> ({
  "func.func"() <{function_type = (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token, tensor<2x2xi64>, !stablehlo.token), sym_name = "infeed"}> ({
  ^bb0(%arg0: !stablehlo.token):
    %6:2 = "stablehlo.infeed"(%arg0) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
    %7:2 = "stablehlo.infeed"(%arg0) <{infeed_config = ""}> : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token)
    "func.return"(%6#0, %6#1, %7#0, %7#1) : (tensor<2x2xi64>, !stablehlo.token, tensor<2x2xi64>, !stablehlo.token) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> tensor<2x2xi64>, sym_name = "infeed_queue0"}> ({
    %5 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    "func.return"(%5) : (tensor<2x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> tensor<2x2xi64>, sym_name = "infeed_queue1"}> ({
    %4 = "stablehlo.constant"() <{value = dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    "func.return"(%4) : (tensor<2x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.after_all"() : () -> !stablehlo.token
    %1:4 = "interpreter.run_parallel"(%0) {infeed = [@infeed_queue0, @infeed_queue1], programs = [[@infeed]]} : (!stablehlo.token) -> (tensor<2x2xi64>, !stablehlo.token, tensor<2x2xi64>, !stablehlo.token)
    %2 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    "func.return"(%1#0, %1#2, %2, %3) : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
