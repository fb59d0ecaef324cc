// cross_replica_with_self_loops: equal, equal, equal, equal, equal
"builtin.module"() <{sym_name = "cross_replica_with_self_loops"}> ({
  "func.func"() <{function_type = (tensor<2x2xi64>) -> tensor<2x2xi64>, sym_name = "collective_permute"}> ({
  ^bb0(%arg0: tensor<2x2xi64>):
    %11 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, source_target_pairs = dense<[[0, 1], [1, 2], [3, 3], [4, 4]]> : tensor<4x2xi64>}> : (tensor<2x2xi64>) -> tensor<2x2xi64>
    "func.return"(%11) : (tensor<2x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[9, 10], [11, 12]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[13, 14], [15, 16]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %4 = "stablehlo.constant"() <{value = dense<[[17, 18], [19, 20]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %5:5 = "interpreter.run_parallel"(%0, %1, %2, %3, %4) {programs = [[@collective_permute], [@collective_permute], [@collective_permute], [@collective_permute], [@collective_permute]]} : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>)
    %6 = "stablehlo.constant"() <{value = dense<0> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %7 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %8 = "stablehlo.constant"() <{value = dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %9 = "stablehlo.constant"() <{value = dense<[[13, 14], [15, 16]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %10 = "stablehlo.constant"() <{value = dense<[[17, 18], [19, 20]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    "func.return"(%5#0, %5#1, %5#2, %5#3, %5#4, %6, %7, %8, %9, %10) : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// cross_partition_with_self_loops: equal, equal, equal, equal, equal
"builtin.module"() <{sym_name = "cross_partition_with_self_loops"}> ({
  "func.func"() <{function_type = (tensor<2x2xi64>) -> tensor<2x2xi64>, sym_name = "collective_permute"}> ({
  ^bb0(%arg0: tensor<2x2xi64>):
    %11 = "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, source_target_pairs = dense<[[0, 1], [1, 2], [3, 3], [4, 4]]> : tensor<4x2xi64>}> : (tensor<2x2xi64>) -> tensor<2x2xi64>
    "func.return"(%11) : (tensor<2x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[9, 10], [11, 12]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[13, 14], [15, 16]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %4 = "stablehlo.constant"() <{value = dense<[[17, 18], [19, 20]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %5:5 = "interpreter.run_parallel"(%0, %1, %2, %3, %4) {programs = [[@collective_permute, @collective_permute, @collective_permute, @collective_permute, @collective_permute]]} : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>)
    %6 = "stablehlo.constant"() <{value = dense<0> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %7 = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %8 = "stablehlo.constant"() <{value = dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %9 = "stablehlo.constant"() <{value = dense<[[13, 14], [15, 16]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    %10 = "stablehlo.constant"() <{value = dense<[[17, 18], [19, 20]]> : tensor<2x2xi64>}> : () -> tensor<2x2xi64>
    "func.return"(%5#0, %5#1, %5#2, %5#3, %5#4, %6, %7, %8, %9, %10) : (tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>, tensor<2x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
