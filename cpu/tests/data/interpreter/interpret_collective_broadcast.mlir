// cross_replica: equal, equal, equal, equal
"builtin.module"() <{sym_name = "cross_replica"}> ({
  "func.func"() <{function_type = (tensor<1x2xi64>) -> tensor<1x2xi64>, sym_name = "collective_broadcast"}> ({
  ^bb0(%arg0: tensor<1x2xi64>):
    %9 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>}> : (tensor<1x2xi64>) -> tensor<1x2xi64>
    "func.return"(%9) : (tensor<1x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %4:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_broadcast], [@collective_broadcast], [@collective_broadcast], [@collective_broadcast]]} : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %6 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %7 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    "func.return"(%4#0, %4#1, %4#2, %4#3, %5, %6, %7, %8) : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// cross_replica_multiple_output: equal, equal, equal, equal
"builtin.module"() <{sym_name = "cross_replica_multiple_output"}> ({
  "func.func"() <{function_type = (tensor<1x2xi64>) -> tensor<1x2xi64>, sym_name = "collective_broadcast"}> ({
  ^bb0(%arg0: tensor<1x2xi64>):
    %9 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, replica_groups = dense<[[2, 1, 0]]> : tensor<1x3xi64>}> : (tensor<1x2xi64>) -> tensor<1x2xi64>
    "func.return"(%9) : (tensor<1x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %4:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_broadcast], [@collective_broadcast], [@collective_broadcast], [@collective_broadcast]]} : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
    %5 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %6 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %7 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    "func.return"(%4#0, %4#1, %4#2, %4#3, %5, %6, %7, %8) : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// cross_replica_single_replica: equal, equal, equal, equal
"builtin.module"() <{sym_name = "cross_replica_single_replica"}> ({
  "func.func"() <{function_type = (tensor<1x2xi64>) -> tensor<1x2xi64>, sym_name = "collective_broadcast"}> ({
  ^bb0(%arg0: tensor<1x2xi64>):
    %9 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<1x2xi64>) -> tensor<1x2xi64>
    "func.return"(%9) : (tensor<1x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %4:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_broadcast, @collective_broadcast, @collective_broadcast, @collective_broadcast]]} : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
    %5 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %6 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %7 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %8 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    "func.return"(%4#0, %4#1, %4#2, %4#3, %5, %6, %7, %8) : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// cross_replica_multiple_partitions: equal, equal, equal, equal
"builtin.module"() <{sym_name = "cross_replica_multiple_partitions"}> ({
  "func.func"() <{function_type = (tensor<1x2xi64>) -> tensor<1x2xi64>, sym_name = "collective_broadcast"}> ({
  ^bb0(%arg0: tensor<1x2xi64>):
    %9 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<1x2xi64>) -> tensor<1x2xi64>
    "func.return"(%9) : (tensor<1x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %4:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_broadcast, @collective_broadcast], [@collective_broadcast, @collective_broadcast]]} : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
    %5 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %6 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %7 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %8 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    "func.return"(%4#0, %4#1, %4#2, %4#3, %5, %6, %7, %8) : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// cross_partition: equal, equal, equal, equal
"builtin.module"() <{sym_name = "cross_partition"}> ({
  "func.func"() <{function_type = (tensor<1x2xi64>) -> tensor<1x2xi64>, sym_name = "collective_broadcast"}> ({
  ^bb0(%arg0: tensor<1x2xi64>):
    %9 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[2, 1]]> : tensor<1x2xi64>}> : (tensor<1x2xi64>) -> tensor<1x2xi64>
    "func.return"(%9) : (tensor<1x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %4:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_broadcast, @collective_broadcast, @collective_broadcast, @collective_broadcast]]} : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %6 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %7 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    "func.return"(%4#0, %4#1, %4#2, %4#3, %5, %6, %7, %8) : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// cross_partition_multiple_output: equal, equal, equal, equal
"builtin.module"() <{sym_name = "cross_partition_multiple_output"}> ({
  "func.func"() <{function_type = (tensor<1x2xi64>) -> tensor<1x2xi64>, sym_name = "collective_broadcast"}> ({
  ^bb0(%arg0: tensor<1x2xi64>):
    %9 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[2, 1, 0]]> : tensor<1x3xi64>}> : (tensor<1x2xi64>) -> tensor<1x2xi64>
    "func.return"(%9) : (tensor<1x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %4:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_broadcast, @collective_broadcast, @collective_broadcast, @collective_broadcast]]} : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
    %5 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %6 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %7 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %8 = "stablehlo.constant"() <{value = dense<0> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    "func.return"(%4#0, %4#1, %4#2, %4#3, %5, %6, %7, %8) : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// cross_partition_single_partition: equal, equal, equal, equal
"builtin.module"() <{sym_name = "cross_partition_single_partition"}> ({
  "func.func"() <{function_type = (tensor<1x2xi64>) -> tensor<1x2xi64>, sym_name = "collective_broadcast"}> ({
  ^bb0(%arg0: tensor<1x2xi64>):
    %9 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<1x2xi64>) -> tensor<1x2xi64>
    "func.return"(%9) : (tensor<1x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %4:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_broadcast], [@collective_broadcast], [@collective_broadcast], [@collective_broadcast]]} : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
    %5 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %6 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %7 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %8 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    "func.return"(%4#0, %4#1, %4#2, %4#3, %5, %6, %7, %8) : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// cross_partition_multiple_replicas: equal, equal, equal, equal
"builtin.module"() <{sym_name = "cross_partition_multiple_replicas"}> ({
  "func.func"() <{function_type = (tensor<1x2xi64>) -> tensor<1x2xi64>, sym_name = "collective_broadcast"}> ({
  ^bb0(%arg0: tensor<1x2xi64>):
    %9 = "stablehlo.collective_broadcast"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<1x2xi64>) -> tensor<1x2xi64>
    "func.return"(%9) : (tensor<1x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %4:4 = "interpreter.run_parallel"(%0, %1, %2, %3) {programs = [[@collective_broadcast, @collective_broadcast], [@collective_broadcast, @collective_broadcast]]} : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
    %5 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %6 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %7 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %8 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    "func.return"(%4#0, %4#1, %4#2, %4#3, %5, %6, %7, %8) : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// has_dynamic_root: equal, equal
"builtin.module"() <{sym_name = "has_dynamic_root"}> ({
  "func.func"() <{function_type = (tensor<1x2xi64>, tensor<1xi32>) -> tensor<1x2xi64>, sym_name = "collective_broadcast"}> ({
  ^bb0(%arg0: tensor<1x2xi64>, %arg1: tensor<1xi32>):
    %6 = "stablehlo.collective_broadcast"(%arg0, %arg1) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1x2xi64>, tensor<1xi32>) -> tensor<1x2xi64>
    "func.return"(%6) : (tensor<1x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<1> : tensor<1xi32>}> : () -> tensor<1xi32>
    %3:2 = "interpreter.run_parallel"(%0, %2, %1, %2) {programs = [[@collective_broadcast], [@collective_broadcast]]} : (tensor<1x2xi64>, tensor<1xi32>, tensor<1x2xi64>, tensor<1xi32>) -> (tensor<1x2xi64>, tensor<1x2xi64>)
    %4 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %5 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    "func.return"(%3#0, %3#1, %4, %5) : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
// -----
// has_dynamic_root_variadic: equal, equal, equal, equal
"builtin.module"() <{sym_name = "has_dynamic_root_variadic"}> ({
  "func.func"() <{function_type = (tensor<1x2xi64>, tensor<1x2xi64>, tensor<2xi32>) -> (tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "collective_broadcast"}> ({
  ^bb0(%arg0: tensor<1x2xi64>, %arg1: tensor<1x2xi64>, %arg2: tensor<2xi32>):
    %10:2 = "stablehlo.collective_broadcast"(%arg0, %arg1, %arg2) <{has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<2xi32>) -> (tensor<1x2xi64>, tensor<1x2xi64>)
    "func.return"(%10#0, %10#1) : (tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>), sym_name = "main", sym_visibility = "public"}> ({
    %0 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %1 = "stablehlo.constant"() <{value = dense<[[5, 6]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %2 = "stablehlo.constant"() <{value = dense<[[3, 4]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %3 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %4 = "stablehlo.constant"() <{value = dense<[0, 1]> : tensor<2xi32>}> : () -> tensor<2xi32>
    %5:4 = "interpreter.run_parallel"(%0, %1, %4, %2, %3, %4) {programs = [[@collective_broadcast], [@collective_broadcast]]} : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<2xi32>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<2xi32>) -> (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>)
    %6 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %7 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %8 = "stablehlo.constant"() <{value = dense<[[1, 2]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    %9 = "stablehlo.constant"() <{value = dense<[[7, 8]]> : tensor<1x2xi64>}> : () -> tensor<1x2xi64>
    "func.return"(%5#0, %5#1, %5#2, %5#3, %6, %7, %8, %9) : (tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>, tensor<1x2xi64>) -> ()
  }) : () -> ()
}) : () -> ()
