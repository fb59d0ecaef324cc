// distribution_ops: equal, equal
"builtin.module"() <{sym_name = "distribution_ops"}> ({
  "func.func"() <{function_type = () -> tensor<ui32>, sym_name = "partition_id"}> ({
    %3 = "stablehlo.partition_id"() : () -> tensor<ui32>
    "func.return"(%3) : (tensor<ui32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = () -> (tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>), sym_name = "main", sym_visibility = "public"}> ({
    %0:2 = "interpreter.run_parallel"() {programs = [[@partition_id, @partition_id]]} : () -> (tensor<ui32>, tensor<ui32>)
    %1 = "stablehlo.constant"() <{value = dense<0> : tensor<ui32>}> : () -> tensor<ui32>
    %2 = "stablehlo.constant"() <{value = dense<1> : tensor<ui32>}> : () -> tensor<ui32>
    "func.return"(%0#0, %0#1, %1, %2) : (tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>) -> ()
  }) : () -> ()
}) : () -> ()
