// cross_replica: equal, equal
"builtin.module"() <{sym_name = "cross_replica"}> ({
  "func.func"() <{function_type = (tensor<4xi64>) -> tensor<4xi64>, sym_name = "collective_reduce"}> ({
  ^bb0(%arg0: tensor<4xi64>):
    %5 = "stablehlo.collective_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
    ^bb0(%arg1: tensor<i64>, %arg2: tensor<i64>):
      %6 = "stablehlo.add"(%arg1, %arg2) : (tensor<i64>, tensor<i64>) -> tensor<i64>
      "stablehlo.return"(%6) : (tensor<i64>) -> ()
    }) : (tensor<4xi64>) -> tensor<4xi64>
    "func.return"(%5) : (tensor<4xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[1, 2, 3, 4]> : tensor<4xi64>}> : () -> tensor<4xi64>
    %1 = "stablehlo.constant"() <{value = dense<[5, 6, 7, 8]> : tensor<4xi64>}> : () -> tensor<4xi64>
    %2:2 = "interpreter.run_parallel"(%0, %1) {programs = [[@collective_reduce], [@collective_reduce]]} : (tensor<4xi64>, tensor<4xi64>) -> (tensor<4xi64>, tensor<4xi64>)
    %3 = "stablehlo.constant"() <{value = dense<[6, 8, 10, 12]> : tensor<4xi64>}> : () -> tensor<4xi64>
    %4 = "stablehlo.constant"() <{value = dense<0> : tensor<4xi64>}> : () -> tensor<4xi64>
    "func.return"(%2#0, %2#1, %3, %4) : (tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>) -> ()
  }) : () -> ()
}) : () -> ()
